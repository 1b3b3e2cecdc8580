"""Parts of sparse tensors, other orders of their dimensions, and tensors of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tensor
from ocl.sparse.coo import Parts, SparseTensor, made
from ocl.sparse.products import repeated
from ocl.sparse.reductions import dimension


def _resized(input: SparseTensor, dim: int, size: int) -> tuple[int, ...]:
    shape = list(input.shape)
    shape[dim] = size
    return tuple(shape)


def _kept(parts: Parts, kept: Tensor) -> Parts:
    return Parts(parts.indices.index_select(1, kept), parts.values.index_select(0, kept), parts.is_coalesced)


def _replaced(indices: Tensor, dim: int, row: Tensor) -> Tensor:
    return _C.cat([indices[:dim], row.unsqueeze(0), indices[dim + 1 :]], 0)


def index_select(input: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """The entries of a dimension that `index` names; waits for their number. (torch.index_select)"""
    dim = dimension("index_select", dim, input.ndim)
    if type(index) is SparseTensor or index.ndim > 1 or index.dtype not in (_C.int64, _C.int32):
        raise ArgumentTypeError("index_select: expected a dense vector of int64 or int32 as index")
    index = index.reshape(-1).to(_C.int64)
    parts, count = input._parts, input.sparse_dim()
    shape = _resized(input, dim, index.shape[0])
    if dim >= count:
        return made(
            parts.indices, parts.values.index_select(dim - count + 1, index), shape, parts.is_coalesced
        )
    size = input.shape[dim]
    if index.shape[0] and not bool(((index >= 0) & (index < size)).all()):
        raise ArgumentIndexError(
            f"index_select: index contains a number that is out of range for tensor of size "
            f"{list(input.shape)} "
            f"at dimension {dim}"
        )
    asked, order = _C.sort(index)
    row = parts.indices[dim].contiguous()
    first = _C.searchsorted(asked, row)
    counts = _C.searchsorted(asked, row, right=True) - first
    element = repeated(counts)
    before = counts.cumsum(0) - counts
    position = _C.arange(element.shape[0], device=element.device) + (first - before).index_select(0, element)
    chosen = _kept(parts, element)
    indices = _replaced(chosen.indices, dim, order.index_select(0, position))
    return made(indices, chosen.values, shape, False)


def narrow_copy(input: SparseTensor, dim: int, start: int, length: int) -> SparseTensor:
    """The entries start to start + length of a dimension; waits for their number. (torch.narrow_copy)"""
    dim = dimension("narrow_copy", dim, input.ndim)
    size = input.shape[dim]
    start = start + size if start < 0 else start
    if not 0 <= start <= start + length <= size:
        raise ArgumentValueError(
            f"narrow_copy: Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
            f"{size})."
        )
    parts, count = input._parts, input.sparse_dim()
    shape = _resized(input, dim, length)
    if dim >= count:
        values = parts.values.narrow(dim - count + 1, start, length)
        return made(parts.indices, values, shape, parts.is_coalesced)
    row = parts.indices[dim]
    chosen = _kept(parts, _C.nonzero((row >= start) & (row < start + length))[:, 0])
    indices = _replaced(chosen.indices, dim, chosen.indices[dim] - start)
    return made(indices, chosen.values, shape, parts.is_coalesced)


def select(input: SparseTensor, dim: int, index: int) -> Tensor:
    """Entry `index` of a dimension: a dense tensor where no sparse dimension is left. Waits for the number of
    its elements. (torch.select)
    """
    dim = dimension("select", dim, input.ndim)
    size = input.shape[dim]
    if not -size <= index < size:
        raise ArgumentIndexError(
            f"select: index {index} out of range for tensor of size {tuple(input.shape)}"
        )
    index %= size
    parts, count = input._parts, input.sparse_dim()
    shape = tuple(n for d, n in enumerate(input.shape) if d != dim)
    if dim >= count:
        return made(parts.indices, parts.values.select(dim - count + 1, index), shape, parts.is_coalesced)
    chosen = _kept(parts, _C.nonzero(_C.eq(parts.indices[dim], index))[:, 0])
    if count == 1:
        return chosen.values.sum(0)
    indices = _C.cat([chosen.indices[:dim], chosen.indices[dim + 1 :]], 0)
    return made(indices, chosen.values, shape, parts.is_coalesced)


def get_item(self: SparseTensor, items: Any) -> Tensor:
    """Entries by numbers, full slices and ``...``; others are refused."""
    result, dim = self, 0
    items = items if isinstance(items, tuple) else (items,)
    if items.count(...) > 1:
        raise ArgumentIndexError("an index can only have a single ellipsis ('...')")
    for position, item in enumerate(items):
        if item is ...:
            dim = result.ndim - (len(items) - position - 1)
        elif isinstance(item, slice) and item == slice(None):
            dim += 1
        elif isinstance(item, int) and not isinstance(item, bool):
            result = result.select(dim, item)
        else:
            raise ArgumentTypeError(
                f"indexing a tensor of layout ocl.sparse_coo takes numbers and full slices, got "
                f"{type(item).__name__}; index_select and narrow_copy take parts"
            )
    return result


def iterate(self: SparseTensor) -> Iterator[Tensor]:
    """The entries of the first dimension."""
    if self.ndim == 0:
        raise ArgumentTypeError("iteration over a 0-d tensor")
    return (self.select(0, i) for i in range(self.shape[0]))


def permute(input: SparseTensor, *dims: Any) -> SparseTensor:
    """The dimensions in another order, in which sparse and dense ones stay apart. (torch.permute)"""
    given = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    order = [dimension("permute", d, input.ndim) for d in given]
    if sorted(order) != list(range(input.ndim)):
        raise ArgumentValueError(f"permute: expected each of {input.ndim} dimensions once, got {given}")
    parts, count = input._parts, input.sparse_dim()
    if any(d >= count for d in order[:count]):
        raise ArgumentValueError(
            f"permute: of layout ocl.sparse_coo the {count} sparse dimensions stay before the dense ones, "
            f"got "
            f"{given}"
        )
    is_moved = order[:count] != list(range(count))
    indices = _C.stack([parts.indices[d] for d in order[:count]]) if is_moved else parts.indices
    values = parts.values.permute(0, *(d - count + 1 for d in order[count:]))
    shape = tuple(input.shape[d] for d in order)
    return made(indices, values, shape, parts.is_coalesced and not is_moved)


def transpose(input: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Two dimensions swapped, both sparse or both dense. (torch.transpose)"""
    order = list(range(input.ndim))
    first, second = (dimension("transpose", d, input.ndim) for d in (dim0, dim1))
    order[first], order[second] = second, first
    return permute(input, order)


