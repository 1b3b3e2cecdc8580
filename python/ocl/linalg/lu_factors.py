"""LU factors with partial pivoting, and what is computed of them."""

from __future__ import annotations

from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.triangular import solve_triangular, substituted

__all__ = ["lu", "lu_factor", "lu_factor_ex", "lu_solve"]

_COLUMNS_AT_ONCE = 16  # Wider matrices are halved, so that most of the work is products of matrices.


class LU(NamedTuple):
    """A = P L U."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactor(NamedTuple):
    """L and U in one matrix, and the rows that were swapped, counted from 1 (int32)."""

    LU: Tensor
    pivots: Tensor


class LUFactorEx(NamedTuple):
    """LUFactor, and the place of the first zero on the diagonal of U, counted from 1, 0 if there is none."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


def _swap_rows(a: np.ndarray, pivots: np.ndarray) -> None:
    batch = np.arange(len(a))
    for j, rows in enumerate(pivots.T):
        moved = a[batch, rows]
        a[batch, rows] = a[:, j]
        a[:, j] = moved


def _factor_in_place(a: np.ndarray) -> np.ndarray:
    """Makes LU of a (count, m, n); the row, counted from 0, that each row was swapped with."""
    rows, columns = a.shape[1:]
    if columns <= _COLUMNS_AT_ONCE or rows == 0:
        return _factor_columns(a)
    half = min(columns // 2, rows)
    first = _factor_in_place(a[:, :, :half])
    _swap_rows(a[:, :, half:], first)
    a[:, :half, half:] = substituted(a[:, :half, :half], a[:, :half, half:], False, True)
    a[:, half:, half:] -= a[:, half:, :half] @ a[:, :half, half:]
    second = _factor_in_place(a[:, half:, half:])
    _swap_rows(a[:, half:, :half], second)
    return np.concatenate([first, second + half], axis=1)


def _sizes(a: np.ndarray) -> np.ndarray:
    """The magnitudes by which LAPACK chooses a pivot: of complex numbers the sum of those of the parts."""
    return np.abs(a.real) + np.abs(a.imag) if np.iscomplexobj(a) else np.abs(a)


def _factor_columns(a: np.ndarray) -> np.ndarray:
    steps = min(a.shape[1:])
    pivots = np.zeros((len(a), steps), np.int64)
    for j in range(steps):
        pivots[:, j] = _sizes(a[:, j:, j]).argmax(axis=1)
        _swap_rows(a[:, j:], pivots[:, j : j + 1])
        pivots[:, j] += j
        pivot = a[:, j, j, None]
        a[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)
        a[:, j + 1 :, j + 1 :] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 :]
    return pivots


def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """LU, pivots and info of a (count, m, n), as LAPACK's getrf has them."""
    a = np.array(a, order="C")
    pivots = _factor_in_place(a)
    zeros = np.diagonal(a, axis1=1, axis2=2) == 0
    info = np.where(zeros.any(axis=1), zeros.argmax(axis=1) + 1, 0) if zeros.shape[1] else np.zeros(len(a))
    return a, pivots.astype(np.int32) + np.int32(1), info.astype(np.int32)


def _permutation(pivots: np.ndarray, rows: int) -> np.ndarray:
    """The rows of A in the order of those of LU: (count, rows)."""
    order = np.tile(np.arange(rows), (len(pivots), 1))
    _swap_rows(order, pivots - 1)
    return order


def _unpacked(lu: Tensor) -> tuple[Tensor, Tensor]:
    """L (*, m, k) and U (*, k, n) of LU (*, m, n)."""
    rows, columns = lu.shape[-2:]
    steps = min(rows, columns)
    ones = _C.eye(rows, steps, dtype=lu.dtype, device=lu.device)
    return _C.tril(lu[..., :steps], -1) + ones, _C.triu(lu[..., :steps, :])


def _order(pivots: Tensor, rows: int) -> Tensor:
    """``_permutation`` of a tensor: (*, rows), int64."""
    (order,) = on_host(lambda array: (_permutation(array[:, 0], rows),), pivots.unsqueeze(-2))
    return order


def _permuted(order: Tensor, x: Tensor) -> Tensor:
    """The rows of x (*, m, n) in an order (*, m)."""
    return _C.take_along_dim(x, order.unsqueeze(-1).expand(*x.shape), -2)


