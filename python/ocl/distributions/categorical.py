"""Distributions over categories."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.counts import Binomial
from ocl.distributions.distribution import Distribution
from ocl.distributions.utils import broadcast_shapes, lazy_property, logits_to_probs, probs_to_logits
from ocl.type_info import finfo

__all__ = ["Categorical", "Multinomial", "OneHotCategorical", "OneHotCategoricalStraightThrough"]


class Categorical(Distribution):
    """0 to K - 1 as int64, with probabilities along the last dimension. Matches
    torch.distributions.Categorical.

    `probs` need not add up to 1; `logits` are unnormalized too.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self):
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """The probabilities, which add up to 1."""
        return logits_to_probs(self.logits)

    @property
    def _parameter(self):
        return vars(self)["probs" if "probs" in vars(self) else "logits"]

    @property
    def _num_events(self):
        return self._parameter.shape[-1]

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._parameter.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self):
        return _C.full(self.batch_shape, math.nan, dtype=self.probs.dtype, device=self.probs.device)

    variance = mean

    @property
    def mode(self):
        return self.probs.argmax(-1)

    @no_grad()
    def sample(self, sample_shape=()):
        sample_shape = tuple(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        count = math.prod(sample_shape)
        if count == 0 or rows.shape[0] == 0:
            return _C.zeros(self._extended_shape(sample_shape), dtype=_C.int64, device=rows.device)
        return _C.multinomial(rows, count, True).t().reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        value = self._checked(value).long()
        shape = broadcast_shapes(value.shape, self.batch_shape)
        logits = self.logits.expand((*shape, self._num_events))
        return logits.gather(-1, value.expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        count = self._num_events
        values = _C.arange(count, device=self._parameter.device).view((-1,) + (1,) * len(self.batch_shape))
        return values.expand((count, *self.batch_shape)) if expand else values


class _OfCategorical(Distribution):
    """A distribution whose parameters are those of the Categorical `_categorical`."""

    def __init__(self, categorical, validate_args):
        self._categorical = categorical
        super().__init__(categorical.batch_shape, categorical.param_shape[-1:], validate_args)

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

    @property
    def param_shape(self):
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    def _one_hot(self, categories):
        return _C.one_hot(categories, self.event_shape[0]).to(self._categorical._parameter.dtype)


class OneHotCategorical(_OfCategorical):
    """A category as a vector of zeros and a one. Matches torch.distributions.OneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(Categorical(probs, logits, validate_args), validate_args)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value):
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        return self._one_hot(self._categorical.enumerate_support(expand))


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A OneHotCategorical whose draws have the gradient of the probabilities.

    Matches torch.distributions.OneHotCategoricalStraightThrough.
    """

    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfCategorical):
    """How often each category comes in `total_count` draws. Matches torch.distributions.Multinomial."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(Categorical(probs, logits, validate_args), validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape=()):
        drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = _C.zeros(
            self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device
        )
        return counts.scatter_add(-1, drawn, _C.ones_like(drawn).to(counts.dtype))

    def log_prob(self, value):
        value = self._checked(value)
        logits = self.logits.masked_fill((value == 0) & (self.logits == -math.inf), 0)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self):
        n = self.total_count
        of_ways = self._each_count().log_prob(self._values()).exp() * (self._values() + 1).lgamma()
        return n * self._categorical.entropy() - math.lgamma(n + 1) + of_ways.sum((0, -1))

    def _each_count(self):
        return Binomial(self.total_count, self.probs, validate_args=False)

    def _values(self):
        return self._each_count().enumerate_support(expand=False)[1:]
