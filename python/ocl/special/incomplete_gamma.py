"""The regularized incomplete gamma functions P(a, x), the cdf of a standard gamma distribution, and Q(a, x).
Also the derivative of a sample by its concentration.

A series serves x < 1. Elsewhere the density is integrated from x to the nearer tail, by Gauss-Legendre
quadrature over
v = |log(t / x)|. On that side the integrand of the derivative does not change its sign, so that nothing
cancels.
"""

import functools
import math

from ocl import _C
from ocl._C import Tensor
from ocl.autograd.function import Function, once_differentiable
from ocl.late_numpy import np

__all__ = ["gammainc", "gammaincc", "log_sample_slope"]

_SERIES_TERMS = 16
_FAR = 1e30  # Infinity would give NaN.
_NEGLIGIBLE = 40.0  # The integral ends where the density is exp(-40) of that at x, below float64's epsilon.


def _exp_remainder(v):
    """exp(v) - 1 - v without cancellation near 0."""
    series = _C.full_like(v, 1 / math.factorial(20))
    for n in range(19, 1, -1):
        series = series * v + 1 / math.factorial(n)
    return _C.where(v.abs() < 1, series * v * v, v.expm1() - v)


def _log_ratio(a, x):
    """log(x / a), exact where both are close and large."""
    return ((x - a) / a).log1p()


def _log_minus_digamma(a, x):
    """log(x) - digamma(a); for large a by Stirling's series, where the two would cancel."""
    b = a.clamp(min=8.0)
    square = 1 / (b * b)
    tail = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return _C.where(a > 8.0, _log_ratio(b, x) + 0.5 / b + tail, x.log() - a.digamma())


def _log_density(a, x):
    """log(x**a * exp(-x) / Gamma(a)), the density by log(x); for large a by Stirling's series."""
    b = a.clamp(min=8.0)
    square = 1 / (b * b)
    stirling = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / b
    large = 0.5 * (b / (2 * math.pi)).log() - b * _exp_remainder(_log_ratio(b, x)) - stirling
    return _C.where(a > 8.0, large, a * x.log() - x - a.lgamma())


def _series(a, log_x):
    """P(a, x) / (x**a exp(-x) / Gamma(a + 1)) and d log(x) / d a at fixed P, for x < 1."""
    x = log_x.exp()
    term, total, slope = _C.ones_like(x), _C.zeros_like(x), _C.zeros_like(x)
    digamma = (a + 1).digamma()
    for n in range(1, _SERIES_TERMS + 1):
        total = total + term
        slope = slope + term * (log_x - digamma)
        digamma = digamma + 1 / (a + n)
        term = term * x / (a + n)
    return total, -slope / a


def _tail(a, x, with_slope):
    """The integral from x to the nearer tail, divided by the density by log(x), and whether that tail is the
    upper one.

    With `with_slope` the integrand has the factor log(t) - digamma(a).
    """
    difference = _log_minus_digamma(a, x)
    upper = difference > 0
    side = _C.where(upper, _C.ones_like(x), -_C.ones_like(x))
    drop = side * (x - a)  # the density falls like exp(-drop * v - x * remainder(side * v))
    end = _end_of_tail(drop, x, side)
    nodes, weights = (_C.tensor(part, dtype=x.dtype, device=x.device) for part in _quadrature())
    v = end.unsqueeze(-1) * nodes
    exponent = -drop.unsqueeze(-1) * v - x.unsqueeze(-1) * _exp_remainder(side.unsqueeze(-1) * v)
    values = exponent.exp()
    if with_slope:
        values = values * (difference.unsqueeze(-1) + side.unsqueeze(-1) * v)
    return end * (values * weights).sum(-1), upper


