"""Tensors as DLPack capsules. (torch.utils.dlpack)"""

from __future__ import annotations

from typing import Any

from ocl._C import Tensor, from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]

_OPENCL = 4  # DLPack's number of the kind of device


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule that shows the tensor's memory, for one call of ``from_dlpack``."""
    return tensor.__dlpack__(dl_device=(_OPENCL, tensor.device.index))
