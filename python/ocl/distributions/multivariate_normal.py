"""Multivariate normal distributions, by ``ocl.linalg.cholesky`` and ``ocl.linalg.solve_triangular``."""

import math

from ocl import _C, linalg
from ocl.distributions import constraints
from ocl.distributions.distribution import Distribution
from ocl.distributions.utils import broadcast_shapes, lazy_property, the_one_given

__all__ = ["LowRankMultivariateNormal", "MultivariateNormal"]


def _eye(like):
    return _C.eye(like.shape[-1], dtype=like.dtype, device=like.device)


def diagonal_matrix(diagonal):
    """The matrices of those diagonals."""
    return diagonal.unsqueeze(-1) * _eye(diagonal)


def solve_lower(lower, matrix):
    """X of lower @ X = matrix, with batches broadcast."""
    batch = broadcast_shapes(lower.shape[:-2], matrix.shape[:-2])
    lower, matrix = lower.expand(batch + lower.shape[-2:]), matrix.expand(batch + matrix.shape[-2:])
    return linalg.solve_triangular(lower, matrix, upper=False)


def inverse_of_product(lower):
    """The inverse of lower @ lower.mT."""
    inverse = solve_lower(lower, _eye(lower))
    return inverse.mT @ inverse


def square_norm(matrix):
    """The sum of squares of each matrix."""
    return matrix.square().sum((-2, -1))


def half_log_det(lower):
    """log of the determinant of a triangular matrix."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class _Normals(Distribution):
    """The moments and the density of both parametrizations, by ``_mahalanobis`` and ``_half_log_det``."""

    support = constraints.real_vector
    has_rsample = True

    @property
    def mean(self):
        return self.loc

    mode = mean

    def log_prob(self, value):
        distance = self._mahalanobis(self._checked(value) - self.loc)
        constants = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constants + distance) - self._half_log_det()

    def entropy(self):
        constants = 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))
        return (constants + self._half_log_det()).expand(self.batch_shape)


class MultivariateNormal(_Normals):
    """The normal distribution of vectors. Matches torch.distributions.MultivariateNormal.

    Exactly one of `covariance_matrix`, `precision_matrix` and its factor `scale_tril` is given.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = the_one_given(
            ValueError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(batch_shape + loc.shape[-1:])
        vars(self)[name] = matrix.expand(batch_shape + matrix.shape[-2:])
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args)
        if name == "covariance_matrix":
            self._factor = linalg.cholesky(matrix)
        else:
            self._factor = matrix if name == "scale_tril" else factor_of_precision(matrix)

    @lazy_property
    def scale_tril(self):
        """The lower triangular factor of the covariance."""
        return self._factor.expand(self._batch_shape + self._factor.shape[-2:])

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        return (self._factor @ self._factor.mT).expand(self._batch_shape + self._factor.shape[-2:])

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return inverse_of_product(self._factor).expand(self._batch_shape + self._factor.shape[-2:])

    @property
    def variance(self):
        return self._factor.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        standard = _C.randn((*shape, 1), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._factor @ standard).squeeze(-1)

    def _mahalanobis(self, difference):
        return square_norm(solve_lower(self._factor, difference.unsqueeze(-1)))

    def _half_log_det(self):
        return half_log_det(self._factor)

    def _covariance_factors(self):
        """Matrices whose products with their transposes add up to the covariance."""
        return (self._factor,)


def factor_of_precision(precision):
    """The factor of the inverse: flipped axes make the inverse of a factor lower triangular."""
    flipped = linalg.cholesky(precision.flip((-2, -1)))
    upper = flipped.flip((-2, -1)).mT
    return solve_lower(upper, _eye(precision))


class LowRankMultivariateNormal(_Normals):
    """The covariance is cov_factor @ cov_factor.mT plus the diagonal `cov_diag`.

    Matches torch.distributions.LowRankMultivariateNormal; it factors matrices of the size of the rank.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != size:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {size[0]} x m")
        if cov_diag.shape[-1:] != size:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {size}")
        try:
            batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag "
                f"{cov_diag.shape}"
            ) from None
        self.loc, self.cov_diag = loc.expand(batch_shape + size), cov_diag.expand(batch_shape + size)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        super().__init__(batch_shape, size, validate_args)
        self._factor, self._diag = cov_factor, cov_diag
        weighted = cov_factor.mT / cov_diag.unsqueeze(-2)
        inner = weighted @ cov_factor
        self._capacitance = linalg.cholesky(inner + _eye(inner))

    @property
    def variance(self):
        return (self._factor.square().sum(-1) + self._diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        matrix = self._factor @ self._factor.mT + diagonal_matrix(self._diag)
        return matrix.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def scale_tril(self):
        """The lower triangular factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        part = solve_lower(self._capacitance, self._factor.mT / self._diag.unsqueeze(-2))
        matrix = diagonal_matrix(1 / self._diag) - part.mT @ part
        return matrix.expand(self._batch_shape + self._event_shape * 2)

    def rsample(self, sample_shape=()):
        options = {"dtype": self.loc.dtype, "device": self.loc.device}
        shape = self._extended_shape(sample_shape)
        of_factor = _C.randn((*shape[:-1], self.cov_factor.shape[-1], 1), **options)
        return (
            self.loc + (self._factor @ of_factor).squeeze(-1) + self._diag.sqrt() * _C.randn(shape, **options)
        )

    def _mahalanobis(self, difference):
        weighted = self._factor.mT @ (difference / self._diag).unsqueeze(-1)
        return (difference.square() / self._diag).sum(-1) - square_norm(
            solve_lower(self._capacitance, weighted)
        )

    def _half_log_det(self):
        return half_log_det(self._capacitance) + 0.5 * self._diag.log().sum(-1)

    def _covariance_factors(self):
        """Matrices whose products with their transposes add up to the covariance."""
        return self._factor, diagonal_matrix(self._diag.sqrt())
