"""``torch.ocl.FloatTensor`` and its kin, as torch.cuda.FloatTensor: types of tensors by dtype and device."""

from __future__ import annotations

from typing import Any

import torch


class _TensorType(type):
    """Calls make tensors, ``isinstance`` tells them apart, and ``tensor.type(…)`` moves and casts to them."""

    dtype: torch.dtype

    def __instancecheck__(cls, tensor: Any) -> bool:
        return isinstance(tensor, torch.Tensor) and tensor.device.type == "ocl" and tensor.dtype == cls.dtype

    def __call__(cls, *sizes_or_elements: Any) -> torch.Tensor:
        """``FloatTensor(2, 3)`` is not filled; ``FloatTensor([2.0])`` and an array give their elements."""
        if len(sizes_or_elements) == 1 and not isinstance(sizes_or_elements[0], (int, torch.Size)):
            return torch.as_tensor(sizes_or_elements[0], dtype=cls.dtype, device="ocl")
        sizes = sizes_or_elements or (0,)
        return torch.empty(*sizes, dtype=cls.dtype, device="ocl")


def _tensor_type(name: str, dtype: torch.dtype) -> type:
    # tensor.type(…) goes by the whole name.
    return _TensorType(f"torch.ocl.{name}", (), {"dtype": dtype, "is_cuda": False, "is_sparse": False})


TYPES: dict[str, type] = {
    name: _tensor_type(name, dtype)
    for name, dtype in {
        "BFloat16Tensor": torch.bfloat16,
        "BoolTensor": torch.bool,
        "ByteTensor": torch.uint8,
        "CharTensor": torch.int8,
        "DoubleTensor": torch.float64,
        "FloatTensor": torch.float32,
        "HalfTensor": torch.float16,
        "IntTensor": torch.int32,
        "LongTensor": torch.int64,
        "ShortTensor": torch.int16,
    }.items()
}
