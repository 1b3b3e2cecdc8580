"""The names of tensors by dtype: ``FloatTensor``, ``LongTensor`` and the others of torch."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "ComplexDoubleTensor",
    "ComplexFloatTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
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
ShortTensor = _named("ShortTensor", _C.int16)
CharTensor = _named("CharTensor", _C.int8)
ByteTensor = _named("ByteTensor", _C.uint8)
BoolTensor = _named("BoolTensor", _C.bool_)
ComplexFloatTensor = _named("ComplexFloatTensor", _C.complex64)
ComplexDoubleTensor = _named("ComplexDoubleTensor", _C.complex128)


def dtype_of(given: Any) -> Any:
    """The dtype that ``LongTensor`` or its name ("torch.LongTensor", "torch.cuda.LongTensor") stands for.

    Anything else comes back as it is. Raises ValueError for a name that there is not.
    """
    if isinstance(given, str):
        prefix, _, name = given.rpartition(".")
        if prefix not in ("torch", "torch.cuda", "ocl") or name not in __all__:
            raise _C.ArgumentValueError(f"type: invalid type: {given!r}")
        given = globals()[name]
    return given.dtype if isinstance(given, _TensorType) else given