class _LUFactor(PreciseFunction):
    """LU, pivots and info. (derivatives.yaml: lu_factor_ex_backward)"""

    @staticmethod
    def forward(ctx, a, name):
        def factor(array):
            result = factors(array)
            if name:
                checks.raise_first(
                    name,
                    result[2],
                    a.shape[:-2],
                    "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. "
                    "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                    "linalg.lu_factor_ex(A, pivot)",
                )
            return result

        results = on_host(factor, a)
        ctx.save_for_backward(*results[:2])
        return results

    @staticmethod
    def backward(ctx, g, _pivots, _info):
        packed, pivots = ctx.saved_tensors
        rows, columns = packed.shape[-2:]
        k = min(rows, columns)
        lower, upper = _unpacked(packed)
        of_lower, of_upper = _C.tril(g[..., :k], -1), _C.triu(g[..., :k, :])
        square_lower, square_upper = lower[..., :k, :], upper[..., :k]
        below = _C.tril(square_lower.mH @ of_lower[..., :k, :], -1)
        above = _C.triu(of_upper[..., :k] @ square_upper.mH)
        if columns > k:
            below = below - _C.tril(of_upper[..., k:] @ upper[..., k:].mH, -1)
        if rows > k:
            above = above - _C.triu(lower[..., k:, :].mH @ of_lower[..., k:, :])
        of_a = solve_triangular(square_upper.mH, below + above, upper=False, left=False)
        if columns > k:
            of_a = _C.cat([of_a, of_upper[..., k:]], -1)
        of_a = solve_triangular(square_lower.mH, of_a, upper=True, unitriangular=True)
        if rows > k:
            rest = solve_triangular(square_upper.mH, of_lower[..., k:, :], upper=False, left=False)
            of_a = _C.cat([of_a, rest], -2)
        return _permuted(_C.argsort(_order(pivots, rows), -1), of_a), None


def _check_pivoting(name: str, pivot: bool) -> None:
    if not pivot:
        raise ArgumentValueError(f"{name}: LU without pivoting is not implemented on the host")


@full_precision
def lu_factor(A: Tensor, *, pivot: bool = True) -> LUFactor:
    """L without its ones and U in one matrix (*, m, n), and pivots (*, min(m, n)), int32, counted from 1
    (torch.linalg.lu_factor).

    A (*, m, n), float32 or float64. LinAlgError where U has a zero on its diagonal.
    """
    _check_pivoting("linalg.lu_factor", pivot)
    checks.float_matrices("torch.linalg.lu_factor", A)
    return LUFactor(*_LUFactor.apply(A, "torch.linalg.lu_factor")[:2])


@full_precision
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> LUFactorEx:
    """``lu_factor`` and ``info`` (*,), int32 (torch.linalg.lu_factor_ex).

    ``info`` is the place, counted from 1, of the first zero on the diagonal of U, or 0. With ``check_errors``
    such a zero is a LinAlgError.
    """
    _check_pivoting("linalg.lu_factor_ex", pivot)
    checks.float_matrices("torch.linalg.lu_factor_ex", A)
    return LUFactorEx(*_LUFactor.apply(A, "torch.linalg.lu_factor_ex" if check_errors else None))


@full_precision
def lu(A: Tensor, *, pivot: bool = True) -> LU:
    """P (*, m, m), L (*, m, k) and U (*, k, n) of A = P L U (torch.linalg.lu).

    A (*, m, n), float32 or float64; k is the smaller size.
    """
    _check_pivoting("linalg.lu", pivot)
    checks.float_matrices("torch.linalg.lu", A)
    packed, pivots, _ = _LUFactor.apply(A, None)
    return lu_unpack(packed, pivots)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> LU:
    """P, L and U of what ``lu_factor`` gives; what is not unpacked is empty (torch.lu_unpack)."""
    checks.float_matrices("torch.lu_unpack", LU_data, "LU_data")
    if unpack_pivots and LU_pivots.dtype != _C.int32:
        raise ArgumentTypeError(
            f"torch.lu_unpack: LU_pivots is expected to be a tensor of int32, got {LU_pivots.dtype}"
        )
    like = {"dtype": LU_data.dtype, "device": LU_data.device}
    swaps = lower = upper = _C.empty([0], **like)
    if unpack_pivots:
        rows = LU_data.shape[-2]
        order = _order(LU_pivots, rows)
        swaps = (_C.arange(rows, device=order.device).unsqueeze(-1) == order.unsqueeze(-2)).to(LU_data.dtype)
    if unpack_data:
        lower, upper = _unpacked(LU_data)
    return LU(swaps, lower, upper)


@full_precision
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of A X = B for the A of which ``lu_factor`` gave ``LU`` and ``pivots`` (torch.linalg.lu_solve).

    B (*, n, k), or for X A = B with ``left=False`` (*, k, n). With ``adjoint`` A^H takes the place of A.
    Batches broadcast.
    """
    checks.equation("linalg.lu_solve", LU, B, left)
    if pivots.dtype != _C.int32:
        raise ArgumentTypeError("linalg.lu_solve: pivots should be a Tensor of scalar type ocl.int32")
    if pivots.shape != LU.shape[:-1]:
        raise ArgumentValueError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    order = _order(pivots, LU.shape[-1])
    batch = np.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    order = order.expand(*batch, order.shape[-1])
    b = B.expand(*batch, *B.shape[-2:])
    if adjoint:
        x = solve_triangular(LU.mH, b, upper=False)
        x = solve_triangular(LU.mH, x, upper=True, unitriangular=True)
        return _permuted(_C.argsort(order, -1), x)
    x = solve_triangular(LU, _permuted(order, b), upper=False, unitriangular=True)
    return solve_triangular(LU, x, upper=True)
