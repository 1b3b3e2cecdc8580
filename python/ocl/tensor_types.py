"""The names of tensors by dtype: ``FloatTensor``, ``LongTensor`` and the others of torch."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
]


class _TensorType(type):
    """Tells tensors, which have one class, apart by their dtype, for ``isinstance(t, LongTensor)``."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype

    def __call__(cls, *args: Any) -> Tensor:
        """``LongTensor(2, 3)``: elements that are not set. ``LongTensor([1, 2])``: these elements.

        Raises TypeError where a tensor of another dtype is given.
        """
        if len(args) == 1 and not isinstance(args[0], int):
            given = args[0]
            if isinstance(given, Tensor):
                if given.dtype != cls.dtype:
                    raise TypeError(f"expected {cls.dtype} (got {given.dtype})")
                return given
            if type(given).__name__ == "Size":
                return _C.empty(tuple(given), dtype=cls.dtype)
            return _C.tensor(given, dtype=cls.dtype)
        return _C.empty(args or (0,), dtype=cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'ocl.{cls.__name__}'>"

    __str__ = __repr__


def _named(name: str, dtype: Any) -> type:
    return _TensorType(name, (), {"dtype": dtype, "__doc__": f"Tensors of {dtype}.", "__module__": "ocl"})


FloatTensor = _named("FloatTensor", _C.float32)
DoubleTensor = _named("DoubleTensor", _C.float64)
HalfTensor = _named("HalfTensor", _C.float16)
BFloat16Tensor = _named("BFloat16Tensor", _C.bfloat16)
LongTensor = _named("LongTensor", _C.int64)
IntTensor = _named("IntTensor", _C.int32)
ByteTensor = _named("ByteTensor", _C.uint8)
BoolTensor = _named("BoolTensor", _C.bool_)


def _new(self: Tensor, *args: Any) -> Tensor:
    """``x.new(2, 3)``: elements that are not set. ``x.new([1, 2])``: these elements. Both have the dtype and
    the device of the tensor. (torch.Tensor.new)
    """
    if len(args) == 1 and not isinstance(args[0], int) and type(args[0]).__name__ != "Size":
        return _C.tensor(args[0], dtype=self.dtype, device=self.device)
    return self.new_empty(args[0] if args and not isinstance(args[0], int) else args or (0,))


_new.__name__ = "new"
Tensor.new = _new


_type = Tensor.type


def _as_type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, or the tensor in another dtype. (torch.Tensor.type)

    `dtype`: also one of these types (``LongTensor``) or a name ("torch.LongTensor", "torch.cuda.IntTensor").

    Raises ValueError for a name that there is not.
    """
    if isinstance(dtype, str):
        prefix, _, name = dtype.rpartition(".")
        found = globals().get(name) if name in __all__ else None
        if prefix not in ("torch", "torch.cuda", "ocl") or found is None:
            raise _C.ArgumentValueError(f"type: invalid type: {dtype!r}")
        dtype = found
    if isinstance(dtype, _TensorType):
        dtype = dtype.dtype
    return _type(self) if dtype is None else _type(self, dtype)


_as_type.__name__ = "type"
Tensor.type = _as_type
