"""Inverses, systems of equations and determinants."""

from __future__ import annotations

import math
from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.host import on_host, one_by_one
from ocl.linalg.lu_factors import factors
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.linalg.spectral import svd

__all__ = ["det", "inv", "inv_ex", "slogdet", "solve", "solve_ex", "tensorinv", "tensorsolve"]


class InvEx(NamedTuple):
    """An inverse, and the place of the first zero on the diagonal of U, 0 if there is none."""

    inverse: Tensor
    info: Tensor


class SolveEx(NamedTuple):
    """A solution, and the place of the first zero on the diagonal of U, 0 if there is none."""

    result: Tensor
    info: Tensor


class SLogDet(NamedTuple):
    """The sign of a determinant and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


def _or_nan(function, a: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``function(a, *others)`` of NumPy's and info; of singular matrices NaN and the place of the zero."""
    try:
        return function(a, *others), np.zeros(len(a), np.int32)
    except np.linalg.LinAlgError:
        pass

    def failed(matrix, *rest):
        place = factors(matrix[None])[2][0] or np.int32(len(matrix))
        return np.full_like(rest[0] if rest else matrix, np.nan), place

    return one_by_one(lambda *matrices: (function(*matrices), np.int32(0)), failed, a, *others)


class _Inv(PreciseFunction):
    """The inverse and info. (Giles 2008, 2.2.3; derivatives.yaml: linalg_inv_ex)"""

    @staticmethod
    def forward(ctx, a, name):
        def invert(array):
            inverse, info = _or_nan(np.linalg.inv, array)
            if name:
                told = (
                    "The diagonal element {info} is zero, the inversion could not be completed because the "
                    "input matrix is singular."
                )
                checks.raise_first(name, info, a.shape[:-2], told)
            return inverse, info

        inverse, info = on_host(invert, a)
        ctx.save_for_backward(inverse)
        return inverse, info

    @staticmethod
    def backward(ctx, g, _):
        (inverse,) = ctx.saved_tensors
        return -(inverse.mH @ g @ inverse.mH), None


class _Solve(PreciseFunction):
    """X of AX = B and info. (Giles 2008, 2.3.1; derivatives.yaml: linalg_solve_backward)"""

    @staticmethod
    def forward(ctx, a, b, name):
        def solve_all(*arrays):
            x, info = _or_nan(np.linalg.solve, *arrays)
            if name:
                told = "The solver failed because the input matrix is singular."
                checks.raise_first(name, info, a.shape[:-2], told)
            return x, info

        x, info = on_host(solve_all, a, b)
        ctx.save_for_backward(a, x)
        return x, info

    @staticmethod
    def backward(ctx, g, _):
        a, x = ctx.saved_tensors
        of_b = _Solve.apply(a.mH, g, None)[0]
        return (-of_b @ x.mH if ctx.needs_input_grad[0] else None), of_b, None


@full_precision
def inv(A: Tensor) -> Tensor:
    """The inverses of A (*, n, n) (torch.linalg.inv). LinAlgError if one is singular."""
    checks.square_floats("linalg.inv", A)
    return _Inv.apply(A, "linalg.inv")[0]


@full_precision
def inv_ex(A: Tensor, *, check_errors: bool = False) -> InvEx:
    """``inv`` and ``info`` (*,), int32: 0, or the place of the first zero on the diagonal of U of A = P L U.

    A singular matrix has NaN for its inverse, which torch.linalg.inv_ex leaves open; with ``check_errors`` it
    is a LinAlgError.
    """
    checks.square_floats("linalg.inv_ex", A)
    return InvEx(*_Inv.apply(A, "linalg.inv_ex" if check_errors else None))


def _solve(name: str, told: str | None, a: Tensor, b: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    checks.tensor_argument(name, a, "A")
    checks.tensor_argument(name, b, "B")
    is_vector = checks.is_vector_side(a, b)
    b = b.unsqueeze(-1) if is_vector else b
    checks.equation(name, a, b, left)
    a, b = checks.broadcast_batches(a, b)
    if left:
        x, info = _Solve.apply(a, b, told)
    else:
        x, info = _Solve.apply(a.mT, b.mT, told)
        x = x.mT
    return (x.squeeze(-1) if is_vector else x), info


@full_precision
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A X = B, or with ``left=False`` of X A = B (torch.linalg.solve).

    A (*, n, n); B (*, n, k), or vectors (n,) or (*, n) for the batch of A; one dtype. Batches
    broadcast. LinAlgError if a matrix is singular.
    """
    return _solve("linalg.solve", "torch.linalg.solve", A, B, left)[0]


@full_precision
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> SolveEx:
    """``solve`` and ``info`` (*,), int32, as that of ``inv_ex``; a singular matrix gives NaN
    (torch.linalg.solve_ex), or with ``check_errors`` a LinAlgError."""
    told = "torch.linalg.solve_ex" if check_errors else None
    return SolveEx(*_solve("linalg.solve_ex", told, A, B, left))


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A as a map from its last dimensions, those from ``ind`` on, to its first ``ind``
    (torch.linalg.tensorinv)."""
    if ind <= 0:
        raise ArgumentValueError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    to, of = A.shape[:ind], A.shape[ind:]
    if math.prod(to) != math.prod(of):
        raise ArgumentValueError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {math.prod(of)} != {math.prod(to)}"
        )
    return inv(A.reshape(math.prod(to), math.prod(of))).reshape(*of, *to)


