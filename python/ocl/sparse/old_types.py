"""The names of sparse tensors by dtype, with which programs of PyTorch's first years make them."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl.sparse.coo import SparseTensor
from ocl.sparse.making import sparse_coo_tensor


class _SparseType(type):
    """Tells sparse tensors apart by their dtype, for ``isinstance(t, sparse.FloatTensor)``."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is SparseTensor and instance.dtype == cls.dtype

    def __call__(cls, *args: Any) -> SparseTensor:
        """``FloatTensor(indices, values, size)``, or sizes alone: no elements."""
        if not args or isinstance(args[0], int):
            return sparse_coo_tensor(args or (0,), dtype=cls.dtype)
        if len(args) > 1 and isinstance(args[1], _C.Tensor) and args[1].dtype != cls.dtype:
            raise _C.ArgumentTypeError(f"{cls.__name__}: expected values of {cls.dtype}, got {args[1].dtype}")
        return sparse_coo_tensor(*args, dtype=cls.dtype)


def _named(name: str, dtype: Any) -> type:
    documentation = f"Sparse tensors of {dtype}. (torch.sparse.{name})"
    return _SparseType(name, (), {"dtype": dtype, "__doc__": documentation, "__module__": "ocl.sparse"})


FloatTensor = _named("FloatTensor", _C.float32)
DoubleTensor = _named("DoubleTensor", _C.float64)
HalfTensor = _named("HalfTensor", _C.float16)
BFloat16Tensor = _named("BFloat16Tensor", _C.bfloat16)
LongTensor = _named("LongTensor", _C.int64)
IntTensor = _named("IntTensor", _C.int32)
ShortTensor = _named("ShortTensor", _C.int16)
CharTensor = _named("CharTensor", _C.int8)
ByteTensor = _named("ByteTensor", _C.uint8)
