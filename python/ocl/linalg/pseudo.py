"""Pseudo-inverses, ranks and least squares."""

from __future__ import annotations

from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.spectral import eigenvalues, eigh_arrays, singular_values, svd_arrays
from ocl.shapes import is_shapes_only

__all__ = ["lstsq", "matrix_rank", "pinv"]

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


class LstSq(NamedTuple):
    """A solution of least squares, and what is known of it; empty tensors stand for what is not computed."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class _Bounds:
    """Below which singular values count as 0: max(atol, rtol * the largest one)."""

    def __init__(self, a: Tensor, atol: Tensor | float | None, rtol: Tensor | float | None) -> None:
        self.batch = tuple(a.shape[:-2])
        if rtol is None:
            rtol = np.finfo(str(a.dtype).removeprefix("ocl.")).eps * max(a.shape[-2:])
            if atol is not None:
                rtol = np.where(self._numbers(atol) > 0, 0.0, rtol)
        self.atol, self.rtol = self._numbers(0.0 if atol is None else atol), self._numbers(rtol)

    def _numbers(self, given: Tensor | float | np.ndarray) -> np.ndarray:
        """float64 numbers that broadcast to the batch, one a matrix: (count,)."""
        if isinstance(given, Tensor):
            given = np.zeros(given.shape) if is_shapes_only() else given.numpy(force=True)
        given = np.asarray(given, np.float64)
        if given.shape == self.batch or given.size == 1:
            return given.reshape(-1)
        return np.broadcast_to(given, self.batch).reshape(-1)

    def kept(self, magnitudes: np.ndarray) -> np.ndarray:
        """Which of the magnitudes (count, k) count."""
        if not magnitudes.size:
            return np.zeros(magnitudes.shape, bool)
        least = np.maximum(self.atol, self.rtol * magnitudes.max(axis=1))
        return magnitudes > least[:, None]


def _inverted(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    return np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)


def _adjoint(matrices: np.ndarray) -> np.ndarray:
    return matrices.swapaxes(1, 2).conj()


def _pseudo_inverses(a: np.ndarray, bounds: _Bounds, hermitian: bool) -> tuple[np.ndarray]:
    if hermitian:
        values, vectors = eigh_arrays(a, "L")
        left, right = vectors, _adjoint(vectors)
    else:
        u, values, vh = svd_arrays(a, False)
        left, right = _adjoint(vh), _adjoint(u)
    inverses = _inverted(values, bounds.kept(np.abs(values)))
    return ((left * inverses[:, None, :]) @ right,)


class _Pinv(PreciseFunction):
    """The pseudo-inverse. (Golub & Pereyra 1973; derivatives.yaml: pinv_backward)"""

    @staticmethod
    def forward(ctx, a, bounds, hermitian):
        (inverse,) = on_host(lambda array: _pseudo_inverses(array, bounds, hermitian), a)
        ctx.save_for_backward(a, inverse)
        return inverse

    @staticmethod
    def backward(ctx, g):
        a, inverse = ctx.saved_tensors
        return _pinv_backward(g, inverse, a), None, None


def _pinv_backward(g: Tensor, inverse: Tensor, a: Tensor) -> Tensor:
    inverse_h, g_h = inverse.mH, g.mH
    if a.shape[-2] <= a.shape[-1]:
        k = g_h @ inverse
        k_inverse = k @ inverse_h
        return (
            -(inverse @ k).mH + k_inverse - a @ (inverse @ k_inverse) + (inverse_h @ inverse) @ (g_h - k @ a)
        )
    k = inverse @ g_h
    inverse_k = inverse_h @ k
    return -(k @ inverse).mH + (g_h - a @ k) @ (inverse @ inverse_h) + inverse_k - (inverse_k @ inverse) @ a


@full_precision
def pinv(
    A: Tensor,
    rcond: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
) -> Tensor:
    """The pseudo-inverses (*, n, m) of A (*, m, n) (torch.linalg.pinv).

    Singular values of at most max(atol, rtol * the largest) count as 0; rtol is by default eps * max(m, n),
    or 0 where atol > 0 is given. Tolerances are numbers, or tensors that broadcast to the batch; ``rcond`` is
    the old name of rtol. With ``hermitian`` A is symmetric or Hermitian, and its lower triangle is read.
    """
    checks.float_matrices("linalg.pinv", A)
    if hermitian:
        checks.square("linalg.pinv", A)
    return _Pinv.apply(A, _Bounds(A, atol, rtol if rcond is None else rcond), hermitian)


@full_precision
def matrix_rank(
    A: Tensor,
    tol: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
) -> Tensor:
    """How many singular values of A (*, m, n) count: (*,), int64 (torch.linalg.matrix_rank).

    Tolerances as those of ``pinv``; ``tol`` is atol with an rtol of 0. With ``hermitian`` A is symmetric
    or Hermitian.
    """
    checks.float_matrices("torch.linalg.matrix_rank", A, "input")
    if hermitian:
        checks.square("linalg.matrix_rank", A)
    bounds = _Bounds(A, atol, rtol) if tol is None else _Bounds(A, tol, 0.0)

    def ranks(array):
        values = np.abs(eigenvalues(array, "L")) if hermitian else singular_values(array)
        return (bounds.kept(values).sum(axis=1, dtype=np.int64),)

    return on_host(ranks, A)[0]


class _LstSq(PreciseFunction):
    """The solution, rank and singular values. (derivatives.yaml: linalg_lstsq_backward)"""

    @staticmethod
    def forward(ctx, a, b, bounds):
        def solutions(array, right):
            u, s, vh = svd_arrays(array, False)
            kept = bounds.kept(s)
            x = _adjoint(vh) @ (_inverted(s, kept)[..., None] * (_adjoint(u) @ right))
            return x, kept.sum(axis=1, dtype=np.int64), s

        results = on_host(solutions, a, b)
        ctx.save_for_backward(a, b)
        ctx.mark_non_differentiable(results[2])
        return results

    @staticmethod
    def backward(ctx, g, _rank, _values):
        a, b = ctx.saved_tensors
        inverse = pinv(a)
        of_a = _pinv_backward(g @ b.mH, inverse, a) if ctx.needs_input_grad[0] else None
        return of_a, inverse.mH @ g, None


def _are_full(rank: Tensor, columns: int) -> bool:
    return is_shapes_only() or bool((rank == columns).all())


@full_precision
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LstSq:
    """X of the least norm that makes ||A X - B|| least (torch.linalg.lstsq).

    A (*, m, n); B (*, m, k), or vectors (m,) or (*, m) for the batch of A; one dtype.
    Batches broadcast. Every ``driver`` computes by singular values, of which those up to ``rcond`` (by
    default eps * max(m, n)) times the largest count as 0.

    The driver says which results are not empty: ``rank`` but for "gels", ``singular_values`` for "gelsd" and
    "gelss", ``residuals`` (*, k) but for None and "gelsy". Residuals are there for m > n alone, and if each A
    has the rank n.
    """
    name = "torch.linalg.lstsq"
    checks.float_matrices(name, A, "input")
    checks.tensor_argument(name, B, "other")
    if driver is not None and driver not in _DRIVERS:
        raise ArgumentValueError(f"{name}: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    if A.dtype != B.dtype:
        raise ArgumentTypeError(
            f"{name}: Expected input and other to have the same dtype, but got {A.dtype} and {B.dtype}"
        )
    is_vector = checks.is_vector_side(A, B)
    b = B.unsqueeze(-1) if is_vector else B
    if b.ndim < 2 or A.shape[-2] != b.shape[-2]:
        size = "-1" if is_vector else "-2"
        raise ArgumentValueError(f"{name}: input.size(-2) should match other.size({size})")
    a, b = checks.broadcast_batches(A, b)
    rows, columns = a.shape[-2:]
    x, rank, values = _LstSq.apply(a, b, _Bounds(a, None, rcond))
    nothing = _C.empty([0], dtype=a.dtype.to_real(), device=a.device)
    residuals = nothing
    if driver not in (None, "gelsy") and rows > columns and _are_full(rank, columns):
        residuals = (a @ x - b).abs().square().sum(-2)
    if driver == "gels":
        rank = nothing.to(_C.int64)
    if driver not in ("gelsd", "gelss"):
        values = nothing
    return LstSq(x.squeeze(-1) if is_vector else x, residuals, rank, values)
