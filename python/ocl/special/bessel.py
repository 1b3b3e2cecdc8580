"""Modified Bessel functions of the first kind, of the orders 0 and 1."""

from __future__ import annotations

import math

from ocl import _C
from ocl._C import Tensor
from ocl.autograd.function import Function
from ocl.special.chebyshev_tables import I0_FAR, I0_NEAR, I1_FAR, I1_NEAR
from ocl.special.evaluation import chebyshev, of_floats

__all__ = ["i0", "i0e", "i1", "i1e"]

_HUGE = 1e30  # Infinity would give NaN.


def _scaled(x: Tensor, near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Tensor:
    """exp(-|x|) I(x)."""
    magnitude = x.abs()
    inner, outer = magnitude.clamp(max=8.0), magnitude.clamp(min=8.0, max=_HUGE)
    by_near = chebyshev(near, inner / 4 - 1)
    by_far = chebyshev(far, 16 / outer - 1) / outer.sqrt()
    by_far = _C.where(magnitude == math.inf, _C.zeros_like(x), by_far)
    if odd:
        by_near, by_far = by_near * x, by_far * x.sign()
    return _C.where(magnitude <= 8, by_near, _C.where(x == x, by_far, x))


def _unscaled(x: Tensor, scaled: Tensor) -> Tensor:
    """I(x), whose exponential is taken in two steps: it overflows only where I(x) does."""
    half = (x.abs() / 2).exp()
    limit = _C.where(x > 0, math.inf, -math.inf).to(x.dtype)
    whole = scaled * half * half
    return _C.where(x.abs() == math.inf, limit, whole)


class _I0e(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _scaled(x, I0_NEAR, I0_FAR, odd=False)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (_I1e.apply(x) - x.sign() * _I0e.apply(x))


class _I1e(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _scaled(x, I1_NEAR, I1_FAR, odd=True)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (_I0e.apply(x) - _ratio(_I1e.apply(x), x) - x.sign() * _I1e.apply(x))


class _I0(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _unscaled(x, _scaled(x, I0_NEAR, I0_FAR, odd=False)).abs()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * _I1.apply(x)


class _I1(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _unscaled(x, _scaled(x, I1_NEAR, I1_FAR, odd=True))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (_I0.apply(x) - _ratio(_I1.apply(x), x))


def _ratio(values: Tensor, x: Tensor) -> Tensor:
    """I1(x) / x, scaled or not, which is 1/2 at 0."""
    safe = _C.where(_C.eq(x, 0), _C.ones_like(x), x)
    return _C.where(_C.eq(x, 0), 0.5, values / safe).to(x.dtype)


@of_floats
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of order 0; integers give float32. (torch.special.i0)"""
    return _I0.apply(input)


@of_floats
def i0e(input: Tensor) -> Tensor:
    """exp(-|x|) i0(x); integers give float32. (torch.special.i0e)"""
    return _I0e.apply(input)


@of_floats
def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of order 1; integers give float32. (torch.special.i1)"""
    return _I1.apply(input)


@of_floats
def i1e(input: Tensor) -> Tensor:
    """exp(-|x|) i1(x); integers give float32. (torch.special.i1e)"""
    return _I1e.apply(input)
