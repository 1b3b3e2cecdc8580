"""A device's abilities, and whether its memory keeps what is written to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ocl.doctor.environment import megabytes
from ocl.doctor.findings import Finding, fault, note, ok

__all__ = ["check", "round_trip"]

MEGABYTE = 1 << 20
LITTLE = 512 * MEGABYTE  # of memory: a small net trains, a ResNet does not


def check(device: Any) -> Iterator[Finding]:
    import ocl

    properties = ocl.get_device_properties(device)
    kind = "CPU" if properties["is_cpu"] else "GPU"
    yield ok(
        "device",
        f"{device} is {properties['name']} ({kind}, {properties['compute_units']} compute units, kernels for "
        f"{properties['kernel_shape']}), driver {properties['driver_version']}, {properties['version']}",
    )
    yield _features(properties)
    yield _memory(device, properties)


def _features(properties: dict[str, Any]) -> Finding:
    means = {
        "fp16": "float16 is stored, and computed in float32",
        "fp64": "float64 tensors raise TypeError: use float32",
        "subgroups": "no kernel needs them",
    }
    names = {"subgroups": "sub-groups"}
    has = [names.get(name, name) for name in means if properties[name]]
    lacks = [f"{names.get(name, name)} ({text})" for name, text in means.items() if not properties[name]]
    text = "; ".join(
        filter(None, ["has " + ", ".join(has) if has else "", "lacks " + ", ".join(lacks) if lacks else ""])
    )
    return (note if lacks else ok)("features", text)


def round_trip(device: Any, host: np.ndarray) -> np.ndarray:
    """The data that comes back of `host` from the device's memory."""
    import ocl

    return ocl.tensor(host, device=device).clone().numpy()


def _memory(device: Any, properties: dict[str, Any]) -> Finding:
    import ocl

    total, largest = properties["total_memory"], properties["max_allocation"]
    text = f"{megabytes(total)}, at most {megabytes(largest)} at once"
    size = min(64 * MEGABYTE, largest // 4, total // 8)
    host = np.random.default_rng(0).integers(0, 1 << 31, size // 4, dtype=np.int32)
    try:
        wrong = int((round_trip(device, host) != host).sum())
    except ocl.OutOfMemoryError as error:
        return fault("memory", f"{text}: {error}", "close other programs that use the device")
    if wrong:
        return fault(
            "memory",
            f"{wrong} of {host.size} numbers came back changed from the device's memory",
            "update the driver; if the device's memory can be tested (`dmesg` tells of ECC errors), test it",
        )
    if total < LITTLE:
        return note("memory", f"{text}: enough for small nets alone", "train with small batches")
    return ok("memory", f"{text}; {megabytes(size)} written and read back")
