"""Names of types for annotations, as torch.types."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ocl import _C
from ocl._C import Tensor

Device = _C.device | str | int | None
Number = builtins.int | builtins.float | builtins.bool
FileLike = object
TensorOrTensors = Tensor | Sequence[Tensor]

__all__ = ["Device", "FileLike", "Number", "Tensor", "TensorOrTensors"]
