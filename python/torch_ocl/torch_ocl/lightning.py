"""OpenCL devices for Lightning, which takes the CPU for accelerators it does not know unless told::

import torch_ocl.lightning
Trainer(accelerator="ocl", strategy=SingleDeviceStrategy(torch.device("ocl:0")))
"""

from __future__ import annotations

from typing import Any

import torch
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry

from torch_ocl import device_module


class OpenCLAccelerator(Accelerator):
    """As Lightning's CUDAAccelerator. ``devices`` is a count, a list of indices as ``"ocl:N"`` counts them,
    or ``"auto"``: the first."""

    def setup_device(self, device: torch.device) -> None:
        if device.type != "ocl":
            raise ValueError(f"expected a device of ocl, got {device}")
        device_module.set_device(device)

    def get_device_stats(self, device: torch.device | str | int) -> dict[str, Any]:
        return device_module.memory_stats(device)

    def teardown(self) -> None:
        device_module.empty_cache()

    @staticmethod
    def parse_devices(devices: int | str | list[int]) -> list[int]:
        there = device_module.device_count()
        if isinstance(devices, str):
            devices = [int(index) for index in devices.split(",")] if "," in devices else int(devices)
        chosen = list(range(there if devices == -1 else devices)) if isinstance(devices, int) else devices
        for index in chosen:
            if not 0 <= index < there:
                raise ValueError(f"there is no device ocl:{index}, of {there}")
        return list(chosen)

    @staticmethod
    def get_parallel_devices(devices: int | str | list[int]) -> list[torch.device]:
        return [torch.device("ocl", index) for index in OpenCLAccelerator.parse_devices(devices)]

    @staticmethod
    def auto_device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return device_module.is_available()

    @staticmethod
    def name() -> str:
        return "ocl"

    @classmethod
    def register_accelerators(cls, accelerator_registry: Any) -> None:
        accelerator_registry.register(cls.name(), cls, description=cls.__name__)


OpenCLAccelerator.register_accelerators(AcceleratorRegistry)
