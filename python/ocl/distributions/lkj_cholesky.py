"""Random correlation matrices, as their factors: the distribution of Lewandowski, Kurowicka and Joe."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.distribution import Distribution
from ocl.distributions.gamma_family import Beta
from ocl.distributions.multivariate_normal import diagonal_matrix
from ocl.distributions.utils import broadcast_all
from ocl.special.composed import multigammaln
from ocl.type_info import finfo

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular factors of correlation matrices of the size `dim`, whose density is that of their
    determinants to the power of `concentration` - 1. Matches torch.distributions.LKJCholesky.

    ValueError for a size below 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def _rows(self):
        """0, 0, 1, ..., dim - 2."""
        rows = _C.arange(self.dim, device=self.concentration.device).to(self.concentration.dtype) - 1
        return rows.clamp(min=0)

    @no_grad()
    def sample(self, sample_shape=()):
        """The onion method: a row's length below the diagonal is a beta number, its direction is uniform."""
        rows = self._rows()
        b = (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * rows
        lengths = Beta((0.5 * rows + 0.5).expand(b.shape), b, validate_args=False)
        squares = lengths.sample(sample_shape).unsqueeze(-1)
        normal = _C.randn(
            self._extended_shape(sample_shape), dtype=squares.dtype, device=squares.device
        ).tril(-1)
        length = normal.square().sum(-1, True).sqrt()
        below = squares.sqrt() * normal / _C.where(length == 0, 1.0, length)
        diagonal = (1 - below.square().sum(-1)).clamp(min=finfo(below.dtype).tiny).sqrt()
        return below + diagonal_matrix(diagonal)

    def log_prob(self, value):
        diagonal = self._checked(value).diagonal(dim1=-2, dim2=-1)[..., 1:]
        order = _C.arange(2, self.dim + 1, device=diagonal.device).to(diagonal.dtype)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        free = self.dim - 1
        alpha = self.concentration + 0.5 * free
        constant = 0.5 * free * math.log(math.pi) + multigammaln(alpha - 0.5, free) - alpha.lgamma() * free
        return (powers * diagonal.log()).sum(-1) - constant
