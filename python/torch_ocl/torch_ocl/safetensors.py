"""safetensors on ocl devices.

Its ``safe_open`` refuses every device that it does not know by name, but takes a number for the device of
that index of PyTorch's accelerator, which is ocl here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from torch_ocl._devices import index_of


def _place(device: Any) -> Any:
    is_ours = isinstance(device, torch.device) or (isinstance(device, str) and device.startswith("ocl"))
    return index_of(device) if is_ours and torch.device(device).type == "ocl" else device


def install(module: ModuleType) -> None:
    """Lets ``safe_open`` take ``"ocl"``, ``"ocl:N"`` and such a ``torch.device``."""
    open_by_name = module.safe_open

    @functools.wraps(open_by_name, updated=())
    def safe_open(filename: Any, framework: str, device: Any = "cpu", **options: Any) -> Any:
        return open_by_name(filename, framework, device=_place(device), **options)

    module.safe_open = safe_open


INSTALLERS: dict[str, Callable[[ModuleType], None]] = {"safetensors": install}
