"""Special functions that are a few operators."""

from __future__ import annotations

import math

from ocl import _C
from ocl._C import ArgumentValueError, Tensor


def ndtr(input: Tensor) -> Tensor:
    """The share of the normal distribution below each element (torch.special.ndtr).

    Floating dtypes stay; integers give float32.
    """
    return 0.5 * _C.erfc(input * -math.sqrt(0.5))


def multigammaln(input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of dimension p (torch.special.multigammaln).

    Elements are not checked to be above (p - 1) / 2. Integers give float32.
    """
    if p < 1:
        raise ArgumentValueError("p has to be greater than or equal to 1")
    input = input if input.is_floating_point() else input.to(_C.float32)
    halves = _C.arange(p, dtype=input.dtype, device=input.device) / 2
    return _C.lgamma(input.unsqueeze(-1) - halves).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)