def t(input: SparseTensor) -> SparseTensor:
    """A sparse matrix transposed. (torch.t)"""
    if input.ndim > 2 or input.dense_dim():
        raise ArgumentValueError(
            f"t: expected at most 2 sparse and no dense dimensions, got {input.sparse_dim()} and "
            f"{input.dense_dim()}"
        )
    return input if input.ndim < 2 else permute(input, 1, 0)


def unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    """One dimension of size 1 more. (torch.unsqueeze)"""
    dim = dimension("unsqueeze", dim, input.ndim + 1)
    parts, count = input._parts, input.sparse_dim()
    shape = list(input.shape)
    shape.insert(dim, 1)
    if dim > count:
        return made(parts.indices, parts.values.unsqueeze(dim - count + 1), shape, parts.is_coalesced)
    row = _C.zeros((1, parts.indices.shape[1]), dtype=_C.int64, device=parts.indices.device)
    indices = _C.cat([parts.indices[:dim], row, parts.indices[dim:]], 0)
    return made(indices, parts.values, shape, parts.is_coalesced)


def _check_list(name: str, tensors: Sequence[Tensor]) -> None:
    for position, tensor in enumerate(tensors):
        if type(tensor) is not SparseTensor:
            raise ArgumentTypeError(
                f"{name}: Concatenating sparse tensors, but a dense tensor was found at position {position}."
            )
    first = tensors[0]
    for tensor in tensors:
        if tensor.ndim != first.ndim or tensor.sparse_dim() != first.sparse_dim():
            raise ArgumentValueError(
                f"{name}: expected tensors of the same numbers of sparse and dense dimensions, got "
                f"{first.sparse_dim()} and {first.dense_dim()}, {tensor.sparse_dim()} and "
                f"{tensor.dense_dim()}"
            )


def cat(tensors: Sequence[Tensor], dim: int = 0) -> SparseTensor:
    """Sparse tensors one behind the other along a dimension. (torch.cat)"""
    tensors = list(tensors)
    _check_list("cat", tensors)
    first = tensors[0]
    dim = dimension("cat", dim, first.ndim)
    for tensor in tensors:
        if any(a != b for d, (a, b) in enumerate(zip(first.shape, tensor.shape, strict=True)) if d != dim):
            raise ArgumentValueError(
                f"cat: Sizes of tensors must match except in dimension {dim}, got {tuple(first.shape)} and "
                f"{tuple(tensor.shape)}"
            )
    count, total = first.sparse_dim(), 0
    indices, values = [], []
    size = sum(tensor.shape[dim] for tensor in tensors)
    dtype = first.dtype
    for tensor in tensors[1:]:
        dtype = _C.promote_types(dtype, tensor.dtype)
    for tensor in tensors:
        parts = tensor._parts
        own = parts.values.to(dtype)
        if dim < count:
            indices.append(_replaced(parts.indices, dim, parts.indices[dim] + total))
            values.append(own)
        else:
            indices.append(parts.indices)
            values.append(_between_zeros(own, dim - count + 1, total, size))
        total += tensor.shape[dim]
    return made(_C.cat(indices, 1), _C.cat(values, 0), _resized(first, dim, size), False)


def _between_zeros(values: Tensor, dim: int, before: int, size: int) -> Tensor:
    def zeros(length: int) -> Tensor:
        shape = list(values.shape)
        shape[dim] = length
        return _C.zeros(shape, dtype=values.dtype, device=values.device)

    return _C.cat([zeros(before), values, zeros(size - before - values.shape[dim])], dim)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> SparseTensor:
    """Sparse tensors along a new dimension. (torch.stack)"""
    tensors = list(tensors)
    _check_list("stack", tensors)
    return cat([unsqueeze(tensor, dim) for tensor in tensors], dim)