def tensorsolve(A: Tensor, B: Tensor, dims: tuple[int, ...] | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B (torch.linalg.tensorsolve).

    The dimensions ``dims`` of A are moved to its end before.
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    to, of = A.shape[: B.ndim], A.shape[B.ndim :]
    if math.prod(to) != math.prod(of):
        raise ArgumentValueError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {math.prod(of)} != {math.prod(to)}"
        )
    return solve(A.reshape(B.numel(), math.prod(of)), B.flatten()).reshape(*of)


class _Det(PreciseFunction):
    """det A. (Giles 2008, 2.2.4; derivatives.yaml: linalg_det_backward)

    A regular matrix has the gradient conj(det(A)) A^-H here. A singular one has ``U diag(p) V^H`` times the
    conjugates of det U and det V^H, where p has the products of the other singular values.
    """

    @staticmethod
    def forward(ctx, a):
        singular = []

        def determinants(array):
            found = np.linalg.det(array)
            singular.append(found == 0)
            return (found,)

        (result,) = on_host(determinants, a)
        ctx.singular = singular[0].reshape(result.shape) if singular[0].any() else None
        ctx.save_for_backward(a, result)
        return result

    @staticmethod
    def backward(ctx, g):
        a, result = ctx.saved_tensors
        n, factor = a.shape[-1], (g * result.conj())[..., None, None]
        if ctx.singular is None:
            return factor * inv_ex(a).inverse.mH
        like = {"dtype": a.dtype, "device": a.device}
        is_singular = _C.tensor(ctx.singular, device=a.device)[..., None, None]
        # No singular values are the same in the stand-in for regular matrices, so its gradient is finite.
        stand_in = _C.eye(n, **like) * _C.arange(1, n + 1, **like)
        regular = factor * inv_ex(_C.where(is_singular, stand_in, a)).inverse.mH
        u, s, vh = svd(_C.where(is_singular, a, stand_in))
        sign = (det(u.detach()) * det(vh.detach())).sgn().conj()
        is_diagonal = _C.eye(n, **like) == 1
        others = _C.where(is_diagonal, _C.ones_like(s).unsqueeze(-2), s.unsqueeze(-2)).prod(-1)
        cofactors = u @ ((g * sign).unsqueeze(-1) * others).unsqueeze(-1).mul(vh)
        return _C.where(is_singular, cofactors, regular)


@full_precision
def det(A: Tensor) -> Tensor:
    """The determinants (*,) of A (*, n, n) (torch.linalg.det)."""
    checks.square_floats("linalg.det", A)
    return _Det.apply(A)


class _SLogDet(PreciseFunction):
    """sign and log |det A|. (derivatives.yaml: slogdet_backward)

    The sign of a complex matrix turns by the imaginary part of tr(A^-1 dA).
    """

    @staticmethod
    def forward(ctx, a):
        sign, logarithm = on_host(lambda array: tuple(np.linalg.slogdet(array)), a)
        if not a.is_complex():
            ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(a, sign)
        return sign, logarithm

    @staticmethod
    def backward(ctx, of_sign, g):
        a, sign = ctx.saved_tensors
        factor = _C.complex(g, -(of_sign.conj() * sign).imag) if a.is_complex() else g
        return factor[..., None, None] * inv_ex(a).inverse.mH


@full_precision
def slogdet(A: Tensor) -> SLogDet:
    """The signs of the determinants of A (*, n, n) and the logarithms of their magnitudes, each (*,).

    (torch.linalg.slogdet) The sign of a complex matrix is a complex number of magnitude 1. A singular matrix
    gives 0 and minus infinity, and NaN as its gradient.
    """
    checks.square_floats("linalg.slogdet", A)
    return SLogDet(*_SLogDet.apply(A))


@full_precision
def logdet(input: Tensor) -> Tensor:
    """log det of (*, n, n), NaN where the determinant of a real matrix is negative (torch.logdet)."""
    checks.square_floats("logdet", input)
    sign, logarithm = _SLogDet.apply(input)
    if input.is_complex():
        return sign.log() + logarithm
    return _C.where(sign == -1, float("nan"), logarithm)
