"""Which device is meant, for the parts of ``torch.ocl``."""

from __future__ import annotations

import torch

from torch_ocl import _C

Device = torch.device | str | int | None


def index_of(given: Device) -> int:
    """The index of a device of ocl; None and ``"ocl"`` mean the current one."""
    if given is None:
        return _C.current_device()
    if isinstance(given, int):
        return given
    device = torch.device(given)
    if device.type != "ocl":
        raise ValueError(f"expected a device of ocl, got {device}")
    return _C.current_device() if device.index is None else device.index
