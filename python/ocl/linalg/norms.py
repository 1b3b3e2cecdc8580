"""Norms of matrices and condition numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ocl import _C
from ocl._C import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tensor, dtype, vector_norm
from ocl.linalg import checks
from ocl.linalg.inverse import inv_ex
from ocl.linalg.precision import full_precision
from ocl.linalg.spectral import svdvals
from ocl.numpy_names import takes_numpy_names

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]

_ORDERS = ("fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2)


def _extreme(values: Tensor, largest: bool, dim: int, keepdim: bool) -> Tensor:
    """The largest, 0 of none, or the smallest, along ``dim``."""
    if largest and values.shape[dim] == 0:
        return values.sum(dim, keepdim)
    if values.shape[dim] == 0:
        raise ArgumentIndexError(f"amin(): Expected reduction dim {dim} to have non-zero size.")
    return values.amax(dim, keepdim) if largest else values.amin(dim, keepdim)


def _dims(name: str, A: Tensor, dim: int | Sequence[int]) -> tuple[int, int]:
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise ArgumentValueError(f"{name}: dim must be a 2-tuple. Got {', '.join(map(str, dims))}")
    for d in dims:
        if not -A.ndim <= d < A.ndim:
            raise ArgumentIndexError(
                f"Dimension out of range (expected to be in range of [{-A.ndim}, {A.ndim - 1}], but got {d})"
            )
    rows, columns = (d % A.ndim for d in dims)
    if rows == columns:
        raise ArgumentValueError(f"{name}: dims must be different. Got ({dims[0]}, {dims[1]})")
    return rows, columns


@takes_numpy_names
def matrix_norm(
    A: Tensor,
    ord: str | float = "fro",
    dim: int | Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Norms of the matrices that two dimensions of A are (torch.linalg.matrix_norm).

    - ``ord="fro"``: the root of the sum of squares.
    - ``"nuc"``: the sum of the singular values; ``2`` and ``-2``: the largest and the smallest of them. These
      take no 16-bit dtypes, and are computed on the host.
    - ``1`` and ``-1``: the largest and the smallest sum of magnitudes of a column; ``inf`` and ``-inf``: of a
      row.

    A is first converted to ``dtype``.
    """
    name = "linalg.matrix_norm"
    checks.matrices(name, A)
    if not (A.is_floating_point() or A.is_complex()):
        raise ArgumentTypeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype}"
        )
    if ord not in _ORDERS:
        raise ArgumentValueError(f"{name}: Order {ord} not supported.")
    rows, columns = _dims(name, A, dim)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if dtype is not None:
        if _C.promote_types(A.dtype, dtype) != dtype:
            raise ArgumentTypeError(
                f"{name}: the dtype of the input ({A.dtype}) should be convertible without narrowing to the "
                f"specified dtype ({dtype})"
            )
        A = A.to(dtype)
    if ord in ("nuc", 2, -2):
        checks.float_matrices(name, A)
        values = svdvals(A.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else _extreme(values, ord > 0, -1, False)
    else:
        added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
        result = _extreme(A.abs().sum(added, True), ord > 0, compared, True).squeeze((rows, columns))
    if keepdim:
        for d in sorted((rows, columns)):
            result = result.unsqueeze(d)
    return result


@takes_numpy_names
def norm(
    A: Tensor,
    ord: str | float | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """A norm of vectors or matrices (torch.linalg.norm).

    Two dimensions in ``dim``, or ``ord`` and a matrix without ``dim``, give ``matrix_norm``; all else gives
    ``vector_norm``, without ``ord`` that of order 2 of all elements.
    """
    dims = None if dim is None else ((dim,) if isinstance(dim, int) else tuple(dim))
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if dims is not None and len(dims) not in (1, 2):
        raise ArgumentValueError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
        )
    if dims is None and A.ndim not in (1, 2):
        raise ArgumentValueError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    is_matrix = A.ndim == 2 if dims is None else len(dims) == 2
    if is_matrix or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


@full_precision
def cond(A: Tensor, p: str | float | None = None) -> Tensor:
    """The condition numbers (*,) of A (*, m, n) (torch.linalg.cond).

    ``p`` None or 2: the largest singular value over the smallest; -2: the inverse of that. The other orders
    of ``matrix_norm``, for square matrices: the norm times that of the inverse, and infinite for singular
    matrices.
    """
    checks.float_matrices("linalg.cond", A)
    if p is None or p in (2, -2):
        values = svdvals(A)
        if values.shape[-1] == 0:
            return values.sum(-1)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    if p not in _ORDERS:
        raise ArgumentValueError(f"linalg.cond got an invalid norm type: {p}")
    checks.square(f"linalg.cond(ord={p})", A)
    if A.shape[-1] == 0:
        return A.sum((-2, -1))
    inverse, info = inv_ex(A)
    is_singular = info > 0
    regular = _C.where(is_singular[..., None, None], _C.ones_like(inverse), inverse)
    return _C.where(is_singular, math.inf, matrix_norm(A, p) * matrix_norm(regular, p))
