"""The base class of distributions."""

import warnings

from ocl._C import Tensor
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.utils import broadcast_all, broadcast_shapes, lazy_property
from ocl.size import Size

__all__ = ["Distribution"]


class Distribution:
    """A batch of distributions. Matches torch.distributions.Distribution.

    A sample has the shape ``sample_shape + batch_shape + event_shape``. A class names its parameters in
    ``arg_constraints``; those that an object holds are expanded with it and shown by repr.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions made from now on check their values. Raises ValueError for no bool."""
        if value not in (True, False):
            raise ValueError(f"validate_args must be True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _broadcast_parameters(self, validate_args, **parameters):
        """Keeps parameters of no event dimension as attributes of one shape, which is the batch shape."""
        tensors = broadcast_all(*parameters.values())
        vars(self).update(zip(parameters, tensors, strict=True))
        Distribution.__init__(self, tensors[0].shape, validate_args=validate_args)

    def _check_parameters(self):
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if constraints.is_dependent(constraint) or not isinstance(value, Tensor):
                continue
            valid = constraint.check(value)
            if not valid.all().item():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n"
                    f"{value}"
                )

    def expand(self, batch_shape, _instance=None):
        """The distribution with its parameters expanded to `batch_shape`; they share memory."""
        batch_shape = Size(batch_shape)
        new = object.__new__(type(self)) if _instance is None else _instance
        for name, value in vars(self).items():
            if (
                isinstance(getattr(type(self), name, None), lazy_property)
                and name not in self.arg_constraints
            ):
                continue
            constraint = self.arg_constraints.get(name)
            if constraint is not None and isinstance(value, Tensor):
                value = value.expand(batch_shape + value.shape[value.dim() - constraint.event_dim :])
            new.__dict__[name] = value
        new._expand_parts(self, batch_shape)
        new._batch_shape = batch_shape
        return new

    def _expand_parts(self, old, batch_shape):
        """Expands what is no parameter of a name in ``arg_constraints``, such as a base distribution."""

    @property
    def batch_shape(self):
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one draw of one distribution."""
        return self._event_shape

    @property
    def support(self):
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """A draw of shape ``sample_shape + batch_shape + event_shape``, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """A draw that is a differentiable function of the parameters, or NotImplementedError."""
        raise NotImplementedError

    def sample_n(self, n):
        """``sample((n,))``; deprecated, as in PyTorch."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density or the probability at `value`, of the batch shape."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of a draw of at most `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of ``cdf``."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """The entropy in nats, of the batch shape."""
        raise NotImplementedError

    def perplexity(self):
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        return tuple(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        """Raises ValueError unless `value` is a tensor whose shape and elements suit the distribution."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event_start = value.dim() - len(self._event_shape)
        if value.shape[max(event_start, 0) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        try:
            broadcast_shapes(value.shape, self._extended_shape())
        except RuntimeError:
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {self._extended_shape()}."
            ) from None
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. "
                "Please initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if not support.check(value).all().item():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _checked(self, value):
        """`value`, checked where the distribution checks."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self):
        held = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = (
            f"{name}: {value if not isinstance(value, Tensor) or value.numel() == 1 else value.shape}"
            for name, value in held.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"
