"""Distributions that are simpler ones through transforms."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.categorical import Categorical
from ocl.distributions.continuous import Cauchy, Exponential, Normal, Uniform
from ocl.distributions.counts import ProbsOrLogits
from ocl.distributions.distribution import Distribution
from ocl.distributions.draws import open_uniform
from ocl.distributions.gamma_family import Gamma
from ocl.distributions.simple_transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
)
from ocl.distributions.transformed_distribution import TransformedDistribution
from ocl.distributions.utils import broadcast_all, clamp_probs

__all__ = [
    "ExpRelaxedCategorical",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "InverseGamma",
    "Kumaraswamy",
    "LogNormal",
    "LogisticNormal",
    "LogitRelaxedBernoulli",
    "Pareto",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "Weibull",
]

_EULER = 0.57721566490153286060


def _of_base(name, doc=None):
    """A property that is the base distribution's."""
    return property(lambda self: getattr(self.base_dist, name), doc=doc)


class LogNormal(TransformedDistribution):
    """exp of a normal number. Matches torch.distributions.LogNormal."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    loc, scale = _of_base("loc"), _of_base("scale")

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def mean(self):
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """The absolute value of a distribution that is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale = _of_base("scale")
    _base = None

    def __init__(self, scale, validate_args=None):
        super().__init__(self._base(0, scale, validate_args=False), AbsTransform(), validate_args)
        if self._validate_args and not (self.scale > 0).all().item():
            raise ValueError(
                f"Expected parameter scale of distribution {self!r} to satisfy the constraint "
                f"{constraints.positive!r}, but found invalid values:\n{self.scale}"
            )

    @property
    def mode(self):
        return _C.zeros_like(self.scale)

    def log_prob(self, value):
        value = self._checked(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return log_prob.masked_fill(value < 0, -math.inf)

    def cdf(self, value):
        return 2 * self.base_dist.cdf(self._checked(value)) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The absolute value of a normal number of mean 0. Matches torch.distributions.HalfNormal."""

    _base = Normal

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.square() * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy number around 0. Matches torch.distributions.HalfCauchy."""

    _base = Cauchy

    @property
    def mean(self):
        return _C.full_like(self.scale, math.inf)

    variance = _of_base("variance")


def _unit_uniform(like):
    """Uniform numbers of (0, 1), of the shape of a parameter; the ends are left out."""
    return _OpenUniform(_C.zeros_like(like), _C.ones_like(like), validate_args=False)


class _OpenUniform(Uniform):
    """Uniform(0, 1) whose draws are never 0, where transforms have no finite value."""

    def rsample(self, sample_shape=()):
        return open_uniform(self._extended_shape(sample_shape), self.low)


class Gumbel(TransformedDistribution):
    """The largest of many exponential numbers, shifted. Matches torch.distributions.Gumbel."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        # -log of an exponential number
        steps = [
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(Exponential(_C.ones_like(self.scale), validate_args=False), steps, validate_args)

    @property
    def mean(self):
        return self.loc + self.scale * _EULER

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self):
        return self.stddev.square()

    def log_prob(self, value):
        y = (self.loc - self._checked(value)) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value):
        return (-((self.loc - self._checked(value)) / self.scale).exp()).exp()

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self):
        return self.scale.log() + (1 + _EULER)


class Pareto(TransformedDistribution):
    """A power law above `scale`. Matches torch.distributions.Pareto."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        steps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args=False), steps, validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        return self.scale

    @property
    def variance(self):
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + 1 / self.alpha)


class Weibull(TransformedDistribution):
    """A power of an exponential number. Matches torch.distributions.Weibull."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        steps = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        base = Exponential(_C.ones_like(self.scale), validate_args=False)
        super().__init__(base, steps, validate_args)

    @property
    def mean(self):
        return self.scale * (1 + 1 / self.concentration).lgamma().exp()

    @property
    def mode(self):
        k = self.concentration
        return self.scale * ((k - 1) / k).pow(1 / k)

    @property
    def variance(self):
        first, second = (1 + 1 / self.concentration).lgamma(), (1 + 2 / self.concentration).lgamma()
        return self.scale.square() * (second.exp() - (2 * first).exp())

    def entropy(self):
        inverse = 1 / self.concentration
        return _EULER * (1 - inverse) + (self.scale * inverse).log() + 1


class Kumaraswamy(TransformedDistribution):
    """The cdf 1 - (1 - x**a)**b of (0, 1). Matches torch.distributions.Kumaraswamy."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        steps = [
            PowerTransform(1 / self.concentration0),
            AffineTransform(1.0, -1.0),
            PowerTransform(1 / self.concentration1),
        ]
        super().__init__(_unit_uniform(self.concentration1), steps, validate_args)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        beta = (1 + n / a).lgamma() + b.lgamma() - (1 + n / a + b).lgamma()
        return b * beta.exp()

    @property
    def mean(self):
        return self._moment(1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(1 / a)
        return mode.masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self):
        return self._moment(2) - self._moment(1).square()

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + _EULER
        return 1 - 1 / b + (1 - 1 / a) * harmonic - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    """1 / x of a gamma number. Matches torch.distributions.InverseGamma."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    concentration, rate = _of_base("concentration"), _of_base("rate")

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-_C.ones_like(base.rate)), validate_args)

    @property
    def mean(self):
        mean = self.rate / (self.concentration - 1)
        return mean.masked_fill(self.concentration <= 1, math.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        variance = self.rate.square() / ((a - 1).square() * (a - 2))
        return variance.masked_fill(a <= 2, math.inf)

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class LogisticNormal(TransformedDistribution):
    """Probabilities made of a normal vector by breaking a stick.

    Matches torch.distributions.LogisticNormal.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self):
        """The mean of the normal vector."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        """The standard deviation of the normal vector."""
        return self.base_dist.base_dist.scale


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The logit of a relaxed Bernoulli number. Matches torch.distributions.LogitRelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._take(probs, logits, validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(_C.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        difference = self.logits - self._checked(value) * self.temperature
        log_temperature = broadcast_all(self.temperature, difference)[0].log()
        return log_temperature + difference - 2 * _C.softplus(difference)


class RelaxedBernoulli(TransformedDistribution):
    """A number of (0, 1) near 0 or 1 at low temperatures. Matches torch.distributions.RelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    temperature, probs, logits = _of_base("temperature"), _of_base("probs"), _of_base("logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a relaxed one-hot vector. Matches torch.distributions.relaxed_categorical's class."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def _expand_parts(self, old, batch_shape):
        self._categorical = old._categorical.expand(batch_shape)

    @property
    def probs(self):
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self._categorical.logits

    def rsample(self, sample_shape=()):
        with no_grad():
            u = clamp_probs(open_uniform(self._extended_shape(sample_shape), self.logits))
            gumbel = -(-u.log()).log()
        return ((self.logits + gumbel) / self.temperature).log_softmax(-1)

    def log_prob(self, value):
        logits, value = broadcast_all(self.logits, self._checked(value))
        count = self.event_shape[0]
        log_temperature = broadcast_all(self.temperature, logits)[0][..., 0].log()
        score = (logits - value * self.temperature).log_softmax(-1).sum(-1)
        return score + (math.lgamma(count) + (count - 1) * log_temperature)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Probabilities near a one-hot vector at low temperatures.

    Matches torch.distributions.RelaxedOneHotCategorical.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    temperature, probs, logits = _of_base("temperature"), _of_base("probs"), _of_base("logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)
