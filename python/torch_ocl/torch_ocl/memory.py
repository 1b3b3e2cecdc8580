"""Device memory in ``torch.ocl``: as torch.cuda's functions of these names. Bytes throughout."""

from __future__ import annotations

from torch_ocl import _C
from torch_ocl._devices import Device, index_of


def memory_stats(device: Device = None) -> dict[str, int]:
    """The allocator's figures, by torch.cuda.memory_stats's names as far as they apply."""
    stats = _C.memory_stats(index_of(device))
    return {
        "allocated_bytes.all.current": stats["allocated"],
        "allocated_bytes.all.peak": stats["max_allocated"],
        "reserved_bytes.all.current": stats["reserved"],
        "reserved_bytes.all.peak": stats["max_reserved"],
        "segment.all.current": stats["segments"],
        "allocation.all.allocated": stats["allocations"],
    }


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of what is held now and of its peaks, for people. `abbreviated` leaves out what is no size."""
    stats = memory_stats(device)
    rows = [
        (name, *(f"{stats[f'{name}_bytes.all.{when}'] / (1 << 20):.1f} MiB" for when in ("current", "peak")))
        for name in ("allocated", "reserved")
    ]
    if not abbreviated:
        rows += [
            ("segments", str(stats["segment.all.current"]), ""),
            ("allocations so far", str(stats["allocation.all.allocated"]), ""),
        ]
    lines = [f"memory of ocl:{index_of(device)}", f"{'':20}{'now':>16}{'peak':>16}"]
    return "\n".join(lines + [f"{name:20}{now:>16}{peak:>16}" for name, now, peak in rows])


def memory_allocated(device: Device = None) -> int:
    """In use by tensors."""
    return _C.memory_stats(index_of(device))["allocated"]


def max_memory_allocated(device: Device = None) -> int:
    """Its peak since the start or :func:`reset_peak_memory_stats`."""
    return _C.memory_stats(index_of(device))["max_allocated"]


def memory_reserved(device: Device = None) -> int:
    """Taken from the device."""
    return _C.memory_stats(index_of(device))["reserved"]


def max_memory_reserved(device: Device = None) -> int:
    """Its peak since the start or :func:`reset_peak_memory_stats`."""
    return _C.memory_stats(index_of(device))["max_reserved"]


def reset_peak_memory_stats(device: Device = None) -> None:
    """Peaks begin anew from what is held now."""
    _C.reset_peak_memory_stats(index_of(device))


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """The memory that this process could still take, as far as it can know, and all that the device has."""
    return _C.memory_info(index_of(device))


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Refuses to take more than that share of the device's memory."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be between 0 and 1, got {fraction}")
    index = index_of(device)
    _C.set_memory_limit(index, max(1, int(fraction * _C.memory_info(index)[1])) if fraction < 1 else 0)


def empty_cache() -> None:
    """Gives cached memory that nothing uses back, of all devices; page-locked memory too."""
    _C.empty_cache()
