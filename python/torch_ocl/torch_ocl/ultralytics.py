"""ultralytics on ocl devices: its ``select_device`` refuses devices that it does not know by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from torch_ocl._devices import index_of


def install(torch_utils: ModuleType) -> None:
    """Lets ``YOLO(…).train(device="ocl:0")`` and its kin name a device of ocl."""
    select_device = torch_utils.select_device

    @functools.wraps(select_device)
    def select_device_or_ocls(device: Any = "", *arguments: Any, **options: Any) -> torch.device:
        if isinstance(device, (str, torch.device)) and str(device).partition(":")[0] == "ocl":
            return torch.device("ocl", index_of(device))
        return select_device(device, *arguments, **options)

    torch_utils.select_device = select_device_or_ocls


INSTALLERS: dict[str, Callable[[ModuleType], None]] = {"ultralytics.utils.torch_utils": install}
