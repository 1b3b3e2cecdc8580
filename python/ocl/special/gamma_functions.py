"""Incomplete gamma functions and the zeta function, with all their edges."""

from __future__ import annotations

import math
from collections.abc import Callable

from ocl import _C
from ocl._C import Tensor
from ocl.arrangement import broadcast_tensors
from ocl.autograd.function import Function
from ocl.special import incomplete_gamma

__all__ = ["gammainc", "gammaincc", "igamma", "igammac", "zeta"]


def _operands(name: str, *given: Tensor | float) -> tuple[tuple[Tensor, ...], object]:
    """Tensors of one shape, in float32 or float64, and the dtype of the result."""
    like = next((x for x in given if isinstance(x, Tensor)), None)
    if like is None:
        kinds = " and ".join(type(x).__name__ for x in given)
        raise TypeError(f"{name}: expected a tensor among the arguments, got {kinds}")
    dtype = _C.result_type(*given)
    dtype = dtype if dtype.is_floating_point else _C.float32
    wide = dtype if dtype == _C.float64 else _C.float32
    tensors = [x if isinstance(x, Tensor) else _C.tensor(float(x), device=like.device) for x in given]
    return broadcast_tensors(*(x.to(wide) for x in tensors)), dtype


def _incomplete(name: str, function: Callable, at_zero: float, input: Tensor, other: Tensor) -> Tensor:
    (a, x), dtype = _operands(name, input, other)
    at_infinity = 1 - at_zero
    is_edge = (a <= 0) | (x <= 0) | (a == math.inf) | (x == math.inf) | (a != a) | (x != x)
    inner = function(_C.where(is_edge, 1.0, a), _C.where(is_edge, 1.0, x))
    edge = _C.full_like(x, math.nan)
    edge = _C.where((x == 0) & (a > 0), at_zero, edge)
    edge = _C.where(((x == math.inf) & (a < math.inf) & (a >= 0)) | ((a == 0) & (x > 0)), at_infinity, edge)
    edge = _C.where((a == math.inf) & (x >= 0) & (x < math.inf), at_zero, edge)
    return _C.where(is_edge, edge, inner).to(dtype)


def gammainc(input: Tensor, other: Tensor) -> Tensor:
    """The regularized lower incomplete gamma function P(input, other); the arguments broadcast.
    (torch.special.gammainc)

    Its gradient by `other` is differentiable. That by `input`, which PyTorch does not have, is not.
    """
    return _incomplete("gammainc", incomplete_gamma.gammainc, 0.0, input, other)


def gammaincc(input: Tensor, other: Tensor) -> Tensor:
    """The regularized upper incomplete gamma function Q(input, other), as gammainc.
    (torch.special.gammaincc)
    """
    return _incomplete("gammaincc", incomplete_gamma.gammaincc, 1.0, input, other)


igamma, igammac = gammainc, gammaincc

_TERMS = 10
# B(2k) / (2k)!
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
)


def _zeta_of_positive(s: Tensor, q: Tensor) -> Tensor:
    """The sum of (q + n) ** -s for s > 1 and q > 0, by Euler and Maclaurin's formula."""
    total = q.pow(-s)
    for n in range(1, _TERMS):
        total = total + (q + n).pow(-s)
    w = q + _TERMS
    power = w.pow(-s)
    total = total + power * w / (s - 1) + 0.5 * power
    factor, term = s, power / w
    for k, b in enumerate(_BERNOULLI):
        total = total + b * factor * term
        factor = factor * (s + (2 * k + 1)) * (s + (2 * k + 2))
        term = term / (w * w)
    return total


def _zeta(s: Tensor, q: Tensor) -> Tensor:
    is_plain = (s > 1) & (s < math.inf) & (q < math.inf)
    safe_s = _C.where(is_plain, s, 2.0)
    positive = _zeta_of_positive(safe_s, _C.where(is_plain & (q > 0), q, 1.0))
    # Below 0 the terms up to 0 are those of another series, backwards, with the sign of (-1) ** s.
    is_whole = _C.eq(s.floor(), s)
    distance = _C.where(is_plain & (q < 0) & is_whole, -q, 0.5)
    nearest = distance - distance.floor()  # exact: of the terms below 0, minus the one next to it
    nearest = _C.where(_C.eq(nearest, 0), 0.5, nearest)
    sign = _C.where(_C.eq(safe_s % 2, 0), 1.0, -1.0)
    both_sides = _zeta_of_positive(safe_s, 1 - nearest) + sign * _zeta_of_positive(safe_s, nearest)
    negative = both_sides - sign * _zeta_of_positive(safe_s, distance + 1)
    result = _C.where(q > 0, positive, negative)
    result = _C.where((q < 0) & ~is_whole, math.nan, result)
    result = _C.where(_C.eq(q, math.inf), math.nan, result)
    # The powers of an infinite s.
    powers = _C.where(q < 1, math.inf, _C.where(_C.eq(q, 1), 1.0, math.nan))
    result = _C.where(_C.eq(s, math.inf), powers, result)
    result = _C.where((s != s) | (q != q), math.nan, result)
    result = _C.where((q <= 0) & _C.eq(q.floor(), q), math.inf, result)
    result = _C.where(_C.eq(s, 1), math.inf, result)
    return _C.where(s < 1, math.nan, result).to(q.dtype)


class _Zeta(Function):
    @staticmethod
    def forward(ctx, s: Tensor, q: Tensor) -> Tensor:
        ctx.save_for_backward(s, q)
        return _zeta(s, q)

    @staticmethod
    def backward(ctx, grad):
        if ctx.needs_input_grad[0]:
            raise NotImplementedError("the derivative for 'zeta: input' is not implemented.")
        s, q = ctx.saved_tensors
        return None, grad * -s * _Zeta.apply(s + 1, q)


def zeta(input: Tensor | float, other: Tensor | float) -> Tensor:
    """The Hurwitz zeta function, the sum of (other + n) ** -input over n >= 0; the arguments broadcast.
    (torch.special.zeta)

    Differentiable with respect to `other`. Integers give float32. Left of 0 the terms of both signs cancel:
    there the error is relative to the largest of them.
    """
    (s, q), dtype = _operands("zeta", input, other)
    return _Zeta.apply(s, q).to(dtype)
