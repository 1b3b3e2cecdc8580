"""The names of PyTorch's devices, which stand for OpenCL devices after ``ocl.as_torch()``."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl.meta_device import placed

# Whether "cuda" stands for OpenCL devices: ocl.as_torch() sets it.
stand_for_ocl = False


def translated(device: Any) -> Any:
    """The OpenCL device that a name of PyTorch's stands for; anything else is left as it is.

    "cuda:1" is "ocl:1". "cuda" without a number is the default device, and so is "cpu": there are no host
    tensors that would have to be told apart. A number is that of an OpenCL device.
    """
    device = placed(device)
    if isinstance(device, bool) or not isinstance(device, (str, int)):
        return device
    if isinstance(device, int):
        return f"ocl:{device}"
    kind, _, index = device.partition(":")
    if kind == "cuda":
        return f"ocl:{index}" if index else _C.get_default_device()
    return _C.get_default_device() if kind == "cpu" else device
