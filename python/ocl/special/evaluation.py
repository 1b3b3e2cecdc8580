"""Series, and the dtypes in which special functions compute."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = ["chebyshev", "of_floats"]


def chebyshev(coefficients: Sequence[float], y: Tensor) -> Tensor:
    """The series of Chebyshev polynomials of y in [-1, 1], the lowest degree first."""
    after, now = 0.0, _C.full_like(y, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        after, now = now, 2 * y * now - after + c
    return y * now - after + coefficients[0]


def of_floats(function: Callable) -> Callable:
    """`function`, which computes 16-bit numbers and integers in float32; 16-bit results have their dtype."""

    @functools.wraps(function)
    def computed(input: Tensor, *others: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{function.__name__}: expected a tensor for input, got {type(input).__name__}")
        if input.dtype in (_C.float32, _C.float64):
            return function(input, *others)
        result = function(input.to(_C.float32), *others)
        return result.to(input.dtype) if input.is_floating_point() else result

    return computed
