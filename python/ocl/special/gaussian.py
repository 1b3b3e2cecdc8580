"""Functions of the normal distribution's tails: erfcx, log_ndtr and ndtri."""

from __future__ import annotations

import math

from ocl import _C
from ocl._C import Tensor
from ocl.autograd.function import Function
from ocl.special.chebyshev_tables import ERFCX
from ocl.special.evaluation import chebyshev, of_floats

__all__ = ["erfcx", "log_ndtr", "ndtri"]

_ROOT_HALF = math.sqrt(0.5)
_FAR = 3.75  # where the variable of the series is 0
_SMALLEST = {_C.float32: 1e-38, _C.float64: 1e-307}
_HUGE = 1e30  # Infinity would give NaN.


class _Erfcx(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        magnitude = x.abs().clamp(max=_HUGE)
        series = chebyshev(ERFCX, (magnitude - _FAR) / (magnitude + _FAR))
        right = series / (1 + 2 * magnitude)
        right = _C.where(x == math.inf, _C.zeros_like(x), right)
        left = 2 * (x * x).exp() - right
        return _C.where(x < 0, left, _C.where(x == x, right, x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (2 * x * _Erfcx.apply(x) - 2 / math.sqrt(math.pi))


@of_floats
def erfcx(input: Tensor) -> Tensor:
    """exp(x^2) erfc(x), which does not underflow. (torch.special.erfcx)

    Floating dtypes stay; integers give float32.
    """
    return _Erfcx.apply(input)


def _log_ndtr(x: Tensor) -> Tensor:
    low = x.clamp(max=-1.0).clamp(min=-_HUGE)
    lower = (_Erfcx.apply(low * -_ROOT_HALF) / 2).log() - low * low / 2
    upper = (-0.5 * _C.erfc(x.clamp(min=-1.0) * _ROOT_HALF)).log1p()
    lower = _C.where(x == -math.inf, x, lower)
    result = _C.where(x < -1, lower, upper)
    return _C.where(x == x, result, x)


class _LogNdtr(Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _log_ndtr(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (math.sqrt(2 / math.pi) / _Erfcx.apply(x * -_ROOT_HALF))


@of_floats
def log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of ndtr, which does not underflow. (torch.special.log_ndtr)

    Floating dtypes stay; integers give float32.
    """
    return _LogNdtr.apply(input)


def _lower_quantile(p: Tensor) -> Tensor:
    """The quantile of p < 1/4: a rational approximation, and steps of Newton's method for its logarithm."""
    log_p = p.log()
    t = (-2 * log_p).sqrt()
    x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(3):  # from an error of 5e-4
        slope = math.sqrt(2 / math.pi) / _Erfcx.apply(x * -_ROOT_HALF)
        x = x - (_log_ndtr(x) - log_p) / slope
    return x


class _Ndtri(Function):
    @staticmethod
    def forward(ctx, p: Tensor) -> Tensor:
        tail = _C.minimum(p, 1 - p)
        far = _lower_quantile(tail.clamp(min=_SMALLEST[p.dtype], max=0.25))
        far = _C.where(p > 0.5, -far, far)
        x = _C.where(tail < 0.25, far, math.sqrt(2) * _C.erfinv(2 * p - 1))
        x = _C.where(_C.eq(p, 0), -math.inf, _C.where(_C.eq(p, 1), math.inf, x)).to(p.dtype)
        x = _C.where((p < 0) | (p > 1), math.nan, x).to(p.dtype)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (math.sqrt(2 * math.pi) * (x * x / 2).exp())


@of_floats
def ndtri(input: Tensor) -> Tensor:
    """The inverse of ndtr; NaN outside of [0, 1]. (torch.special.ndtri)

    Floating dtypes stay; integers give float32.
    """
    return _Ndtri.apply(input)
