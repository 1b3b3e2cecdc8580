"""Random draws by the device's generator that no operator makes: gamma, Poisson, binomial and von Mises
numbers.

They are drawn by rejection, for all elements at once. After each round the host asks the device whether every
element
was accepted, so that these functions wait for the device.
"""

import math

from ocl import _C
from ocl._C import Tensor
from ocl.autograd import no_grad
from ocl.autograd.function import Function, once_differentiable
from ocl.special.incomplete_gamma import log_sample_slope
from ocl.type_info import finfo

__all__ = ["binomial", "log_gamma", "open_uniform", "poisson", "von_mises_angle"]

_FEW = 10.0  # Poisson and binomial numbers of at least this mean are drawn by rejection.


def open_uniform(shape, like, generator=None):
    """Uniform numbers of (0, 1), both ends apart, with dtype and device of `like`."""
    drawn = _C.rand(shape, generator=generator, dtype=like.dtype, device=like.device)
    return drawn.clamp(min=finfo(like.dtype).eps / 2)


def _accepted_of(propose):
    """Values of ``propose() -> (values, accepted)``, where each element is the first that was accepted."""
    values, done = propose()
    while not done.all().item():
        more, accepted = propose()
        values, done = _C.where(done, values, more), done | accepted
    return values


def _invalid(*tensors):
    """Where a parameter is NaN: nothing is ever accepted there, and the draw is NaN."""
    result = tensors[0] != tensors[0]
    for tensor in tensors[1:]:
        result = result | (tensor != tensor)
    return result


def _log_gamma_draw(concentration):
    """log of gamma numbers, by Marsaglia and Tsang's method; a + 1 and a power of a uniform number serve a <
    1.
    """
    small = concentration < 1
    d = _C.where(small, concentration + 1, concentration) - 1 / 3
    c = (9 * d).rsqrt()
    invalid = _invalid(concentration)

    def propose():
        normal = _C.randn(d.shape, dtype=d.dtype, device=d.device)
        base = 1 + c * normal
        log_v = 3 * base.clamp(min=1e-30).log()
        bound = 0.5 * normal * normal + d * (1 - log_v.exp() + log_v)
        return log_v, ((base > 0) & (open_uniform(d.shape, d).log() < bound)) | invalid

    log_v = _accepted_of(propose)
    boost = open_uniform(d.shape, d).log() / concentration
    return d.log() + log_v + _C.where(small, boost, _C.zeros_like(boost))


class _LogGamma(Function):
    """log of a standard gamma draw, with the gradient of implicit reparametrization."""

    @staticmethod
    def forward(ctx, concentration: Tensor) -> Tensor:
        drawn = _log_gamma_draw(concentration)
        ctx.save_for_backward(concentration, drawn)
        return drawn

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * log_sample_slope(*ctx.saved_tensors)


def log_gamma(concentration, shape):
    """The logarithms of standard gamma numbers, differentiable once by `concentration`, which expands to
    `shape`.

    The logarithm does not underflow where the number would. Matches the logarithm of torch._standard_gamma.
    """
    return _LogGamma.apply(concentration.expand(shape).contiguous())


@no_grad()
def poisson(rate, shape, generator=None):
    """Poisson numbers of `rate`, which expands to `shape`; the dtype is that of `rate`.

    Small rates count exponential gaps; Hörmann's transformed rejection (PTRS) serves the others.
    """
    rate = rate.expand(shape)
    invalid = _invalid(rate)
    few = rate < _FEW
    counted = _counted(_C.where(few, rate, _C.zeros_like(rate)), lambda _: _exponential(rate, generator))
    many = rate.clamp(min=_FEW)
    log_rate = many.log()
    b = 0.931 + 2.53 * many.sqrt()
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = (1.1239 + 1.1328 / (b - 3.4)).log()
    ceiling = 0.9277 - 3.6224 / (b - 2)

    def propose():
        u = open_uniform(shape, many, generator) - 0.5
        v = open_uniform(shape, many, generator)
        us = 0.5 - u.abs()
        k = ((2 * a / us + b) * u + many + 0.43).floor()
        left = v.log() + log_inverse_alpha - (a / (us * us) + b).log()
        right = k * log_rate - many - (k.clamp(min=0.0) + 1).lgamma()
        surely = (us >= 0.07) & (v <= ceiling)
        refused = (k < 0) | ((us < 0.013) & (v > us))
        return k, (surely | (~refused & (left <= right))) | invalid | few

    return _C.where(invalid, rate, _C.where(few, counted, _accepted_of(propose)))


