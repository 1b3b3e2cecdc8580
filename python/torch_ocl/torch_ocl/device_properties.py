"""Properties of devices: ``torch.ocl.get_device_properties`` and its kin."""

from __future__ import annotations

from dataclasses import dataclass, fields

from torch_ocl import _C
from torch_ocl._devices import Device, index_of


@dataclass(frozen=True)
class DeviceProperties:
    """A device's properties by torch.cuda's names, as far as OpenCL knows.

    There is no ``major`` and ``minor``: a compute capability is CUDA's, and a program that asks for one means
    hardware that it knows.

    ``total_memory`` is in bytes. ``multi_processor_count`` counts compute units. ``has_fp16`` and
    ``has_fp64`` say what the device computes by itself: all have tensors of float16 and bfloat16.
    """

    name: str
    vendor: str
    driver_version: str
    total_memory: int
    multi_processor_count: int
    has_fp16: bool
    has_fp64: bool

    def __repr__(self) -> str:
        return (
            f"_OCLDeviceProperties(name='{self.name}', vendor='{self.vendor}', "
            f"driver_version='{self.driver_version}', total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count}, has_fp16={int(self.has_fp16)}, "
            f"has_fp64={int(self.has_fp64)})"
        )


def get_device_properties(device: Device = None) -> DeviceProperties:
    """The properties of a device (torch.cuda.get_device_properties)."""
    known = _C.device_properties(index_of(device))
    known["multi_processor_count"] = known["max_compute_units"]
    return DeviceProperties(**{field.name: known[field.name] for field in fields(DeviceProperties)})


def get_device_name(device: Device = None) -> str:
    """The name that the driver gives."""
    return get_device_properties(device).name


def get_device_capability(device: Device = None) -> dict[str, bool]:
    """The dtypes that a device computes in, as torch.xpu.get_device_capability: CUDA's does not apply."""
    properties = get_device_properties(device)
    return {"has_fp16": properties.has_fp16, "has_fp64": properties.has_fp64}


def get_arch_list() -> list[str]:
    """Empty: kernels are compiled for the device that they run on."""
    return []
