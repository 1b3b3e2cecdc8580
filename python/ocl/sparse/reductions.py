"""Sums, norms and softmax of sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tensor
from ocl.sparse.coo import SparseTensor, flat_places, made, summed


def dimension(name: str, dim: int, rank: int) -> int:
    """A dimension counted from the front."""
    if not -rank <= dim < rank:
        raise ArgumentIndexError(
            f"{name}: dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got "
            f"{dim})"
        )
    return dim % rank


def _dimensions(name: str, dim: int | Sequence[int] | None, rank: int) -> list[int]:
    if dim is None:
        return list(range(rank))
    dims = [dimension(name, d, rank) for d in ([dim] if isinstance(dim, int) else dim)]
    if len(set(dims)) != len(dims):
        raise ArgumentValueError(f"{name}: a dimension appears multiple times in the list of dims {dims}")
    return dims or list(range(rank))


def sum(
    input: SparseTensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Sums over dimensions, all by default: a sparse tensor where a sparse dimension is left, which waits.

    (torch.sum, torch.sparse.sum)
    """
    _require_sparse("sum", input)
    values = input._parts.values
    is_whole = not values.dtype.is_floating_point
    values = values.to(dtype or (_C.int64 if is_whole else values.dtype))
    count = input.sparse_dim()
    dims = _dimensions("sum", dim, input.ndim)
    gone = [d for d in dims if d < count]
    inner = [d - count + 1 for d in dims if d >= count]
    if inner:
        values = values.sum(inner, keepdim)
    if len(gone) == count:
        total = values.sum(0)
        return total.reshape((1,) * count + tuple(total.shape)) if keepdim else total
    indices, sizes = input._parts.indices, input._sparse_sizes
    if keepdim:
        rows = [_C.zeros_like(indices[d]) if d in gone else indices[d] for d in range(count)]
        left = [1 if d in gone else sizes[d] for d in range(count)]
    else:
        rows = [indices[d] for d in range(count) if d not in gone]
        left = [sizes[d] for d in range(count) if d not in gone]
    was_coalesced = input.is_coalesced() and not gone
    return made(_C.stack(rows), values, (*left, *values.shape[1:]), was_coalesced).coalesce()


def _require_sparse(name: str, input: Any) -> None:
    if type(input) is not SparseTensor:
        raise ArgumentTypeError(f"{name}: expected a sparse tensor, got {type(input).__name__}")


def sparse_sum(input: SparseTensor, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Sums over dimensions, all by default: a sparse tensor where a sparse dimension is left, which waits.

    Gradients of the result flow to the values. (torch.sparse.sum)
    """
    return sum(input, dim, dtype=dtype)


def norm(
    input: SparseTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """The norm of all elements; waits for a tensor that is not coalesced. (torch.norm)"""
    if dim is not None and sorted(_dimensions("norm", dim, input.ndim)) != list(range(input.ndim)):
        raise ArgumentValueError(
            "norm: of layout ocl.sparse_coo only full reductions are there, so that 'dim' must either be "
            "empty or "
            "contain all dimensions of the input"
        )
    values = input.coalesce()._parts.values.reshape(-1)
    values = values if dtype is None else values.to(dtype)
    return _C.norm(values, 2 if p in ("fro", None) else p)


def any_(input: SparseTensor) -> Tensor:
    """Whether an element is not 0. (torch.any)"""
    return input.coalesce()._parts.values.any()


def _grouped(name: str, input: SparseTensor, dim: int, dtype: Any, is_log: bool) -> SparseTensor:
    _require_sparse(name, input)
    dim = dimension(name, dim, input.ndim)
    coalesced = input.coalesce()
    parts, sizes = coalesced._parts, coalesced._sparse_sizes
    values = parts.values if dtype is None else parts.values.to(dtype)
    if not values.dtype.is_floating_point:
        raise ArgumentTypeError(f"{name}: expected a floating-point dtype, got {values.dtype}")
    count = len(sizes)
    if dim >= count:
        along = _C.log_softmax if is_log else _C.softmax
        return coalesced._with(along(values, dim - count + 1))
    others = [d for d in range(count) if d != dim]
    if not others or parts.indices.shape[1] == 0:
        groups, number = _C.zeros(parts.indices.shape[1], dtype=_C.int64, device=values.device), 1
    else:
        # Rows without elements need no place: groups are numbered anew where there are many of them.
        rows = _C.stack([parts.indices[d] for d in others])
        groups, number = flat_places(rows, [sizes[d] for d in others]), math.prod(sizes[d] for d in others)
        if number > 4 * parts.indices.shape[1]:
            distinct, groups = _C.unique(groups, True, True)
            number = distinct.shape[0]
    lowest = _C.full((number, *values.shape[1:]), -math.inf, dtype=values.dtype, device=values.device)
    largest = _C.index_reduce(lowest, 0, groups, values.detach(), "amax")
    shifted = values - largest.index_select(0, groups)
    total = summed(shifted.exp(), groups, number).index_select(0, groups)
    return coalesced._with(shifted - total.log() if is_log else shifted.exp() / total)


def softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> SparseTensor:
    """softmax along a dimension over the elements that are there: those that are not count as -infinity.

    Waits for a tensor that is not coalesced. (torch.sparse.softmax)
    """
    return _grouped("softmax", input, dim, dtype, False)


def log_softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> SparseTensor:
    """The logarithm of ``softmax``. (torch.sparse.log_softmax)"""
    return _grouped("log_softmax", input, dim, dtype, True)
