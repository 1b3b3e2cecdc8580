"""Transforms to matrices, and transforms made of others: parts of a tensor, a distribution's cdf."""

import math

from ocl import _C
from ocl.distributions import constraints
from ocl.distributions.transform import Transform
from ocl.type_info import finfo

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "StackTransform",
]


class LowerCholeskyTransform(Transform):
    """The lower triangle of a matrix with the exponentials of its diagonal; not bijective.

    Matches torch.distributions.transforms.LowerCholeskyTransform.
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = object.__hash__

    def _call(self, x):
        diagonal = x.diagonal(dim1=-2, dim2=-1).exp()
        return x.tril(-1) + _diagonal_matrix(diagonal)

    def _inverse(self, y):
        return y.tril(-1) + _diagonal_matrix(y.diagonal(dim1=-2, dim2=-1).log())


def _diagonal_matrix(diagonal):
    size = diagonal.shape[-1]
    return diagonal.unsqueeze(-1) * _C.eye(size, dtype=diagonal.dtype, device=diagonal.device)


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """L @ L.mT of the matrix L of LowerCholeskyTransform; the inverse needs ``ocl.linalg.cholesky``.

    Matches torch.distributions.transforms.PositiveDefiniteTransform.
    """

    codomain = constraints.positive_definite

    def _call(self, x):
        lower = super()._call(x)
        return lower @ lower.mT

    def _inverse(self, y):
        from ocl import linalg

        return super()._inverse(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """n(n - 1)/2 real numbers as the Cholesky factor of an n by n correlation matrix.

    tanh of each number is the partial correlation that a row's element has of what the elements before it
    left
    over. Matches torch.distributions.transforms.CorrCholeskyTransform.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    @staticmethod
    def _places(count, device):
        """Where the elements of the strict lower triangle stand in the flattened matrix, row by row."""
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError(
                f"The size of last dimension is {count} which cannot be expressed as the "
                "lower triangular part of a square D x D matrix."
            )
        places = [row * size + column for row in range(size) for column in range(row)]
        return size, _C.tensor(places, dtype=_C.int64, device=device)

    def _call(self, x):
        size, places = self._places(x.shape[-1], x.device)
        eps = finfo(x.dtype).eps
        partial = x.tanh().clamp(min=eps - 1, max=1 - eps)
        flat = _C.zeros((*x.shape[:-1], size * size), dtype=x.dtype, device=x.device)
        partial = flat.scatter(-1, places.expand(x.shape), partial).unflatten(-1, (size, size))
        left_over = (1 - partial.square()).sqrt().cumprod(-1)
        before = _C.cat([_C.ones_like(left_over[..., :1]), left_over[..., :-1]], -1)
        identity = _C.eye(size, dtype=x.dtype, device=x.device)
        return (partial + identity) * before

    def _inverse(self, y):
        size = y.shape[-1]
        _, places = self._places(size * (size - 1) // 2, y.device)
        left_over = (1 - y.square().cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        before = _C.cat([_C.ones_like(left_over[..., :1]), left_over[..., :-1]], -1)
        partial = (y.tril(-1) / before.sqrt()).flatten(-2).index_select(-1, places)
        return partial.atanh()

    def log_abs_det_jacobian(self, x, y):
        left_over = 1 - y.square().cumsum(-1)
        size, places = self._places(x.shape[-1], x.device)
        # An element's derivative has the square root of what its row left over up to it, the diagonal apart.
        logs = left_over.flatten(-2).index_select(-1, places).clamp(min=finfo(y.dtype).tiny).log()
        ends = [row * (row - 1) // 2 + row - 1 for row in range(1, size)]  # they have no element behind them
        inner = [place for place in range(x.shape[-1]) if place not in ends]
        inner_logs = logs.index_select(-1, _C.tensor(inner, dtype=_C.int64, device=x.device))
        slopes = (_C.softplus(2 * x) - x - math.log(2.0)).sum(-1)
        return 0.5 * inner_logs.sum(-1) - 2 * slopes

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


class _Parts(Transform):
    """Transforms of the parts of a tensor along `dim`, which ``_split`` and ``_join`` define."""

    def __init__(self, tseq, dim, cache_size):
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self):
        return all(part.bijective for part in self.transforms)

    def _each(self, functions, *values):
        for value in values:
            if not -value.dim() <= self.dim < value.dim():
                raise AssertionError(
                    f"dim {self.dim} is out of range for a value of {value.dim()} dimensions"
                )
        split = zip(*(self._split(value) for value in values), strict=True)
        return [function(*parts) for function, parts in zip(functions, split, strict=True)]

    def _call(self, x):
        return self._join(self._each(self.transforms, x))

    def _inverse(self, y):
        return self._join(self._each([part.inv for part in self.transforms], y))


class CatTransform(_Parts):
    """Each transform of `tseq` maps a slice along `dim`; `lengths` are the slices' sizes, 1 each by default.

    Matches torch.distributions.transforms.CatTransform.
    """

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"got {len(self.lengths)} lengths for {len(self.transforms)} transforms")

    @property
    def event_dim(self):
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self):
        """The size of `dim`."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)

    def _split(self, value):
        if value.shape[self.dim] != self.length:
            raise AssertionError(f"size {value.shape[self.dim]} of dim {self.dim} must be {self.length}")
        return value.split(self.lengths, self.dim)

    def _join(self, parts):
        return _C.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        event_dim = self.event_dim
        logs = []
        functions = [part.log_abs_det_jacobian for part in self.transforms]
        for part, log in zip(self.transforms, self._each(functions, x, y), strict=True):
            extra = event_dim - part.event_dim
            logs.append(log.flatten(log.dim() - extra).sum(-1) if extra else log)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += event_dim
        return _C.cat(logs, dim) if dim < 0 else sum(logs[1:], logs[0])


class StackTransform(_Parts):
    """Each transform of `tseq` maps one place along `dim`.

    Matches torch.distributions.transforms.StackTransform.
    """

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([part.codomain for part in self.transforms], self.dim)

    def _split(self, value):
        if value.shape[self.dim] != len(self.transforms):
            raise AssertionError(
                f"size {value.shape[self.dim]} of dim {self.dim} must be {len(self.transforms)}"
            )
        return value.unbind(self.dim)

    def _join(self, parts):
        return _C.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        return self._join(self._each([part.log_abs_det_jacobian for part in self.transforms], x, y))


class CumulativeDistributionTransform(Transform):
    """y = distribution.cdf(x). Matches torch.distributions.transforms.CumulativeDistributionTransform."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