@functools.cache
def _quadrature():
    """Nodes and weights of Gauss and Legendre for the integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    return nodes / 2 + 0.5, weights / 2


def _end_of_tail(drop, x, side):
    """A v behind which the density is negligible, found by Newton's method from a bound of the quadratic
    part.
    """
    slope = drop.clamp(min=0.0)
    end = 2 * _NEGLIGIBLE / (slope + (slope * slope + 2 * _NEGLIGIBLE * x).sqrt())
    # The upper tail falls faster than its quadratic part, the lower one more slowly: a few steps reach it.
    for _ in range(4):
        w = side * end
        value = slope * end + x * _exp_remainder(w) - _NEGLIGIBLE
        end = (end - value / (slope + x * side * w.expm1())).clamp(min=0.0)
    return end


def log_sample_slope(a, log_x):
    """d log(x) / d a of a standard gamma sample x of concentration a, where P(a, x) stays fixed."""
    small = log_x < 0
    x = log_x.clamp(min=0.0).exp()
    integral, upper = _tail(a, x, with_slope=True)
    by_tail = _C.where(upper, integral, -integral)
    return _C.where(small, _series(a, log_x.clamp(max=0.0))[1], by_tail)


def _complement_by_series(a, x):
    """Q(a, x) for x < 1, without cancellation where a is small."""
    log_x = x.log()
    term, total = -x, -x / (a + 1)
    for n in range(2, _SERIES_TERMS + 1):
        term = term * -x / n
        total = total + term / (a + n)
    above = a + 1
    lost = a - (above - 1)  # what rounding took from a small a
    power = a * log_x - above.lgamma() + np.euler_gamma * lost
    return -power.expm1() - a * power.exp() * total


def _lower(a, x, inner, log_x):
    density = _log_density(a, inner).exp()
    integral, upper = _tail(a, inner, with_slope=False)
    by_tail = _C.where(upper, 1 - density * integral, density * integral)
    by_series = _series(a, log_x)[0] * (a * log_x - log_x.exp() - (a + 1).lgamma()).exp()
    return _C.where(x < 1, by_series, by_tail)


def _upper(a, x, inner, log_x):
    density = _log_density(a, inner).exp()
    integral, upper = _tail(a, inner, with_slope=False)
    by_tail = _C.where(upper, density * integral, 1 - density * integral)
    return _C.where(x < 1, _complement_by_series(a, log_x.exp()), by_tail)


def _slope(a, x):
    """dP / dx, differentiable by x."""
    return (_log_density(a, x) - x.log()).exp()


class _GammaInc(Function):
    """P(a, x), or Q(a, x) where `sign` is -1, with gradients of both arguments."""

    @staticmethod
    def forward(ctx, a: Tensor, x: Tensor, sign: int) -> Tensor:
        ctx.save_for_backward(a, x)
        ctx.sign = sign
        part = _lower if sign > 0 else _upper
        return part(a, x, x.clamp(min=1.0, max=_FAR), x.clamp(max=1.0).log())

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        a, x = ctx.saved_tensors
        slope = grad * ctx.sign * _slope(a, x)
        return -slope * x * log_sample_slope(a, x.log()), slope, None


class _GammaIncOfX(Function):
    """P(a, x) or Q(a, x) for a fixed `a`, differentiable by x as often as wanted."""

    @staticmethod
    def forward(ctx, a: Tensor, x: Tensor, sign: int) -> Tensor:
        return _GammaInc.forward(ctx, a, x, sign)

    @staticmethod
    def backward(ctx, grad):
        a, x = ctx.saved_tensors
        return None, grad * ctx.sign * _slope(a, x), None


def _incomplete(a, x, sign):
    return (_GammaInc if a.requires_grad else _GammaIncOfX).apply(a, x, sign)


def gammainc(a, x):
    """P(a, x) for x >= 0 and a > 0 of one shape.

    It is differentiable once by both arguments, or by x alone as often as wanted.

    Matches torch.special.gammainc, which has no gradient by a.
    """
    return _incomplete(a, x, 1)


def gammaincc(a, x):
    """Q(a, x) = 1 - P(a, x), as gammainc. Matches torch.special.gammaincc."""
    return _incomplete(a, x, -1)
