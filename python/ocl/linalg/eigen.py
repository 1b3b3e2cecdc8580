"""Eigenvalues of any square matrices; they are complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ocl._C import ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host
from ocl.linalg.inverse import solve
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.spectral import diagonal_matrices, is_wanted, off_diagonal, require_no_phase

__all__ = ["eig", "eigvals"]


class Eig(NamedTuple):
    """Complex eigenvalues, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class _Eig(PreciseFunction):
    """Complex eigenvalues and eigenvectors. (Boeddeker et al. 2017, "On the computation of complex-valued
    gradients", 4.2; derivatives.yaml: linalg_eig_backward)"""

    @staticmethod
    def forward(ctx, a):
        values, vectors = on_host(_eig_arrays, a)
        ctx.set_materialize_grads(False)
        ctx.is_complex = a.is_complex()
        ctx.save_for_backward(values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx, of_values, of_vectors):
        values, vectors = ctx.saved_tensors
        if of_vectors is None:
            if of_values is None:
                return None
            inner = diagonal_matrices(of_values)
        else:
            turned = vectors.mH @ of_vectors
            require_no_phase("linalg_eig_backward: The eigenvectors", turned)
            # Each eigenvector keeps its length.
            along = turned.diagonal(dim1=-2, dim2=-1).real.unsqueeze(-2)
            inner = off_diagonal(turned - vectors.mH @ (vectors * along), values.conj())
            if of_values is not None:
                inner = inner + diagonal_matrices(of_values)
        result = solve(vectors.mH, inner @ vectors.mH)
        return result if ctx.is_complex else result.real


def _eig_arrays(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dtype = np.result_type(array.dtype, np.complex64)
    return tuple(part.astype(dtype) for part in _converged(np.linalg.eig, array))


def _converged(function: Callable, array: np.ndarray) -> Any:
    try:
        return function(array)
    except np.linalg.LinAlgError:
        if not np.isfinite(array).all():
            told = "torch.linalg.eig: input tensor should not contain infs or NaNs."
            raise ArgumentValueError(told) from None
        raise checks.LinAlgError(
            "linalg.eig: The algorithm failed to converge, because the input matrix is ill-conditioned or "
            "has too many repeated eigenvalues."
        ) from None


@full_precision
def eig(A: Tensor) -> Eig:
    """Eigenvalues (*, n), in no order, and eigenvectors (*, n, n) of A (*, n, n) (torch.linalg.eig).

    Both are complex, of real matrices too. A vector has length 1, and any phase: RuntimeError in the backward
    pass if a loss depends on the phases. Gradients are finite where no eigenvalues are the same. ValueError
    for a matrix that is not finite.
    """
    checks.square_floats("linalg.eig", A)
    return Eig(*_Eig.apply(A))


@full_precision
def eigvals(A: Tensor) -> Tensor:
    """The complex eigenvalues (*, n), in no order, of A (*, n, n) (torch.linalg.eigvals)."""
    checks.square_floats("linalg.eigvals", A)
    if is_wanted(A):
        return _Eig.apply(A)[0]
    dtype = np.result_type(str(A.dtype).removeprefix("ocl."), np.complex64)
    return on_host(lambda array: (_converged(np.linalg.eigvals, array).astype(dtype),), A)[0]
