"""Triangular systems."""

from __future__ import annotations

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host
from ocl.linalg.precision import PreciseFunction, full_precision

__all__ = ["solve_triangular"]

_ROWS_AT_ONCE = 32  # Larger systems are halved, so that most of the work is products of matrices.


def substituted(a: np.ndarray, b: np.ndarray, upper: bool, unitriangular: bool) -> np.ndarray:
    """X of AX = B by substitution; a (count, n, n), of which one triangle is read, b (count, n, k)."""
    n = a.shape[-1]
    if n <= _ROWS_AT_ONCE:
        return _by_rows(a, b, upper, unitriangular)
    first, second = slice(0, n // 2), slice(n // 2, n)
    if upper:
        first, second = second, first
    x = np.empty_like(b)
    x[:, first] = substituted(a[:, first, first], b[:, first], upper, unitriangular)
    rest = b[:, second] - a[:, second, first] @ x[:, first]
    x[:, second] = substituted(a[:, second, second], rest, upper, unitriangular)
    return x


def _by_rows(a: np.ndarray, b: np.ndarray, upper: bool, unitriangular: bool) -> np.ndarray:
    n, x = a.shape[-1], b.copy()
    for i in reversed(range(n)) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        x[:, i] -= (a[:, i : i + 1, known] @ x[:, known])[:, 0]
        if not unitriangular:
            x[:, i] /= a[:, i, i, None]
    return x


class _SolveTriangular(PreciseFunction):
    """X of AX = B. (Giles 2008, 2.3.1; derivatives.yaml: linalg_solve_triangular)"""

    @staticmethod
    def forward(ctx, a, b, upper, unitriangular):
        (x,) = on_host(lambda *arrays: (substituted(*arrays, upper, unitriangular),), a, b)
        ctx.save_for_backward(a, x)
        ctx.triangle = upper, unitriangular
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        upper, unitriangular = ctx.triangle
        of_b = _SolveTriangular.apply(a.mH, g, not upper, unitriangular)
        of_a = None
        if ctx.needs_input_grad[0]:
            outside = 1 if unitriangular else 0
            of_a = -of_b @ x.mH
            of_a = _C.triu(of_a, outside) if upper else _C.tril(of_a, -outside)
        return of_a, of_b, None, None


@full_precision
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X of AX = B, or with ``left=False`` of XA = B, for triangular A (torch.linalg.solve_triangular).

    A (*, n, n) and B (*, n, k), or (*, k, n) with ``left=False``, of one dtype, float32 or float64; batches
    broadcast. The other triangle is not read, nor is the diagonal with ``unitriangular``, which counts as
    ones. A zero on the diagonal gives infinities and NaN, no error.
    """
    checks.equation("linalg.solve_triangular", A, B, left)
    a, b = checks.broadcast_batches(A, B)
    if left:
        return _SolveTriangular.apply(a, b, upper, unitriangular)
    return _SolveTriangular.apply(a.mT, b.mT, not upper, unitriangular).mT
