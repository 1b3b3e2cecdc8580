"""Decompositions of the largest singular values, by random projections (Halko, Martinsson and Tropp 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ocl import _C
from ocl._C import ArgumentValueError, Tensor
from ocl.linalg import checks
from ocl.linalg.orthogonal import qr
from ocl.linalg.spectral import svd

if TYPE_CHECKING:
    from ocl.linalg.torch_names import SVD

__all__ = ["pca_lowrank", "svd_lowrank"]


def _basis(a: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span the range of `a`."""
    drawn = _C.randn((a.shape[-1], q), dtype=a.dtype, device=a.device)
    basis = qr(a @ drawn)[0]
    for _ in range(niter):
        basis = qr(a @ qr(a.mH @ basis)[0])[0]
    return basis


def _decomposed(name: str, a: Tensor, q: int, niter: int) -> SVD:
    from ocl.linalg.torch_names import SVD

    checks.float_matrices(name, a)
    is_wide = a.shape[-2] < a.shape[-1]
    tall = a.mH if is_wide else a
    basis = _basis(tall, q, niter)
    u, s, vh = svd(basis.mH @ tall, False)
    u, v = basis @ u, vh.mH
    return SVD(v, s, u) if is_wide else SVD(u, s, v)


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> SVD:
    """Nearly the `q` largest singular values of A (*, m, n), or of A - M, with their vectors U (*, m, q) and
    V (*, n, q). (torch.svd_lowrank)

    Random numbers choose the subspace, which `niter` steps improve.
    """
    matrix = A if M is None else A - M
    return _decomposed("svd_lowrank", matrix, 6 if q is None else q, 2 if niter is None else niter)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> SVD:
    """svd_lowrank of A (*, m, n) less the mean of its rows, unless `center` is False. (torch.pca_lowrank)

    ValueError for q above m or n, which is 6 at most by default, and for a negative niter.
    """
    checks.matrices("pca_lowrank", A)
    most = min(A.shape[-2:])
    q = min(6, most) if q is None else q
    if not 0 <= q <= most:
        raise ArgumentValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={most}"
        )
    if niter < 0:
        raise ArgumentValueError(f"niter(={niter}) must be non-negative integer")
    return _decomposed("pca_lowrank", A - A.mean(-2, True) if center else A, q, niter)
