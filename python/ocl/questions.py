"""Questions about tensors: their kind, their sign, their device."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import ArgumentValueError, Tensor

__all__ = [
    "get_device",
    "is_inference",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "typename",
]


def is_inference(input: Tensor) -> bool:
    """False: tensors made in inference mode are ordinary ones. (torch.is_inference)"""
    return False


def _data_ptr(self: Tensor) -> int:
    """A number for the place of the first element: the same for tensors that begin at one place in memory.

    It is no address: memory of a device has none here. (torch.Tensor.data_ptr)
    """
    return (_C._storage_key(self) << 40) + self.storage_offset() * self.element_size()


def is_storage(obj: Any) -> bool:
    """Whether it is a storage. (torch.is_storage)"""
    from ocl.storages import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0. Waits. Raises ValueError for other numbers. (torch.is_nonzero)"""
    if input.numel() != 1:
        raise ArgumentValueError(
            f"is_nonzero: boolean value of a tensor with {input.numel()} values is ambiguous, expected one"
        )
    return bool(input.item())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have one shape. (torch.is_same_size)"""
    return tuple(input.shape) == tuple(other.shape)


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has numbers below 0. (torch.is_signed)"""
    return input.dtype not in (_C.bool_, _C.uint8)


def get_device(input: Tensor) -> int:
    """The number of the tensor's device, N of "ocl:N". (torch.get_device)"""
    return input.device.index


def typename(obj: Any) -> str:
    """The name of an object's type with its module; of a tensor what type() gives. (torch.typename)"""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) or hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"


for _name in __all__:
    if _name not in ("is_storage", "typename") and not hasattr(Tensor, _name):
        setattr(Tensor, _name, globals()[_name])
_type = Tensor.type


def _as_type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor in another dtype. (torch.Tensor.type)

    `dtype`: also a type of tensors (``LongTensor``) or the name of one ("torch.LongTensor").
    """
    if dtype is None:
        return _type(self)
    if not isinstance(dtype, _C.dtype):
        from ocl.tensor_types import dtype_of  # late: few programs ask for those types

        dtype = dtype_of(dtype)
    return _type(self, dtype)


def _new(self: Tensor, *args: Any) -> Tensor:
    """``x.new(2, 3)``: elements that are not set. ``x.new([1, 2])``: these elements. Both have the dtype and
    the device of the tensor. (torch.Tensor.new)
    """
    if len(args) == 1 and not isinstance(args[0], int) and type(args[0]).__name__ != "Size":
        return _C.tensor(args[0], dtype=self.dtype, device=self.device)
    return self.new_empty(args[0] if args and not isinstance(args[0], int) else args or (0,))


_as_type.__name__, _new.__name__, _data_ptr.__name__ = "type", "new", "data_ptr"
Tensor.type, Tensor.new, Tensor.data_ptr = _as_type, _new, _data_ptr
Tensor.is_cuda = property(lambda self: False, doc="False: the device is an OpenCL device. (torch.Tensor)")
for _kind in ("meta", "mkldnn", "mps", "nested", "quantized", "xla", "xpu"):
    setattr(
        Tensor, f"is_{_kind}", property(lambda self: False, doc="False: there are no tensors of this kind.")
    )
