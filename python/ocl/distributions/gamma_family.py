"""Distributions that are made of gamma numbers."""

import math

from ocl import _C
from ocl.distributions import constraints
from ocl.distributions.distribution import Distribution
from ocl.distributions.draws import log_gamma
from ocl.distributions.exp_family import ExponentialFamily
from ocl.distributions.utils import broadcast_all
from ocl.special.incomplete_gamma import gammainc
from ocl.type_info import finfo

__all__ = ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "StudentT"]


class Gamma(ExponentialFamily):
    """The gamma distribution of shape `concentration` and `rate`. Matches torch.distributions.Gamma.

    ``rsample`` has the gradients of implicit reparametrization, and ``cdf`` one by the concentration too.
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self._broadcast_parameters(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape=()):
        drawn = log_gamma(self.concentration, self._extended_shape(sample_shape)).exp() / self.rate
        return drawn.clamp(min=finfo(drawn.dtype).tiny)

    def log_prob(self, value):
        a, value = self.concentration, self._checked(value)
        powers = _C.xlogy(a, self.rate) + _C.xlogy(a - 1, value)
        return powers - self.rate * value - a.lgamma()

    def cdf(self, value):
        a, scaled = broadcast_all(self.concentration, self.rate * self._checked(value))
        return gammainc(a, scaled)

    def entropy(self):
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return (x + 1).lgamma() - (x + 1) * (-y).log()


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers. Matches torch.distributions.Chi2."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        (df,) = broadcast_all(df)
        self.df = df
        super().__init__(0.5 * df, 0.5, validate_args)

    def _expand_parts(self, old, batch_shape):
        self.concentration = old.concentration.expand(batch_shape)
        self.rate = old.rate.expand(batch_shape)


class Dirichlet(ExponentialFamily):
    """Probabilities with the density of product(p ** (concentration - 1)). Matches
    torch.distributions.Dirichlet.

    A draw is the softmax of the logarithms of gamma numbers, which small concentrations do not make
    underflow; its
    gradients are theirs. They differ from PyTorch's for one draw and agree in the mean.
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0)
        # Below 1 the density is infinite in every corner. PyTorch's mode is the first one.
        first = (_C.arange(above.shape[-1], device=above.device) == 0).to(above.dtype)
        at_corner = (self.concentration < 1).all(-1, keepdim=True)
        return _C.where(at_corner, first, above / above.sum(-1, keepdim=True))

    @property
    def variance(self):
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))

    def rsample(self, sample_shape=()):
        return log_gamma(self.concentration, self._extended_shape(sample_shape)).softmax(-1)

    def log_prob(self, value):
        powers = _C.xlogy(self.concentration - 1, self._checked(value)).sum(-1)
        return powers - self._log_normalizer(self.concentration)

    def entropy(self):
        a, total = self.concentration, self.concentration.sum(-1)
        means = (total - a.shape[-1]) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)
        return self._log_normalizer(a) + means

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """The first of two Dirichlet probabilities. Matches torch.distributions.Beta."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration1, concentration0, validate_args=None):
        pair = _C.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(pair.shape[:-1], validate_args=validate_args)

    def _expand_parts(self, old, batch_shape):
        self._dirichlet = old._dirichlet.expand(batch_shape)

    @property
    def concentration1(self):
        """The exponent of the value, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        """The exponent of 1 - value, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value):
        value = self._checked(value)
        return self._dirichlet.log_prob(_C.stack([value, 1 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom. Matches torch.distributions.StudentT."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self._broadcast_parameters(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self):
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        finite = self.scale.square() * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        normal = _C.randn(shape, dtype=self.df.dtype, device=self.df.device)
        log_chi2 = log_gamma(0.5 * self.df, shape) + math.log(2)
        return self.loc + self.scale * normal * (0.5 * (self.df.log() - log_chi2)).exp()

    def _log_normalizer(self):
        half = 0.5 * self.df
        return 0.5 * (math.pi * self.df).log() + half.lgamma() - (half + 0.5).lgamma()

    def log_prob(self, value):
        standard = (self._checked(value) - self.loc) / self.scale
        powers = -0.5 * (self.df + 1) * (standard.square() / self.df).log1p()
        return powers - self.scale.log() - self._log_normalizer()

    def entropy(self):
        half = 0.5 * self.df
        means = (half + 0.5) * ((half + 0.5).digamma() - half.digamma())
        return self.scale.log() + means + self._log_normalizer()


class FisherSnedecor(Distribution):
    """The ratio of two mean squares of `df1` and `df2` normal numbers.

    Matches torch.distributions.FisherSnedecor.
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self._broadcast_parameters(validate_args, df1=df1, df2=df2)

    @property
    def mean(self):
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self):
        df1, df2 = self.df1, self.df2
        variance = 2 * df2.square() * (df1 + df2 - 2) / (df1 * (df2 - 2).square() * (df2 - 4))
        return variance.masked_fill(df2 <= 4, math.nan)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        logs = log_gamma(0.5 * self.df1, shape) - log_gamma(0.5 * self.df2, shape)
        return (logs + self.df2.log() - self.df1.log()).exp().clamp(min=finfo(logs.dtype).tiny)

    def log_prob(self, value):
        half1, half2, value = 0.5 * self.df1, 0.5 * self.df2, self._checked(value)
        ratio = self.df1 / self.df2
        constants = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma() + half1 * ratio.log()
        return constants + (half1 - 1) * value.log() - (half1 + half2) * (ratio * value).log1p()


def _sample_dirichlet(input: _C.Tensor, generator: _C.Generator | None = None) -> _C.Tensor:
    """Draws for each row of concentrations numbers that sum to 1. NotImplementedError for a generator.
    (torch._sample_dirichlet)
    """
    if generator is not None:
        raise NotImplementedError(
            "_sample_dirichlet: draws from the devices' stream alone; generator must be None"
        )
    return log_gamma(input.detach(), input.shape).softmax(-1)
