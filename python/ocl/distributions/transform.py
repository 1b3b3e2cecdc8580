"""Functions with the logarithms of their Jacobian determinants: the base class, and transforms made of
others.
"""

import functools
import math
import operator
import weakref

from ocl import _C
from ocl.distributions import constraints
from ocl.distributions.utils import sum_rightmost

__all__ = ["ComposeTransform", "IndependentTransform", "ReshapeTransform", "Transform", "identity_transform"]


class Transform:
    """A function of tensors. Matches torch.distributions.transforms.Transform.

    A class gives ``domain``, ``codomain``, ``_call``, ``_inverse`` and ``log_abs_det_jacobian``. With
    `cache_size` 1
    the last pair of input and output is kept, so that the inverse of a fresh output is exact.
    """

    bijective = False
    domain = constraints.real
    codomain = constraints.real

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last_pair = (None, None)
        self._inverse_reference = None

    def __getstate__(self):
        return {**vars(self), "_inverse_reference": None, "_last_pair": (None, None)}

    @property
    def event_dim(self):
        """How many trailing dimensions make one value; the same for inputs and outputs."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self):
        """The inverse transform; its own inverse is this object."""
        inverse = self._inverse_reference and self._inverse_reference()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inverse_reference = weakref.ref(inverse)
        return inverse

    @property
    def sign(self):
        """1 or -1 for a monotone function of numbers that rises or falls."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """The transform with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        parameters = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return type(self)(**parameters, cache_size=cache_size)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        if x is not self._last_pair[0]:
            self._last_pair = (x, self._call(x))
        return self._last_pair[1]

    def _inv_call(self, y):
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._last_pair[1]:
            self._last_pair = (self._inverse(y), y)
        return self._last_pair[0]

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the absolute Jacobian determinant at input `x` with output `y`."""
        raise NotImplementedError

    def forward_shape(self, shape):
        """The shape of the output for an input of `shape`."""
        return shape

    def inverse_shape(self, shape):
        """The shape of the input for an output of `shape`."""
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of `transform`, whose cache it uses."""

    def __init__(self, transform):
        super().__init__(transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self):
        return self._inv.bijective

    @property
    def sign(self):
        return self._inv.sign

    @property
    def inv(self):
        return self._inv

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"


class ComposeTransform(Transform):
    """The functions of the list `parts`, applied from first to last.

    Matches torch.distributions.transforms.ComposeTransform.
    """

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def _event_dims(self):
        """The event dimensions of the input and of the output, by what all parts need."""
        at_input = 0
        for part in reversed(self.parts):
            shrinks = part.domain.event_dim - part.codomain.event_dim
            at_input = max(at_input + shrinks, part.domain.event_dim)
        at_output = at_input
        for part in self.parts:
            at_output += part.codomain.event_dim - part.domain.event_dim
        return at_input, at_output

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if not self.parts:
            return constraints.real
        return with_event_dim(self.parts[0].domain, self._event_dims()[0])

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        if not self.parts:
            return constraints.real
        return with_event_dim(self.parts[-1].codomain, self._event_dims()[1])

    @property
    def bijective(self):
        return all(part.bijective for part in self.parts)

    @property
    def sign(self):
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self):
        inverse = self._inverse_reference and self._inverse_reference()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inverse_reference = weakref.ref(inverse)
            inverse._inverse_reference = weakref.ref(self)
        return inverse

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return _C.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        total, event_dim = 0, self._event_dims()[0]
        for part, before, after in zip(self.parts, values, values[1:], strict=False):
            total = total + sum_rightmost(
                part.log_abs_det_jacobian(before, after), event_dim - part.domain.event_dim
            )
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        lines = ",\n".join(f"    {part!r}" for part in self.parts)
        return f"ComposeTransform(\n{lines}\n)"


def with_event_dim(constraint, event_dim):
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """`base_transform` with `reinterpreted_batch_ndims` more dimensions in one value.

    Matches torch.distributions.transforms.IndependentTransform.
    """

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self):
        return self.base_transform.bijective

    @property
    def sign(self):
        return self.base_transform.sign

    def _call(self, x):
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The trailing dimensions `in_shape` as `out_shape`; both have as many elements, else ValueError.

    Matches torch.distributions.transforms.ReshapeTransform.
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def _batch_shape(self, x, event_shape):
        return x.shape[: x.dim() - len(event_shape)]

    def _call(self, x):
        return x.reshape(self._batch_shape(x, self.in_shape) + self.out_shape)

    def _inverse(self, y):
        return y.reshape(self._batch_shape(y, self.out_shape) + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return _C.zeros(self._batch_shape(x, self.in_shape), dtype=x.dtype, device=x.device)

    def forward_shape(self, shape):
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape, old, new):
    cut = len(shape) - len(old)
    if cut < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[cut:]) != old:
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {old}")
    return tuple(shape[:cut]) + new
