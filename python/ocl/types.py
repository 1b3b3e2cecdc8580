"""Names of types for annotations, as torch.types."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ocl import _C
from ocl._C import Tensor
from ocl.size import Size

Device = _C.device | str | int | None
Number = builtins.int | builtins.float | builtins.bool
FileLike = object
TensorOrTensors = Tensor | Sequence[Tensor]

# PyTorch's own names of types, which torchvision imports.
_device, _dtype = _C.device, _C.dtype
_size = Size | list[int] | tuple[int, ...]

__all__ = ["Device", "FileLike", "Number", "Tensor", "TensorOrTensors"]
