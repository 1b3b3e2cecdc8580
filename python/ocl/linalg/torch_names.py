"""Linear algebra by its older names, those of torch and of Tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import ArgumentValueError, Tensor, dtype
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.cholesky_factors import cholesky_factor, cholesky_inverse, cholesky_solve
from ocl.linalg.host import on_host
from ocl.linalg.inverse import det, inv, logdet, slogdet
from ocl.linalg.low_rank import pca_lowrank, svd_lowrank
from ocl.linalg.lu_factors import LUFactor, LUFactorEx, lu_factor, lu_factor_ex, lu_unpack
from ocl.linalg.lu_factors import lu_solve as solve_factored
from ocl.linalg.norms import matrix_norm
from ocl.linalg.orthogonal import QR, householder_product
from ocl.linalg.orthogonal import qr as qr_factors
from ocl.linalg.precision import full_precision
from ocl.linalg.products import matrix_exp, matrix_power, multi_dot
from ocl.linalg.products import vander as ascending_vander
from ocl.linalg.pseudo import pinv
from ocl.linalg.spectral import svd as svd_factors
from ocl.linalg.spectral import svdvals
from ocl.linalg.triangular import solve_triangular
from ocl.numpy_names import takes_numpy_names

__all__ = [
    "chain_matmul",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "geqrf",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "norm",
    "orgqr",
    "pca_lowrank",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "svd_lowrank",
    "triangular_solve",
    "vander",
]


class SVD(NamedTuple):
    """A = U diag(S) V^H."""

    U: Tensor
    S: Tensor
    V: Tensor


class TriangularSolve(NamedTuple):
    """A solution, and a copy of the triangular matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


@full_precision
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """``linalg.cholesky`` by its old name (torch.cholesky)."""
    return cholesky_factor("cholesky", input, upper, True)[0]


def inverse(input: Tensor) -> Tensor:
    """``linalg.inv`` by its old name (torch.inverse)."""
    return inv(input)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """``linalg.pinv`` with ``rcond`` for rtol (torch.pinverse)."""
    return pinv(input, rtol=rcond)


def qr(input: Tensor, some: bool = True) -> QR:
    """``linalg.qr``, reduced, or complete with ``some=False`` (torch.qr)."""
    return qr_factors(input, "reduced" if some else "complete")


class GEQRF(NamedTuple):
    """R above the Householder vectors below, and their factors."""

    a: Tensor
    tau: Tensor


def geqrf(input: Tensor) -> GEQRF:
    """The factors of ``qr`` as LAPACK has them. No gradient flows. (torch.geqrf)"""
    checks.float_matrices("geqrf", input)
    return GEQRF(*on_host(_raw_factors, input.detach()))


def _raw_factors(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    factors, tau = np.linalg.qr(matrices, mode="raw")
    return factors.swapaxes(-2, -1).astype(matrices.dtype), tau.astype(matrices.dtype)


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> SVD:
    """U, S and V, not its adjoint, of ``linalg.svd``; ``some=False`` gives the full matrices (torch.svd).

    Without ``compute_uv`` U (*, m, m) and V (*, n, n) are zeros.
    """
    if compute_uv:
        u, s, vh = svd_factors(input, not some)
        return SVD(u, s, vh.mH)
    batch, (rows, columns) = input.shape[:-2], input.shape[-2:]
    like = {"dtype": input.dtype, "device": input.device}
    values = svdvals(input)
    return SVD(_C.zeros([*batch, rows, rows], **like), values, _C.zeros([*batch, columns, columns], **like))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> LUFactor | LUFactorEx:
    """``linalg.lu_factor``, or with ``get_infos`` ``linalg.lu_factor_ex`` (torch.lu)."""
    return lu_factor_ex(A, pivot=pivot) if get_infos else lu_factor(A, pivot=pivot)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """``linalg.lu_solve`` with its arguments in another order (torch.lu_solve)."""
    return solve_factored(LU_data, LU_pivots, b)


@full_precision
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolve:
    """X of A X = b, or with ``transpose`` of A^T X = b, for triangular A, and a copy of A
    (torch.triangular_solve); the shapes are those of ``linalg.solve_triangular``."""
    checks.equation("triangular_solve", A, b, True)
    matrix = A.mT if transpose else A
    x = solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolve(x, checks.broadcast_batches(A, b)[0].clone())


@takes_numpy_names
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
) -> Tensor:
    """(sum |input|^p)^(1/p) for any p, 0 and infinities too, along ``dim`` or of all elements (torch.norm).

    "fro" is 2. "nuc" is the sum of the singular values of the matrices that two dimensions are, on the host.
    """
    if p == "nuc":
        return matrix_norm(input, p, tuple(range(input.ndim)) if dim is None else dim, keepdim, dtype=dtype)
    return _C.norm(input, p, dim, keepdim, dtype)


def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """``linalg.householder_product`` by its old name (torch.orgqr)."""
    return householder_product(input, tau)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """``linalg.multi_dot`` of its arguments; a single matrix comes back (torch.chain_matmul)."""
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of x (n,) as rows (n, N), the highest first unless ``increasing`` (torch.vander)."""
    if x.ndim != 1:
        raise ArgumentValueError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise ArgumentValueError("N must be non-negative.")
    if count <= 1:
        return _C.ones([x.shape[0], count], dtype=x.dtype, device=x.device)
    powers = ascending_vander(x, count)
    return powers if increasing else powers.flip(-1)


def _method(function: Callable) -> Callable:
    """``function`` with the tensor as its first argument."""

    @functools.wraps(function, assigned=("__name__", "__doc__"), updated=())
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return method


# Those that Tensor has in PyTorch, whose first argument is the tensor.
for _name in (
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "geqrf",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "matrix_exp",
    "matrix_power",
    "norm",
    "orgqr",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
):
    setattr(Tensor, _name, _method(globals()[_name]))
