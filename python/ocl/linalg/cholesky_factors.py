"""Cholesky factors, and what is computed of them."""

from __future__ import annotations

import bisect
from typing import NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host, one_by_one
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.triangular import solve_triangular

__all__ = ["cholesky", "cholesky_ex"]


class CholeskyEx(NamedTuple):
    """A factor, and the order of the first leading minor that is not positive-definite, 0 if all are."""

    L: Tensor
    info: Tensor


def _lower_factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        return np.linalg.cholesky(a), np.zeros(len(a), np.int32)
    except np.linalg.LinAlgError:
        return one_by_one(
            lambda matrix: (np.linalg.cholesky(matrix), np.int32(0)),
            lambda matrix: (np.full_like(matrix, np.nan), np.int32(_failing_order(matrix))),
            a,
        )


def _failing_order(matrix: np.ndarray) -> int:
    """The order of the first leading minor that is not positive-definite."""

    def fails(order: int) -> bool:
        try:
            np.linalg.cholesky(matrix[:order, :order])
        except np.linalg.LinAlgError:
            return True
        return False

    return 1 + bisect.bisect_left(range(1, len(matrix) + 1), True, key=fails)


class _Cholesky(PreciseFunction):
    """The lower factor, of the upper triangle on request. (Murray 2016, "Differentiation of the Cholesky
    decomposition", eq. 10; derivatives.yaml: cholesky_backward)"""

    @staticmethod
    def forward(ctx, a, name, upper):
        def factor(array):
            lower, info = _lower_factors(array.swapaxes(1, 2).conj() if upper else array)
            if name:
                checks.raise_first(
                    name,
                    info,
                    a.shape[:-2],
                    "The factorization could not be completed because the input is not positive-definite "
                    "(the leading minor of order {info} is not positive-definite).",
                )
            return lower, info

        lower, info = on_host(factor, a)
        ctx.save_for_backward(lower)
        return lower, info

    @staticmethod
    def backward(ctx, g, _):
        (lower,) = ctx.saved_tensors
        phi = _C.tril(lower.mH @ g)
        symmetric = 0.5 * (phi + _C.tril(phi, -1).mH)
        left = solve_triangular(lower.mH, symmetric, upper=True)
        return solve_triangular(lower, left, upper=False, left=False), None, None


def cholesky_factor(name: str, a: Tensor, upper: bool, must_succeed: bool) -> tuple[Tensor, Tensor]:
    """The factor and info; ``name`` is the caller's, for errors."""
    checks.square_floats(name, a)
    factor, info = _Cholesky.apply(a, name if must_succeed else None, upper)
    return (factor.mH if upper else factor), info


@full_precision
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower L of A = L L^H, or with ``upper`` the upper U of A = U^H U (torch.linalg.cholesky).

    A (*, n, n), symmetric or Hermitian, of which the lower (upper) triangle alone is read. LinAlgError if a
    matrix is not positive-definite.
    """
    return cholesky_factor("linalg.cholesky", A, upper, True)[0]


@full_precision
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyEx:
    """``cholesky`` and ``info`` (*,), int32 (torch.linalg.cholesky_ex).

    ``info`` is 0, or the order of the leading minor that is not positive-definite. The factor of such a
    matrix is NaN, which PyTorch leaves open; with ``check_errors`` it is a LinAlgError.
    """
    return CholeskyEx(*cholesky_factor("linalg.cholesky_ex", A, upper, check_errors))


@full_precision
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X of A X = ``input`` (*, n, k), where ``input2`` (*, n, n) is the Cholesky factor of A, the upper one
    with ``upper`` (torch.cholesky_solve)."""
    checks.equation("cholesky_solve", input2, input, True)
    lower = input2.mH if upper else input2
    return solve_triangular(lower.mH, solve_triangular(lower, input, upper=False), upper=True)


@full_precision
def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is ``input`` (*, n, n) (torch.cholesky_inverse).

    Gradients are those of the triangle that is read; PyTorch's fill the other one too.
    """
    checks.square_floats("cholesky_inverse", input)
    lower = input.mH if upper else input
    identity = _C.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device)
    root = solve_triangular(lower, identity, upper=False)
    return root.mH @ root
