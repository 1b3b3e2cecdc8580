"""Other shapes, other places and other names of tensors, made of other operators."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.arrangement import broadcast_tensors, common_shape
from ocl.size import Size

__all__ = [
    "adjoint",
    "as_strided_scatter",
    "broadcast_shapes",
    "constant_pad_nd",
    "detach",
    "ger",
    "index_put",
    "narrow_copy",
    "put",
    "ravel",
    "split_with_sizes",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
]

ger, unsafe_chunk, unsafe_split = _C.outer, _C.chunk, _C.split


def adjoint(input: Tensor) -> Tensor:
    """The matrices transposed, with conjugate elements. (torch.adjoint)"""
    return input.mT.conj()


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that all of `shapes` broadcast to. (torch.broadcast_shapes)"""
    each = [(shape,) if isinstance(shape, numbers.Integral) else tuple(shape) for shape in shapes]
    for shape in each:
        if any(size < 0 for size in shape):
            raise ArgumentValueError(
                f"broadcast_shapes: trying to create tensor with negative dimension {shape}"
            )
    return Size(common_shape("broadcast_shapes", each))


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """input with `value` around it, pairs of amounts from the last dimension on. (torch.constant_pad_nd)"""
    return _C.pad(input, tuple(pad), value=value)


def detach(input: Tensor) -> Tensor:
    """The tensor without its history. (torch.detach)"""
    return input.detach()


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of `length` entries of `dim` from `start` on. (torch.narrow_copy)"""
    return _C.narrow(input, dim, start, length).clone()


def ravel(input: Tensor) -> Tensor:
    """All elements as a vector, without a copy where the strides allow it. (torch.ravel)"""
    return input.reshape(-1)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of those sizes along `dim`. (torch.split_with_sizes)"""
    return _C.split(input, list(split_sizes), dim)


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Where the elements stand in a tensor of `shape` that `indices` names in the flattened one.
    (torch.unravel_index)

    int64 for each dimension.
    """
    if indices.is_floating_point() or indices.dtype == _C.bool_:
        raise ArgumentTypeError(f"unravel_index: expected integers for indices, got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ArgumentValueError(f"unravel_index: shape cannot have negative values, got {sizes}")
    if 0 in sizes and indices.numel():
        raise ArgumentValueError(f"unravel_index: a tensor of shape {sizes} has no elements to index")
    left, places = indices.to(_C.int64), []
    for size in reversed(sizes):
        places.append(left % max(size, 1))
        left = _C.floor_divide(left, max(size, 1))
    return tuple(reversed(places))


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
) -> Tensor:
    """input with src in the place of as_strided(input, size, stride, storage_offset).
    (torch.as_strided_scatter)
    """
    result = input.contiguous().clone()
    place = result.as_strided(tuple(size), tuple(stride), storage_offset)
    if tuple(place.shape) != tuple(src.shape):
        raise ArgumentValueError(
            f"as_strided_scatter: expected src to have a size equal to the slice of self. src size = "
            f"{tuple(src.shape)}, slice size = {tuple(place.shape)}"
        )
    place.copy_(src)
    return result


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """input with source at the elements that index names in the flattened tensor, or added to them.
    (torch.put)
    """
    return input.clone().put_(index, source, accumulate)


def _entries_of_masks(name: str, input: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """`indices` with the coordinates of what a mask holds in the place of the mask."""
    found: list[Tensor | None] = []
    for index in indices:
        if index is None or index.dtype in (_C.int64, _C.int32):
            found.append(index)
        elif index.dtype in (_C.bool_, _C.uint8):
            if tuple(index.shape) != tuple(input.shape[len(found) : len(found) + index.ndim]):
                raise _C.ArgumentIndexError(
                    f"{name}: the shape of the mask {tuple(index.shape)} does not match the shape of the "
                    f"indexed tensor {tuple(input.shape)} at index {len(found)}"
                )
            found.extend(index.nonzero().unbind(1))
        else:
            raise ArgumentTypeError(
                f"{name}: tensors used as indices must be int64, int32, uint8 or bool tensors, got "
                f"{index.dtype}"
            )
    if len(found) > input.ndim:
        raise _C.ArgumentIndexError(
            f"{name}: too many indices for tensor of dimension {input.ndim} (got {len(found)})"
        )
    return found


def _added(input: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> Tensor:
    """input with values added to the entries that indices name, as often as they do."""
    named = [d for d, index in enumerate(indices) if index is not None]
    rest = [d for d in range(input.ndim) if d not in named]
    entries = broadcast_tensors(*(indices[d] for d in named))
    place = _C.zeros_like(entries[0], dtype=_C.int64)
    for d, index in zip(named, entries, strict=True):
        # Reading a range checks the index, and wraps those below 0.
        place = place * input.shape[d] + _C.arange(input.shape[d], device=input.device)[index]
    moved = input.permute([*named, *rest])
    kept = moved.shape[len(named) :]
    # Where the indices stand side by side, their dimensions come there in the values, else first.
    start = named[0] if named == list(range(named[0], named[-1] + 1)) else 0
    shape = list(kept)
    shape[start:start] = place.shape
    values = values.to(input.dtype).expand(shape)
    values = values.movedim(list(range(start, start + place.ndim)), list(range(place.ndim)))
    flat = moved.reshape(math.prod(moved.shape[: len(named)]), *kept)
    flat = _C.index_add(flat, 0, place.reshape(-1), values.reshape(place.numel(), *kept))
    order = [*named, *rest]
    return flat.reshape(moved.shape).permute([order.index(d) for d in range(input.ndim)])


def index_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """input with values, which broadcast, at the entries that indices name, as input[indices] = values.
    (torch.index_put)

    With `accumulate` values are added, also to an entry that is named several times. Masks wait for the
    number of what they hold. An index that is out of range raises IndexError at the next waiting point.
    """
    if values.dtype != input.dtype:
        raise ArgumentTypeError(
            f"index_put: requires the source and destination dtypes match, got {input.dtype} for the "
            f"destination and {values.dtype} for the source"
        )
    found = _entries_of_masks("index_put", input, indices)
    if accumulate:
        return _added(input, found, values)
    result = input.clone()
    result[tuple(slice(None) if index is None else index for index in found)] = values
    return result


def _index_put_(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Writes values over the entries that indices name, or adds them. (torch.Tensor.index_put_)"""
    return self.copy_(index_put(self, indices, values, accumulate))


Tensor.adjoint = adjoint
Tensor.as_strided_scatter = as_strided_scatter
Tensor.ger = Tensor.outer
Tensor.index_put = index_put
Tensor.index_put_ = _index_put_
Tensor.narrow_copy = narrow_copy
Tensor.put = put
Tensor.ravel = ravel
Tensor.split_with_sizes = split_with_sizes
Tensor.unsafe_chunk = Tensor.chunk
Tensor.unsafe_split = Tensor.split
