"""Distributions of real numbers that the inverse of their cdf or the normal generator draws."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.distribution import Distribution
from ocl.distributions.draws import open_uniform
from ocl.distributions.exp_family import ExponentialFamily
from ocl.type_info import finfo

__all__ = ["Cauchy", "Exponential", "GeneralizedPareto", "Laplace", "Normal", "Uniform"]


class Normal(ExponentialFamily):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    Matches torch.distributions.Normal.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc, scale, validate_args=None):
        self._broadcast_parameters(validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale.square()

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * _C.randn(shape, dtype=self.loc.dtype, device=self.loc.device)

    def log_prob(self, value):
        standard = (self._checked(value) - self.loc) / self.scale
        return -0.5 * standard.square() - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value):
        return 0.5 * (1 + ((self._checked(value) - self.loc) / (self.scale * math.sqrt(2))).erf())

    def icdf(self, value):
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self):
        precision = 1 / self.scale.square()
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x, y):
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()


class Laplace(Distribution):
    """The distribution of two exponential halves around `loc`. Matches torch.distributions.Laplace."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._broadcast_parameters(validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        return 2 * self.scale.square()

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()):
        with no_grad():
            u = 2 * open_uniform(self._extended_shape(sample_shape), self.loc) - 1
            inside = u.abs().clamp(max=1 - finfo(u.dtype).eps / 2)
            standard = -u.sign() * (-inside).log1p()
        return self.loc + self.scale * standard

    def log_prob(self, value):
        return -(2 * self.scale).log() - (self._checked(value) - self.loc).abs() / self.scale

    def cdf(self, value):
        difference = self._checked(value) - self.loc
        return 0.5 - 0.5 * difference.sign() * (-difference.abs() / self.scale).expm1()

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self):
        return 1 + (2 * self.scale).log()


class Cauchy(Distribution):
    """The Cauchy distribution, which has no mean. Matches torch.distributions.Cauchy."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._broadcast_parameters(validate_args, loc=loc, scale=scale)

    @property
    def mean(self):
        return _C.full_like(self.loc, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return _C.full_like(self.loc, math.inf)

    def rsample(self, sample_shape=()):
        u = open_uniform(self._extended_shape(sample_shape), self.loc)
        return self.loc + self.scale * (math.pi * (u - 0.5)).tan()

    def log_prob(self, value):
        standard = (self._checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - standard.square().log1p()

    def cdf(self, value):
        return ((self._checked(value) - self.loc) / self.scale).arctan() / math.pi + 0.5

    def icdf(self, value):
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """The uniform distribution of [low, high). Matches torch.distributions.Uniform."""

    arg_constraints = {
        "low": constraints.dependent(is_discrete=False, event_dim=0),
        "high": constraints.dependent(is_discrete=False, event_dim=0),
    }
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self._broadcast_parameters(validate_args, low=low, high=high)
        if self._validate_args and not (self.low < self.high).all().item():
            raise ValueError("Uniform is not defined when low>= high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def mode(self):
        return math.nan * self.high

    @property
    def variance(self):
        return (self.high - self.low).square() / 12

    @property
    def stddev(self):
        return (self.high - self.low) / math.sqrt(12)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        u = _C.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        value = self._checked(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value):
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """The waiting time for an event of `rate`. Matches torch.distributions.Exponential."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        self._broadcast_parameters(validate_args, rate=rate)

    @property
    def mean(self):
        return 1 / self.rate

    stddev = mean

    @property
    def mode(self):
        return _C.zeros_like(self.rate)

    @property
    def variance(self):
        return 1 / self.rate.square()

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = _C.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_()
        return drawn / self.rate

    def log_prob(self, value):
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value):
        return -(-self.rate * self._checked(value)).expm1()

    def icdf(self, value):
        return -(-value).log1p() / self.rate

    def entropy(self):
        return 1 - self.rate.log()

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -(-x).log()


class GeneralizedPareto(Distribution):
    """The tail above `loc` that falls by a power, or ends where `concentration` is negative.

    Matches torch.distributions.GeneralizedPareto. Concentration 0 gives the exponential distribution.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self._broadcast_parameters(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = self.loc - self.scale / self.concentration.clamp(max=-finfo(self.loc.dtype).tiny)
        return constraints.interval(self.loc, _C.where(self.concentration < 0, end, math.inf))

    @property
    def mean(self):
        k = self.concentration
        return (self.loc + self.scale / (1 - k)).masked_fill(k >= 1, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        k = self.concentration
        return (self.scale.square() / ((1 - k).square() * (1 - 2 * k))).masked_fill(k >= 0.5, math.nan)

    def _power(self):
        """Where the concentration is 0 but for rounding, and the concentration with 1 there."""
        is_zero = self.concentration.abs() <= 1e-8
        return is_zero, self.concentration.masked_fill(is_zero, 1)

    def log_survival_function(self, value):
        """The logarithm of 1 - cdf."""
        standard = (self._checked(value) - self.loc) / self.scale
        is_zero, k = self._power()
        return _C.where(is_zero, -standard, -(k * standard).log1p() / k)

    def log_prob(self, value):
        standard = (self._checked(value) - self.loc) / self.scale
        is_zero, k = self._power()
        exponent = 1 / k + _C.ones_like(standard)
        falls = _C.where(exponent == 0, exponent, exponent * (k * standard).log1p())
        return -self.scale.log() - _C.where(is_zero, standard, falls)

    def log_cdf(self, value):
        """The logarithm of cdf."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value):
        return -self.log_survival_function(value).expm1()

    def icdf(self, value):
        log_rest = (-value).log1p()
        is_zero, k = self._power()
        return self.loc + self.scale * _C.where(is_zero, -log_rest, (-k * log_rest).expm1() / k)

    def rsample(self, sample_shape=()):
        return self.icdf(
            _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        )

    def entropy(self):
        return self.scale.log() + self.concentration + 1
