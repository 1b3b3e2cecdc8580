"""Distributions of yes or no, of counts, and the continuous Bernoulli distribution."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints, draws
from ocl.distributions.distribution import Distribution
from ocl.distributions.exp_family import ExponentialFamily
from ocl.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)

__all__ = [
    "Bernoulli",
    "Binomial",
    "ContinuousBernoulli",
    "Geometric",
    "NegativeBinomial",
    "Poisson",
    "ProbsOrLogits",
]


class ProbsOrLogits(Distribution):
    """The part of distributions that take either `probs` or `logits` of yes; the other follows on demand."""

    def _take(self, probs, logits, validate_args, **others):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = {"logits": logits} if probs is None else {"probs": probs}
        self._broadcast_parameters(validate_args, **given, **others)

    @lazy_property
    def logits(self):
        """log(probs / (1 - probs))"""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability of yes."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _parameter(self):
        return vars(self)["probs" if "probs" in vars(self) else "logits"]

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._parameter.shape


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with the probability `probs`, else 0. Matches torch.distributions.Bernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits, validate_args)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape=()):
        return _C.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -_C.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return _C.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        return _enumerated(self, 2, self._parameter, expand)

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return _C.softplus(x)


def _enumerated(distribution, count, like, expand):
    """0 to count - 1 along a new first dimension, with the dtype of `like`."""
    values = _C.arange(count, dtype=like.dtype, device=like.device)
    values = values.view((-1,) + (1,) * len(distribution.batch_shape))
    return values.expand((count, *distribution.batch_shape)) if expand else values


class Geometric(ProbsOrLogits):
    """The number of failures before the first success. Matches torch.distributions.Geometric."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all().item():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {self.probs.shape}) of "
                f"distribution "
                f"{self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self):
        return 1 / self.probs - 1

    @property
    def mode(self):
        return _C.zeros_like(self.probs)

    @property
    def variance(self):
        return (1 / self.probs - 1) / self.probs

    @no_grad()
    def sample(self, sample_shape=()):
        u = draws.open_uniform(self._extended_shape(sample_shape), self.probs)
        return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        value, probs = broadcast_all(self._checked(value), self.probs)
        failing = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-failing).log1p() + probs.log()

    def entropy(self):
        return _C.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Poisson(ExponentialFamily):
    """The number of events where `rate` are expected. Matches torch.distributions.Poisson."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self._broadcast_parameters(validate_args, rate=rate)

    @property
    def mean(self):
        return self.rate

    variance = mean

    @property
    def mode(self):
        return self.rate.floor()

    def sample(self, sample_shape=()):
        return draws.poisson(self.rate, self._extended_shape(sample_shape))

    def log_prob(self, value):
        rate, value = broadcast_all(self.rate, self._checked(value))
        return _C.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (self.rate.log(),)

    def _log_normalizer(self, x):
        return x.exp()


class Binomial(ProbsOrLogits):
    """The number of successes of `total_count` trials. Matches torch.distributions.Binomial."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self._take(probs, logits, validate_args, total_count=total_count)
        self.total_count = self.total_count.to(self._parameter.dtype)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        return draws.binomial(self.total_count, self.probs, self._extended_shape(sample_shape))

    def log_prob(self, value):
        value, n = self._checked(value), self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # n log(1 + exp(logits)), which does not overflow
        return ways + value * self.logits - n * _C.softplus(self.logits)

    def entropy(self):
        count = self._one_count("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(_enumerated(self, count + 1, self._parameter, False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = self._one_count("Inhomogeneous total count not supported by `enumerate_support`.")
        return _enumerated(self, count + 1, self._parameter, expand)

    def _one_count(self, message):
        count = int(self.total_count.max().item())
        if self.total_count.min().item() != count:
            raise NotImplementedError(message)
        return count


class NegativeBinomial(ProbsOrLogits):
    """The number of successes before `total_count` failures. Matches torch.distributions.NegativeBinomial."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self._take(probs, logits, validate_args, total_count=total_count)
        self.total_count = self.total_count.to(self._parameter.dtype)

    @property
    def mean(self):
        return self.total_count * self.logits.exp()

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self):
        return self.mean / (-self.logits).sigmoid()

    @no_grad()
    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        rate = (draws.log_gamma(self.total_count, shape) + self.logits).exp()
        return draws.poisson(rate.masked_fill(self.total_count == 0, 0), shape)

    def log_prob(self, value):
        value, n = self._checked(value), self.total_count
        powers = n * _C.logsigmoid(-self.logits) + value * _C.logsigmoid(self.logits)
        ways = (n + value).lgamma() - (value + 1).lgamma() - n.lgamma()
        return powers + ways.masked_fill(n + value == 0, 0)


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """The density of [0, 1] by probs**x * (1 - probs)**(1 - x). Matches
    torch.distributions.ContinuousBernoulli.

    Where `probs` lies within `lims`, a Taylor series around 1/2 replaces formulas that divide by zero there.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._lims = lims
        self._take(probs, logits, validate_args)
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _apart_from_half(self):
        """Where `probs` lies outside of `lims`, and `probs` with its lower limit elsewhere."""
        apart = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return apart, _C.where(apart, self.probs, _C.full_like(self.probs, self._lims[0]))

    def _cont_bern_log_norm(self):
        apart, probs = self._apart_from_half()
        low, high = probs.clamp(max=0.5), probs.clamp(min=0.5)
        below = (-2 * low).log1p()
        denominator = _C.where(probs <= 0.5, below, (2 * high - 1).log())
        formula = ((-probs).log1p() - probs.log()).abs().log() - denominator
        square = (self.probs - 0.5).square()
        return _C.where(apart, formula, math.log(2) + (4 / 3 + 104 / 45 * square) * square)

    @property
    def mean(self):
        apart, probs = self._apart_from_half()
        formula = probs / (2 * probs - 1) + 1 / ((-probs).log1p() - probs.log())
        x = self.probs - 0.5
        return _C.where(apart, formula, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self):
        apart, probs = self._apart_from_half()
        formula = probs * (probs - 1) / (1 - 2 * probs).square()
        formula = formula + 1 / ((-probs).log1p() - probs.log()).square()
        square = (self.probs - 0.5).square()
        return _C.where(apart, formula, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape=()):
        return self.icdf(draws.open_uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value):
        logits, value = broadcast_all(self.logits, self._checked(value))
        likelihood = -_C.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return likelihood + self._cont_bern_log_norm()

    def cdf(self, value):
        value = self._checked(value)
        apart, probs = self._apart_from_half()
        formula = (probs.pow(value) * (1 - probs).pow(1 - value) + probs - 1) / (2 * probs - 1)
        return _C.where(apart, formula, value).clamp(min=0, max=1)

    def icdf(self, value):
        apart, probs = self._apart_from_half()
        numerator = (-probs + value * (2 * probs - 1)).log1p() - (-probs).log1p()
        return _C.where(apart, numerator / (probs.log() - (-probs).log1p()), value)

    def entropy(self):
        log_no = (-self.probs).log1p()
        return self.mean * (log_no - self.probs.log()) - self._cont_bern_log_norm() - log_no

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        apart = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        safe = _C.where(apart, x, _C.full_like(x, self._lims[0] - 0.5))
        formula = safe.expm1().abs().log() - safe.abs().log()
        return _C.where(apart, formula, 0.5 * x + x.square() / 24 - x.square().square() / 2880)
