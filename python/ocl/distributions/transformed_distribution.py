"""Distributions that are made of others: transformed, independent, and mixtures."""

from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.categorical import Categorical
from ocl.distributions.distribution import Distribution
from ocl.distributions.transform import ComposeTransform, Transform
from ocl.distributions.utils import broadcast_shapes, sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions of a distribution as event dimensions.

    Matches torch.distributions.Independent.
    """

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch_shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch_shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(batch_shape) - reinterpreted_batch_ndims
        super().__init__(batch_shape[:cut], batch_shape[cut:] + base_distribution.event_shape, validate_args)

    def _expand_parts(self, old, batch_shape):
        self.base_dist = old.base_dist.expand(batch_shape + old.event_shape[: old.reinterpreted_batch_ndims])

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        count = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, count) if count else self.base_dist.support

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand=True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """`base_distribution` through a transform or a list of them.

    Matches torch.distributions.TransformedDistribution.
    """

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(
            isinstance(t, Transform) for t in self.transforms
        ):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{transform.domain.event_dim}, but got {base_shape}."
            )
        shape = transform.forward_shape(base_shape)
        base_shape = transform.inverse_shape(shape)  # Parameters of transforms may have made it larger.
        base = base_distribution.expand(base_shape[: len(base_shape) - base_event_dim])
        reinterpreted = transform.domain.event_dim - base_event_dim
        self.base_dist = Independent(base, reinterpreted) if reinterpreted > 0 else base
        event_dim = transform.codomain.event_dim + max(-reinterpreted, 0)
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args)

    def _expand_parts(self, old, batch_shape):
        shape = ComposeTransform(old.transforms).inverse_shape(batch_shape + old.event_shape)
        self.base_dist = old.base_dist.expand(shape[: len(shape) - len(old.base_dist.event_shape)])

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def _forward(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    @no_grad()
    def sample(self, sample_shape=()):
        return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        y, event_dim, log_det = self._checked(value), len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            log = transform.log_abs_det_jacobian(x, y)
            log_det = log_det + sum_rightmost(log, event_dim - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return sum_rightmost(base, event_dim - len(self.base_dist.event_shape)) - log_det

    def _monotone(self, value):
        """A probability for a rising function; its complement for a falling one."""
        sign = ComposeTransform(self.transforms).sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        value = self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._monotone(value)))


class MixtureSameFamily(Distribution):
    """The last batch dimension of `component_distribution` as components, weighted by a Categorical.

    Matches torch.distributions.MixtureSameFamily.
    """

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                "The Mixture distribution needs to be an instance of ocl.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of ocl.distributions.Distribution"
            )
        weights, components = mixture_distribution.batch_shape, component_distribution.batch_shape
        try:
            broadcast_shapes(weights, components[:-1])
        except RuntimeError:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                f"`component_distribution.batch_shape`({components[:-1]})"
            ) from None
        count = mixture_distribution.param_shape[-1]
        if not components or count != components[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components[-1:]})"
            )
        self._mixture_distribution, self._component_distribution = (
            mixture_distribution,
            component_distribution,
        )
        super().__init__(components[:-1], component_distribution.event_shape, validate_args)

    def _expand_parts(self, old, batch_shape):
        count = old.component_distribution.batch_shape[-1]
        self._component_distribution = old.component_distribution.expand((*batch_shape, count))
        self._mixture_distribution = old.mixture_distribution.expand(batch_shape)

    @property
    def mixture_distribution(self):
        """The Categorical that chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The components, along the last batch dimension."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def _component_dim(self):
        return -1 - len(self.event_shape)

    def _mean_over_components(self, values):
        probs = self.mixture_distribution.probs
        return (probs.view(probs.shape + (1,) * len(self.event_shape)) * values).sum(self._component_dim)

    @property
    def mean(self):
        return self._mean_over_components(self.component_distribution.mean)

    @property
    def variance(self):
        means = self.component_distribution.mean
        spread = (means - self.mean.unsqueeze(self._component_dim)).square()
        return self._mean_over_components(self.component_distribution.variance + spread)

    def _of_each(self, value):
        return self._checked(value).unsqueeze(self._component_dim)

    def log_prob(self, value):
        logs = self.component_distribution.log_prob(self._of_each(value))
        return (logs + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value):
        parts = self.component_distribution.cdf(self._of_each(value))
        return (parts * self.mixture_distribution.probs).sum(-1)

    @no_grad()
    def sample(self, sample_shape=()):
        chosen = self.mixture_distribution.expand(self.batch_shape).sample(sample_shape)
        values = self.component_distribution.sample(sample_shape)
        dim = values.dim() + self._component_dim
        chosen = chosen.view(chosen.shape + (1,) * (1 + len(self.event_shape)))
        shape = (*values.shape[:dim], 1, *values.shape[dim + 1 :])
        return values.gather(dim, chosen.expand(shape)).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
