"""Eigenvalues of symmetric and Hermitian matrices, and singular values."""

from __future__ import annotations

from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentValueError, Tensor, is_grad_enabled
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host, one_by_one
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.shapes import is_shapes_only

__all__ = ["eigh", "eigvalsh", "svd", "svdvals"]


class Eigh(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVD(NamedTuple):
    """A = U diag(S) Vh, singular values in descending order."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def off_diagonal(matrix: Tensor, divisors: Tensor) -> Tensor:
    """matrix / (divisors_j - divisors_i), and 0 on the diagonal."""
    gaps = divisors.unsqueeze(-2) - divisors.unsqueeze(-1)
    diagonal = _C.eye(gaps.shape[-1], dtype=gaps.dtype, device=gaps.device)
    return matrix * (1 - diagonal) / (gaps + diagonal)


def diagonal_matrices(values: Tensor) -> Tensor:
    """Matrices with these diagonals."""
    return values.unsqueeze(-1) * _C.eye(values.shape[-1], dtype=values.dtype, device=values.device)


def require_no_phase(told: str, turned: Tensor) -> None:
    """Raises if a loss depends on the phases of complex vectors, which are as good as any others.

    It does where the imaginary parts on the diagonal of V^H times the gradient of V are not 0.
    """
    if not turned.is_complex() or is_shapes_only():
        return
    imaginary = turned.detach().diagonal(dim1=-2, dim2=-1).imag
    if not _C.allclose(imaginary, _C.zeros_like(imaginary), 1e-2, 1e-2):
        raise RuntimeError(
            f"{told} in the complex case are specified up to multiplication by e^{{i phi}}. The specified "
            "loss function depends on this quantity, so it is ill-defined."
        )


def is_wanted(tensor: Tensor) -> bool:
    return tensor.requires_grad and is_grad_enabled()


class _Eigh(PreciseFunction):
    """Eigenvalues and eigenvectors. (Giles 2008, 3.1; derivatives.yaml: linalg_eig_backward)"""

    @staticmethod
    def forward(ctx, a, triangle):
        values, vectors = on_host(lambda array: eigh_arrays(array, triangle), a)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx, of_values, of_vectors):
        values, vectors = ctx.saved_tensors
        if of_vectors is None:
            if of_values is None:
                return None, None
            return vectors * of_values.unsqueeze(-2) @ vectors.mH, None
        turned = vectors.mH @ of_vectors
        require_no_phase("linalg_eigh_backward: The eigenvectors", turned)
        inner = off_diagonal(turned, values)
        if of_values is not None:
            inner = inner + diagonal_matrices(of_values)
        result = vectors @ inner @ vectors.mH
        return (result + result.mH) / 2, None  # A counts as Hermitian, and so does its gradient


def _of_finite_matrices(name: str, function, empty):
    """``function`` of each matrix ; ``empty`` of those that are not finite. LinAlgError if others fail."""

    def failed(matrix):
        if np.isfinite(matrix).all():
            raise checks.LinAlgError(
                f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or "
                "has too many repeated eigenvalues."
            )
        return empty(matrix)

    return lambda array: one_by_one(function, failed, array)


def eigh_arrays(array: np.ndarray, triangle: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        return tuple(np.linalg.eigh(array, triangle))
    except np.linalg.LinAlgError:
        nan = lambda matrix: (np.full_like(matrix[0].real, np.nan), np.full_like(matrix, np.nan))  # noqa: E731
        alone = lambda matrix: tuple(np.linalg.eigh(matrix, triangle))  # noqa: E731
        return _of_finite_matrices("linalg.eigh", alone, nan)(array)


def eigenvalues(array: np.ndarray, triangle: str) -> np.ndarray:
    """The eigenvalues of symmetric or Hermitian (count, n, n), ascending: (count, n)."""
    try:
        return np.linalg.eigvalsh(array, triangle)
    except np.linalg.LinAlgError:
        return eigh_arrays(array, triangle)[0]


def _triangle(UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise ArgumentValueError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@full_precision
def eigh(A: Tensor, UPLO: str = "L") -> Eigh:
    """Eigenvalues (*, n), ascending, and eigenvectors (*, n, n) of symmetric or Hermitian A (*, n, n)
    (torch.linalg.eigh).

    The lower triangle is read, or the upper one with ``UPLO="U"``. Gradients of the eigenvectors are finite
    where no eigenvalues are the same; RuntimeError in the backward pass if a loss depends on the phases of
    complex ones. A matrix with NaN gives NaN.
    """
    checks.square_floats("linalg.eigh", A)
    return Eigh(*_Eigh.apply(A, _triangle(UPLO)))


@full_precision
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues (*, n), ascending, of symmetric or Hermitian A (*, n, n) (torch.linalg.eigvalsh)."""
    checks.square_floats("linalg.eigvalsh", A)
    triangle = _triangle(UPLO)
    if is_wanted(A):
        return _Eigh.apply(A, triangle)[0]
    return on_host(lambda array: (eigenvalues(array, triangle),), A)[0]


def svd_arrays(array: np.ndarray, full_matrices: bool) -> tuple[np.ndarray, ...]:
    try:
        return tuple(np.linalg.svd(array, full_matrices))
    except np.linalg.LinAlgError:
        raise _not_converged("svd", array) from None


def _not_converged(name: str, array: np.ndarray) -> checks.LinAlgError:
    why = "contained non-finite values" if not np.isfinite(array).all() else "is ill-conditioned"
    return checks.LinAlgError(
        f"linalg.{name}: The algorithm failed to converge because the input matrix {why}."
    )


def singular_values(array: np.ndarray) -> np.ndarray:
    """The singular values of (count, m, n), descending: (count, min(m, n))."""
    try:
        return np.linalg.svd(array, compute_uv=False)
    except np.linalg.LinAlgError:
        raise _not_converged("svdvals", array) from None


class _SVD(PreciseFunction):
    """U, S, Vh. (Giles 2008, 3.3; Townsend 2016, "Differentiating the singular value decomposition";
    derivatives.yaml: svd_backward)"""

    @staticmethod
    def forward(ctx, a, full_matrices):
        results = on_host(lambda array: svd_arrays(array, full_matrices), a)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*results)
        return results

    @staticmethod
    def backward(ctx, of_u, of_s, of_vh):
        u, s, vh = ctx.saved_tensors
        k = s.shape[-1]
        rows, columns = u.shape[-2], vh.shape[-1]
        u, vh = u[..., :k], vh[..., :k, :]
        inner = (diagonal_matrices(of_s) if of_s is not None else diagonal_matrices(s.detach() * 0)).to(
            u.dtype
        )
        squares, phases = s * s, []
        if of_u is not None:
            of_u = of_u[..., :k]
            crossed = u.mH @ of_u
            skew = crossed - crossed.mH
            inner = inner + off_diagonal(skew, squares) * s.unsqueeze(-2)
            phases.append(skew)
            if of_vh is not None and u.is_complex():
                inner = inner + diagonal_matrices(skew.diagonal(dim1=-2, dim2=-1) / (2 * s))
        if of_vh is not None:
            of_vh = of_vh[..., :k, :]
            crossed = vh @ of_vh.mH
            skew = crossed - crossed.mH
            inner = inner + s.unsqueeze(-1) * off_diagonal(skew, squares)
            phases.append(skew)
        if phases:
            require_no_phase("svd_backward: The singular vectors", sum(phases))
        of_a = u @ inner @ vh
        if of_u is not None and rows > k:
            scaled = of_u / s.unsqueeze(-2)
            of_a = of_a + (scaled - u @ (u.mH @ scaled)) @ vh
        if of_vh is not None and columns > k:
            scaled = of_vh / s.unsqueeze(-1)
            of_a = of_a + u @ (scaled - (scaled @ vh.mH) @ vh)
        return of_a, None


@full_precision
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> SVD:
    """U (*, m, m), S (*, k), descending, and Vh (*, n, n) of A = U diag(S) Vh (torch.linalg.svd).

    A (*, m, n); k is the smaller size. U is (*, m, k) and Vh (*, k, n) with ``full_matrices=False``.
    Gradients of U and Vh are finite where no singular values are the same; RuntimeError in the backward pass
    if a loss depends on the phases of complex vectors.
    ``driver`` has to be None, as on PyTorch's CPU. LinAlgError if A is not finite.
    """
    _check_driver("svd", driver)
    checks.float_matrices("linalg.svd", A)
    return SVD(*_SVD.apply(A, full_matrices))


@full_precision
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values (*, min(m, n)), descending, of A (*, m, n) (torch.linalg.svdvals)."""
    _check_driver("svdvals", driver)
    checks.float_matrices("linalg.svdvals", A)
    if is_wanted(A):
        return _SVD.apply(A, False)[1]
    return on_host(lambda array: (singular_values(array),), A)[0]


def _check_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise ArgumentValueError(
            f"torch.linalg.{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER "
            "backend."
        )
