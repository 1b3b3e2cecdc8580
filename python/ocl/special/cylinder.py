"""Bessel functions of the first and the second kind, modified ones of the second kind, and Airy's
function."""

from __future__ import annotations

import math
from collections.abc import Callable

from ocl import _C
from ocl._C import Tensor
from ocl.autograd.function import Function
from ocl.special import bessel_tables as tables
from ocl.special.chebyshev_tables import I0_NEAR, I1_NEAR
from ocl.special.evaluation import chebyshev, of_floats

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
]

_HUGE = 1e18  # infinity would give NaN
_NEAR = {0: (tables.J0_NEAR, tables.Y0_NEAR), 1: (tables.J1_NEAR, tables.Y1_NEAR)}
_FAR = {0: (tables.P0, tables.Q0), 1: (tables.P1, tables.Q1)}


def _first_near(order: int, x: Tensor) -> Tensor:
    """J(x) for x from 0 to 8."""
    found = chebyshev(_NEAR[order][0], x * x / 32 - 1)
    return found * x if order else found


def _far(order: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """J(x) and Y(x) for x from 8 on."""
    y = 128 / (x * x) - 1
    p, q = chebyshev(_FAR[order][0], y), chebyshev(_FAR[order][1], y) / x
    sine, cosine = x.sin(), x.cos()
    # of x - pi / 4, or of x - 3 pi / 4, times sqrt(2)
    c, s = (cosine + sine, sine - cosine) if order == 0 else (sine - cosine, -(sine + cosine))
    scale = 1 / (x * math.pi).sqrt()
    return scale * (p * c - q * s), scale * (p * s + q * c)


def _first_kind(order: int, x: Tensor) -> Tensor:
    magnitude = x.abs()
    near = _first_near(order, magnitude.clamp(max=8.0))
    far, _ = _far(order, magnitude.clamp(min=8.0, max=_HUGE))
    found = _C.where(magnitude <= 8, near, _C.where(magnitude >= _HUGE, _C.zeros_like(x), far))
    return _C.where(x == x, found * x.sign() if order else found, x)


def _second_kind(order: int, x: Tensor) -> Tensor:
    small = x.clamp(min=float(_tiny(x)), max=8.0)
    near = chebyshev(_NEAR[order][1], small * small / 32 - 1)
    singular = small.log() * _first_near(order, small)
    if order:
        near, singular = near * small, singular - 1 / small
    near = near + singular * (2 / math.pi)
    _, far = _far(order, x.clamp(min=8.0, max=_HUGE))
    found = _C.where(x <= 8, near, _C.where(x >= _HUGE, _C.zeros_like(x), far))
    return _bounded(x, found, -math.inf)


def _tiny(x: Tensor) -> float:
    return 1e-300 if x.dtype == _C.float64 else 1e-37


def _bounded(x: Tensor, found: Tensor, at_zero: float) -> Tensor:
    """The values found for positive x, the limit at 0, and NaN below."""
    found = _C.where(_C.eq(x, 0), _C.full_like(x, at_zero), found)
    return _C.where(x >= 0, found, _C.full_like(x, math.nan))


def _scaled_k(order: int, x: Tensor) -> Tensor:
    """exp(x) K(x)."""
    small, large = x.clamp(min=float(_tiny(x)), max=2.0), x.clamp(min=2.0, max=_HUGE)
    by_small = small / 4 - 1
    half = (small / 2).log()
    near = chebyshev(tables.K1_NEAR if order else tables.K0_NEAR, small * small / 2 - 1)
    grown = small.exp()
    if order:
        near = near / small + half * chebyshev(I1_NEAR, by_small) * small * grown
    else:
        near = near - half * chebyshev(I0_NEAR, by_small) * grown
    far = chebyshev(tables.K1_FAR if order else tables.K0_FAR, 4 / large - 1) / large.sqrt()
    far = _C.where(x == math.inf, _C.zeros_like(x), far)
    return _bounded(x, _C.where(x <= 2, near * grown, far), math.inf)


def _k(order: int, x: Tensor) -> Tensor:
    return _bounded(x, _scaled_k(order, x) * (-x.clamp(min=0.0, max=1e4)).exp(), math.inf)


def _airy(x: Tensor) -> Tensor:
    near = chebyshev(tables.AIRY_NEAR, (x.clamp(-4.0, 1.0) + 1.5) / 2.5)
    right = x.clamp(min=1.0, max=1e4)
    z = right * right.sqrt() * (2 / 3)
    root = right.sqrt().sqrt()
    by_right = chebyshev(tables.AIRY_RIGHT, (4 / 3) / z - 1) * (-z).exp() / (2 * math.sqrt(math.pi) * root)
    left = (-x).clamp(min=4.0, max=1e12)
    z = left * left.sqrt() * (2 / 3)
    y = 2 * (16 / 3) ** 2 / (z * z) - 1
    sine, cosine = z.sin(), z.cos()
    s, c = (sine + cosine) * math.sqrt(0.5), (cosine - sine) * math.sqrt(0.5)  # of z + pi / 4
    by_left = chebyshev(tables.AIRY_P, y) * s - chebyshev(tables.AIRY_Q, y) / z * c
    by_left = by_left / (math.sqrt(math.pi) * left.sqrt().sqrt())
    by_left = _C.where(x <= -1e12, _C.zeros_like(x), by_left)
    found = _C.where(x > 1, by_right, _C.where(x < -4, by_left, near))
    return _C.where(x == x, found, x)


def _sinc(x: Tensor) -> Tensor:
    safe = _C.where((x == 0) | (x.abs() == math.inf), _C.ones_like(x), x)
    found = _C.where(_C.eq(x, 0), _C.ones_like(x), safe.sin() / safe)
    return _C.where(x.abs() == math.inf, _C.zeros_like(x), found)


def _over(values: Tensor, x: Tensor, at_zero: float) -> Tensor:
    safe = _C.where(_C.eq(x, 0), _C.ones_like(x), x)
    return _C.where(_C.eq(x, 0), _C.full_like(x, at_zero), values / safe)


def _function(name: str, value: Callable, derivative: Callable) -> type[Function]:
    """A Function of one tensor; derivative(x, value at x)."""

    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return value(x)

    def backward(ctx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * derivative(x)

    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def _no_derivative(x: Tensor) -> Tensor:
    raise NotImplementedError("airy_ai: the derivative is not implemented, as in PyTorch")


_J0 = _function("_J0", lambda x: _first_kind(0, x), lambda x: -_J1.apply(x))
_J1 = _function("_J1", lambda x: _first_kind(1, x), lambda x: _J0.apply(x) - _over(_J1.apply(x), x, 0.5))
_Y0 = _function("_Y0", lambda x: _second_kind(0, x), lambda x: -_Y1.apply(x))
_Y1 = _function("_Y1", lambda x: _second_kind(1, x), lambda x: _Y0.apply(x) - _Y1.apply(x) / x)
_K0 = _function("_K0", lambda x: _k(0, x), lambda x: -_K1.apply(x))
_K1 = _function("_K1", lambda x: _k(1, x), lambda x: -_K0.apply(x) - _K1.apply(x) / x)
_ScaledK0 = _function(
    "_ScaledK0", lambda x: _scaled_k(0, x), lambda x: _ScaledK0.apply(x) - _ScaledK1.apply(x)
)
_ScaledK1 = _function(
    "_ScaledK1",
    lambda x: _scaled_k(1, x),
    lambda x: _ScaledK1.apply(x) * (1 - 1 / x) - _ScaledK0.apply(x),
)
_SphericalJ0 = _function("_SphericalJ0", _sinc, lambda x: _over(x.cos() - _SphericalJ0.apply(x), x, 0.0))
_Airy = _function("_Airy", _airy, _no_derivative)


@of_floats
def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 0; integers give float32. (torch.special.bessel_j0)"""
    return _J0.apply(input)


@of_floats
def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 1; integers give float32. (torch.special.bessel_j1)"""
    return _J1.apply(input)


@of_floats
def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 0; NaN below 0. (torch.special.bessel_y0)"""
    return _Y0.apply(input)


@of_floats
def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 1; NaN below 0. (torch.special.bessel_y1)"""
    return _Y1.apply(input)


@of_floats
def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 0. (torch.special.modified_bessel_k0)"""
    return _K0.apply(input)


@of_floats
def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 1. (torch.special.modified_bessel_k1)"""
    return _K1.apply(input)


@of_floats
def scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    """exp(x) modified_bessel_k0(x). (torch.special.scaled_modified_bessel_k0)"""
    return _ScaledK0.apply(x)


@of_floats
def scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    """exp(x) modified_bessel_k1(x). (torch.special.scaled_modified_bessel_k1)"""
    return _ScaledK1.apply(x)


@of_floats
def spherical_bessel_j0(x: Tensor) -> Tensor:
    """sin(x) / x, and 1 at 0. (torch.special.spherical_bessel_j0)"""
    return _SphericalJ0.apply(x)


@of_floats
def airy_ai(x: Tensor) -> Tensor:
    """Airy's function Ai; it has no derivative, as in PyTorch. (torch.special.airy_ai)"""
    return _Airy.apply(x)
