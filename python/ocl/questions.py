"""Questions about tensors: their kind, their sign, their device."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import ArgumentValueError, Tensor

__all__ = [
    "conj",
    "conj_physical",
    "get_device",
    "is_complex",
    "is_conj",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "isreal",
    "real",
    "resolve_conj",
    "resolve_neg",
    "typename",
]


def is_complex(input: Tensor) -> bool:
    """False: there are no complex numbers. (torch.is_complex)"""
    return False


def is_conj(input: Tensor) -> bool:
    """False: no tensor is a conjugate. (torch.is_conj)"""
    return False


def is_neg(input: Tensor) -> bool:
    """False: no tensor is the negative of its memory. (torch.is_neg)"""
    return False


def is_inference(input: Tensor) -> bool:
    """False: tensors made in inference mode are ordinary ones. (torch.is_inference)"""
    return False


def is_storage(obj: Any) -> bool:
    """False: there are no storages. (torch.is_storage)"""
    return False


def conj(input: Tensor) -> Tensor:
    """The tensor itself, as of all real numbers. (torch.conj)"""
    return input


conj_physical = real = resolve_conj = resolve_neg = conj


def isreal(input: Tensor) -> Tensor:
    """True everywhere: there are no complex numbers. (torch.isreal)"""
    return _C.ones_like(input, dtype=_C.bool_)


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
    if _name not in ("is_storage", "typename", "real") and not hasattr(Tensor, _name):
        setattr(Tensor, _name, globals()[_name])
Tensor.is_cuda = property(lambda self: False, doc="False: the device is an OpenCL device. (torch.Tensor)")
