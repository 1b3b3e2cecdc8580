"""Linear algebra."""

import ocl
from ocl.export.aten.table import first_alone, operator, operators

operators(
    "linalg",
    {
        "aten.linalg_inv.default": ocl.linalg.inv,
        "aten.linalg_inv_ex.default": ocl.linalg.inv_ex,
        "aten.inverse.default": ocl.linalg.inv,
        "aten.linalg_solve.default": ocl.linalg.solve,
        "aten.linalg_solve_triangular.default": ocl.linalg.solve_triangular,
        "aten.linalg_cholesky.default": ocl.linalg.cholesky,
        "aten.linalg_cholesky_ex.default": ocl.linalg.cholesky_ex,
        "aten.cholesky_solve.default": ocl.cholesky_solve,
        "aten.cholesky_inverse.default": ocl.cholesky_inverse,
        "aten.linalg_det.default": ocl.linalg.det,
        "aten.det.default": ocl.linalg.det,
        "aten.logdet.default": ocl.logdet,
        "aten.linalg_slogdet.default": ocl.linalg.slogdet,
        "aten.slogdet.default": ocl.linalg.slogdet,
        "aten.linalg_qr.default": ocl.linalg.qr,
        "aten.linalg_svd.default": ocl.linalg.svd,
        "aten.linalg_svdvals.default": ocl.linalg.svdvals,
        "aten.linalg_eigh.default": ocl.linalg.eigh,
        "aten.linalg_eigvalsh.default": ocl.linalg.eigvalsh,
        "aten.linalg_pinv.default": ocl.linalg.pinv,
        "aten.linalg_matrix_exp.default": ocl.linalg.matrix_exp,
        "aten.linalg_cross.default": ocl.linalg.cross,
    },
)


@operator("aten._linalg_det.default", refuses=first_alone)
def det(a):
    return ocl.linalg.det(a), None, None


@operator("aten._linalg_slogdet.default")
def slogdet(a):
    return *ocl.linalg.slogdet(a), None, None


@operator("aten._linalg_solve_ex.default", refuses=first_alone)
def solve(a, b, *, left=True, check_errors=False):
    return ocl.linalg.solve(a, b, left=left), None, None, None


@operator("aten._linalg_svd.default")
def svd(a, full_matrices=False, compute_uv=True, *, driver=None):
    return ocl.linalg.svd(a, full_matrices) if compute_uv else (None, ocl.linalg.svdvals(a), None)


@operator("aten._linalg_eigh.default")
def eigh(a, uplo="L", compute_v=True):
    return ocl.linalg.eigh(a, uplo) if compute_v else (ocl.linalg.eigvalsh(a, uplo), None)
