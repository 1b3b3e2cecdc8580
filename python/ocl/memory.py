"""Other memory for a tensor: methods that change its size, or what it stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.storages import TypedStorage, UntypedStorage, elements_of

__all__ = ["resize_", "set_"]


def _dense(size: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for n in reversed(size):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _give(tensor: Tensor, data: Tensor) -> Tensor:
    tensor.data = data
    return tensor


def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Gives the tensor that size, row by row over its memory, and returns it. (torch.Tensor.resize_)

    Where the memory is too small it gets more, with the elements that it had first and others of any value.
    Views of it keep the old one; those of PyTorch's follow. RuntimeError for a tensor that requires
    gradients, and for negative sizes.
    """
    sizes = tuple(size[0]) if len(size) == 1 and isinstance(size[0], Sequence) else size
    if memory_format not in (None, _C.contiguous_format):
        raise NotImplementedError("resize_: only contiguous_format")
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in sizes):
        raise ArgumentValueError(f"resize_: expected sizes of at least 0, got {sizes}")
    if tuple(self.shape) == tuple(sizes):
        return self
    whole = _C._whole_storage(self)
    needed = self.storage_offset() + math.prod(sizes)
    if needed > whole.numel():
        more = _C.empty(needed, dtype=self.dtype, device=self.device)
        if whole.numel():
            more[: whole.numel()] = whole
        whole = more
    return _give(self, _C._restrided(whole, tuple(sizes), _dense(sizes), self.storage_offset()))


def set_(
    self: Tensor,
    source: Tensor | TypedStorage | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Has the tensor stand for the memory of `source`, a tensor or a storage, and returns it; with `size` for
    that part of it. (torch.Tensor.set_)

    Without a source it gets none, and no elements. ArgumentTypeError for another dtype, ArgumentValueError
    for a part that goes beyond the memory. RuntimeError for a tensor that requires gradients.
    """
    if self.requires_grad:
        raise RuntimeError("set_: cannot change the memory of a tensor that requires gradients; use .data")
    if source is None:
        return _give(self, _C.empty(0, dtype=self.dtype, device=self.device))
    if isinstance(source, (TypedStorage, UntypedStorage)):
        source = elements_of(source, self.dtype)
    if source.dtype != self.dtype:
        raise ArgumentTypeError(f"set_: expected a source of {self.dtype}, got {source.dtype}")
    if size is None:
        return _give(self, source.detach())
    sizes, strides = tuple(size), _dense(size) if stride is None else tuple(stride)
    whole = _C._whole_storage(source)
    last = storage_offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if storage_offset < 0 or (math.prod(sizes) and last >= whole.numel()):
        raise ArgumentValueError(
            f"set_: size {sizes}, stride {strides} and storage_offset {storage_offset} go beyond the memory "
            f"of {whole.numel()} elements"
        )
    return _give(self, _C._restrided(whole, sizes, strides, storage_offset))


def _detach_(self: Tensor) -> Tensor:
    """Takes the tensor out of its graph: it becomes a leaf without gradients. (torch.Tensor.detach_)"""
    self._become_view(self.detach())
    return self.requires_grad_(False)


Tensor.resize_, Tensor.set_, Tensor.detach_ = resize_, set_, _detach_
