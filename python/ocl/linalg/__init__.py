"""Linear algebra by the names of torch.linalg, of matrices in float32, float64, complex64 and complex128.

LAPACK computes factorizations, inverses, systems of equations, determinants, eigenvalues and singular values
on the host, through NumPy. These functions wait for the device, copy the matrices from it, and copy the
results back. Products of matrices and matrix exponentials run on the device. All are differentiable, as often
as wanted: gradients are products on the device and functions of this module.
"""

from ocl.linalg.checks import LinAlgError
from ocl.linalg.cholesky_factors import cholesky, cholesky_ex
from ocl.linalg.eigen import eig, eigvals
from ocl.linalg.inverse import det, inv, inv_ex, slogdet, solve, solve_ex, tensorinv, tensorsolve
from ocl.linalg.lu_factors import lu, lu_factor, lu_factor_ex, lu_solve
from ocl.linalg.norms import cond, matrix_norm, norm, vector_norm
from ocl.linalg.orthogonal import householder_product, qr
from ocl.linalg.products import (
    cross,
    diagonal,
    matmul,
    matrix_exp,
    matrix_power,
    multi_dot,
    vander,
    vecdot,
)
from ocl.linalg.pseudo import lstsq, matrix_rank, pinv
from ocl.linalg.spectral import eigh, eigvalsh, svd, svdvals
from ocl.linalg.triangular import solve_triangular

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