def _exponential(like, generator):
    return _C.empty_like(like.contiguous()).exponential_(generator=generator)


def _counted(limit, gap):
    """How many gaps of random size come before `limit`: gap(count) draws the next ones."""
    count, place = _C.zeros_like(limit), gap(_C.zeros_like(limit))
    inside = place < limit
    while inside.any().item():
        count = count + inside.to(count.dtype)
        place = place + gap(count)
        inside = inside & (place < limit)
    return count


@no_grad()
def binomial(total_count, probs, shape, generator=None):
    """Binomial numbers; `total_count` and `probs` are tensors of one dtype that expand to `shape`.

    Few expected successes are counted by waiting times; Hörmann's transformed rejection (BTRS) serves the
    others.
    """
    n, probs = total_count.expand(shape), probs.expand(shape)
    invalid = _invalid(probs, n)
    p = _C.minimum(probs, 1 - probs)
    few = n * p < _FEW
    # Successes are counted by exponential gaps, each divided by the trials that are left (Devroye).
    limit = _C.where(few, -(-p).log1p(), _C.zeros_like(p))
    counted = _counted(limit, lambda count: _exponential(n, generator) / (n - count).clamp(min=0.0))
    many = _C.where(few, _C.full_like(n, 4 * _FEW), n)
    q = _C.where(few, _C.full_like(p, 0.5), p)
    spread = (many * q * (1 - q)).sqrt()
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    c = many * q + 0.5
    ceiling = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = ((many + 1) * q).floor()
    log_odds = (q / (1 - q)).log()
    height = (mode + 1).lgamma() + (many - mode + 1).lgamma()

    def propose():
        u = open_uniform(shape, q, generator) - 0.5
        v = open_uniform(shape, q, generator)
        us = 0.5 - u.abs()
        k = ((2 * a / us + b) * u + c).floor()
        inside = (k >= 0) & (k <= many)
        k_inside = _C.where(inside, k, mode)
        surely = (us >= 0.07) & (v <= ceiling)
        left = (v * alpha / (a / (us * us) + b)).log()
        right = (
            height - (k_inside + 1).lgamma() - (many - k_inside + 1).lgamma() + (k_inside - mode) * log_odds
        )
        return k_inside, (inside & (surely | (left <= right))) | invalid | few

    successes = _C.where(few, counted, _accepted_of(propose))
    return _C.where(invalid, probs + n, _C.where(probs > 0.5, n - successes, successes))


@no_grad()
def von_mises_angle(concentration, shape):
    """Angles of (-pi, pi) around 0 with that concentration, by Best and Fisher's method."""
    k = concentration.expand(shape)
    invalid = _invalid(k)
    root = 1 + (1 + 4 * k * k).sqrt()
    rho = (root - (2 * root).sqrt()) / (2 * k)
    # For small concentrations the two roots cancel; there the proposal's bound is that of its series.
    r = _C.where(k < 1e-2, 1 / k + k, (1 + rho * rho) / (2 * rho))

    def propose():
        cosine = (math.pi * open_uniform(shape, k)).cos()
        f = (1 + r * cosine) / (r + cosine)
        c = k * (r - f)
        u = open_uniform(shape, k)
        angle = f.clamp(min=-1.0, max=1.0).acos() * (open_uniform(shape, k) - 0.5).sign()
        return angle, (c * (2 - c) - u > 0) | ((c / u).log() + 1 - c >= 0) | invalid

    return _C.where(invalid, k, _accepted_of(propose))
