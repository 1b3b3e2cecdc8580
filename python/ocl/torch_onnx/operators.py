"""The names of torch.onnx.operators."""

from __future__ import annotations

from ocl import _C
from ocl._C import Tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of a tensor as a tensor of int64."""
    return _C.tensor(list(x.shape), dtype=_C.int64)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """The tensor in the shape that a tensor of sizes says."""
    return x.reshape(shape.tolist())
