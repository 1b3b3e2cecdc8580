"""Random covariance matrices: Wishart's distribution."""

import math
import numbers
import warnings

from ocl import _C, linalg
from ocl._C import Tensor
from ocl.distributions import constraints
from ocl.distributions.exp_family import ExponentialFamily
from ocl.distributions.gamma_family import Chi2
from ocl.distributions.multivariate_normal import (
    diagonal_matrix,
    factor_of_precision,
    half_log_det,
    inverse_of_product,
)
from ocl.distributions.utils import broadcast_shapes, lazy_property, the_one_given
from ocl.special.composed import multigammaln
from ocl.type_info import finfo

__all__ = ["Wishart"]

_TRIES = 10


class Wishart(ExponentialFamily):
    """The distribution of sums of products of `df` normal vectors with themselves, of one covariance.

    Exactly one of `covariance_matrix`, `precision_matrix` and its factor `scale_tril` is given, and `df`
    exceeds their size less 1. Matches torch.distributions.Wishart.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(
        self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None
    ):
        name, matrix = the_one_given(
            AssertionError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        if isinstance(df, numbers.Number):
            df = _C.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = broadcast_shapes(matrix.shape[:-2], df.shape)
        size = matrix.shape[-1]
        self.df = df.expand(batch_shape)
        vars(self)[name] = matrix.expand(batch_shape + matrix.shape[-2:])
        if (self.df <= size - 1).any().item():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if (self.df < size).any().item():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                "ndim.",
                stacklevel=2,
            )
        super().__init__(batch_shape, matrix.shape[-2:], validate_args)
        if name == "covariance_matrix":
            self._factor = linalg.cholesky(matrix)
        else:
            self._factor = matrix if name == "scale_tril" else factor_of_precision(matrix)

    def _expanded(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The lower triangular factor of the covariance."""
        return self._expanded(self._factor)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return self._expanded(self._factor @ self._factor.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._expanded(inverse_of_product(self._factor))

    @property
    def mean(self):
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self._event_shape[-1] - 1
        factor = _C.where(factor <= 0, math.nan, factor).to(self.df.dtype)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (covariance.square() + products)

    def _drawn(self, shape):
        """Bartlett's decomposition: chi-squared numbers on the diagonal, normal ones below."""
        size = self._event_shape[-1]
        places = _C.arange(size, device=self.df.device).to(self.df.dtype)
        squares = Chi2(self.df.unsqueeze(-1) - places, validate_args=False).rsample(shape)
        diagonal = squares.sqrt().clamp(min=finfo(squares.dtype).eps)
        below = _C.randn((*diagonal.shape, size), dtype=diagonal.dtype, device=diagonal.device).tril(-1)
        factor = self._factor @ (below + diagonal_matrix(diagonal))
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=_TRIES):
        """A draw, as ever; singular ones are drawn anew, `max_try_correction` times, with a warning."""
        drawn = self._drawn(sample_shape)
        singular = ~self.support.check(drawn.detach())
        if drawn.numel() and singular.any().item():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(max_try_correction):
                drawn = _C.where(singular[..., None, None], self._drawn(sample_shape), drawn)
                singular = ~self.support.check(drawn.detach())
                if not singular.any().item():
                    break
        return drawn

    def log_prob(self, value):
        value, size = self._checked(value), self._event_shape[-1]
        distance = (inverse_of_product(self._factor) * value).sum((-2, -1))
        return (
            -self.df * (size * math.log(2) / 2 + half_log_det(self._factor))
            - multigammaln(self.df / 2, size)
            + (self.df - size - 1) / 2 * linalg.slogdet(value).logabsdet
            - distance / 2
        )

    def entropy(self):
        size, half = self._event_shape[-1], self.df / 2
        places = _C.arange(size, device=half.device).to(half.dtype) / 2
        digammas = (half.unsqueeze(-1) - places).digamma().sum(-1)
        return (
            (size + 1) * (size * math.log(2) / 2 + half_log_det(self._factor))
            + multigammaln(half, size)
            - (self.df - size - 1) / 2 * digammas
            + self.df * size / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        size = self._event_shape[-1]
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - linalg.slogdet(-2 * x).logabsdet) + multigammaln(half, size)
