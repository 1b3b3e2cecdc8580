"""Copies and pickles of tensors, generators, devices, dtypes and formats, as PyTorch's."""

from __future__ import annotations

import copy
import copyreg
from typing import Any

from ocl import _C
from ocl._C import Generator, Tensor, device, dtype, memory_format


def _slots_of(tensor: Tensor) -> dict[str, Any]:
    names = copyreg._slotnames(type(tensor))
    return {name: getattr(tensor, name) for name in names if hasattr(tensor, name)}


def _with_attributes(tensor: Tensor, attributes: dict[str, Any], slots: dict[str, Any]) -> Tensor:
    tensor.__dict__.update(attributes)
    for name, value in slots.items():
        setattr(tensor, name, value)
    return tensor


def _like(tensor: Tensor, data: Tensor) -> Tensor:
    """A leaf of the class of ``tensor`` over the memory of ``data``."""
    result = Tensor._make_subclass(type(tensor), data, tensor.requires_grad)
    result._is_parameter = tensor._is_parameter
    return result


def _copy(self: Tensor) -> Tensor:
    """Another tensor over the same memory."""
    return _with_attributes(_like(self, self), self.__dict__, _slots_of(self))


def _copied_data(tensor: Tensor, memo: dict) -> Tensor:
    """The memory as a whole, once a deepcopy, so that what shared it shares the copy."""
    copies = memo.setdefault("ocl storages", {})
    key = (_C._storage_key(tensor), str(tensor.dtype))
    if key not in copies:
        copies[key] = _C._whole_storage(tensor).clone()
    return _C._restrided(copies[key], tensor.shape, tensor.stride(), tensor.storage_offset())


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment."
        )
    result = memo[id(self)] = _like(self, _copied_data(self, memo))
    if self.grad is not None and not self._is_parameter:  # PyTorch's parameters leave theirs behind too
        result.grad = _deepcopy(self.grad, memo)
    attributes, slots = copy.deepcopy((self.__dict__, _slots_of(self)), memo)
    return _with_attributes(result, attributes, slots)


def _rebuilt(
    cls: type,
    is_parameter: bool,
    elements: bytes,
    dtype: _C.dtype,
    device: _C.device,
    shape: tuple,
    stride: tuple,
    requires_grad: bool,
) -> Tensor:
    data = _C._restrided(_C._from_bytes(elements, dtype, device), shape, stride, 0)
    result = Tensor._make_subclass(cls, data, requires_grad)
    result._is_parameter = is_parameter
    return result


def _reduce(self: Tensor, protocol: int) -> tuple:
    offset, shape, stride = self.storage_offset(), self.shape, self.stride()
    reach = 1 + sum(step * (size - 1) for step, size in zip(stride, shape, strict=True))
    reached = _C._restrided(_C._whole_storage(self), (reach if self.numel() else 0,), (1,), offset)
    arguments = (
        type(self),
        self._is_parameter,
        _C._to_bytes(reached),
        self.dtype,
        self.device,
        shape,
        stride,
    )
    state = (self.__dict__, _slots_of(self))
    return _rebuilt, (*arguments, self.requires_grad), state if any(state) else None


def _constant(name: str) -> _C.dtype | _C.memory_format:
    return getattr(_C, name)


Tensor.__copy__ = _copy
Tensor.__deepcopy__ = _deepcopy
Tensor.__reduce_ex__ = _reduce

Generator.__reduce__ = lambda self: (Generator, (), self.get_state())
Generator.__setstate__ = Generator.set_state
device.__reduce__ = lambda self: (device, (str(self),))
for enumeration in (dtype, memory_format):
    enumeration.__reduce_ex__ = lambda self, protocol: (_constant, (self.name,))
for constant in (device, dtype, memory_format):
    constant.__copy__ = lambda self: self
    constant.__deepcopy__ = lambda self, memo: self
