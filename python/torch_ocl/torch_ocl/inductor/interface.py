"""The device for Dynamo and Inductor."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch._dynamo.device_interface import DeviceInterface

from torch_ocl import _C, device_module, streams
from torch_ocl._devices import index_of


class Properties(NamedTuple):
    """The properties that Inductor reads."""

    name: str
    multi_processor_count: int
    max_threads_per_block: int
    warp_size: int
    kernel_shape: str
    has_fp64: bool


def properties_of(device: Any = None) -> Properties:
    """The properties of a device; None: of the current one."""
    found = _C.device_properties(index_of(device))
    return Properties(
        found["name"],
        found["max_compute_units"],
        found["max_work_group"],
        32,
        found["kernel_shape"],
        found["has_fp64"],
    )


def get_raw_stream(device_idx: int) -> int:
    """A device has one queue."""
    return 0


class OclInterface(DeviceInterface):
    """``torch.ocl`` by the names that Dynamo uses."""

    device = device_module.device
    Event = streams.Event
    Stream = streams.Stream
    current_device = staticmethod(device_module.current_device)
    set_device = staticmethod(device_module.set_device)
    device_count = staticmethod(device_module.device_count)
    is_available = staticmethod(device_module.is_available)
    synchronize = staticmethod(device_module.synchronize)
    stream = staticmethod(streams.stream)
    current_stream = staticmethod(streams.current_stream)
    set_stream = staticmethod(streams.set_stream)
    memory_allocated = staticmethod(device_module.memory_allocated)
    exchange_device = staticmethod(_C.exchange_device)
    maybe_exchange_device = staticmethod(_C.exchange_device)
    get_raw_stream = staticmethod(get_raw_stream)

    class Worker:
        """Devices are asked in this process: kernels are not built in others."""

        set_device = staticmethod(device_module.set_device)
        current_device = staticmethod(device_module.current_device)
        get_device_properties = staticmethod(properties_of)

    @staticmethod
    def get_compute_capability(device: Any = None) -> str:
        return ""

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        return True

    @classmethod
    def is_dtype_supported(cls, dtype: torch.dtype, including_emulation: bool = False) -> bool:
        if dtype.is_complex:
            return False
        return dtype != torch.float64 or properties_of().has_fp64
