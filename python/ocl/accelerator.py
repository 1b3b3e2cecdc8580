"""The OpenCL devices as PyTorch's accelerator: torch.accelerator."""

from __future__ import annotations

from typing import Any

from ocl import _C

__all__ = [
    "current_accelerator",
    "current_device_index",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "synchronize",
]

device_count = _C.device_count
is_available = _C.is_available
empty_cache = _C.empty_cache


def _device(given: Any) -> Any:
    return f"ocl:{given}" if isinstance(given, int) else given


def current_accelerator(check_available: bool = False) -> _C.device | None:
    """The default device; None where there is no OpenCL device. (torch.accelerator.current_accelerator)"""
    return _C.get_default_device() if _C.is_available() else None


def current_device_index() -> int:
    """The number of the default device."""
    return _C.get_default_device().index


def set_device_index(device: Any) -> None:
    """Makes that device the default one. (torch.accelerator.set_device_index)"""
    _C.set_default_device(_device(device))


set_device_idx = set_device_index


def synchronize(device: Any = None) -> None:
    """Waits until the device has done what it was given. (torch.accelerator.synchronize)"""
    _C.synchronize(_device(device)) if device is not None else _C.synchronize()


def memory_allocated(device: Any = None) -> int:
    """Bytes of tensors on the device. (torch.accelerator.memory_allocated)"""
    return _C.memory_allocated(_device(device)) if device is not None else _C.memory_allocated()


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes of tensors so far. (torch.accelerator.max_memory_allocated)"""
    return _C.max_memory_allocated(_device(device)) if device is not None else _C.max_memory_allocated()


def memory_reserved(device: Any = None) -> int:
    """Bytes that are kept for tensors. (torch.accelerator.memory_reserved)"""
    return _C.memory_reserved(_device(device)) if device is not None else _C.memory_reserved()


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that were kept so far. (torch.accelerator.max_memory_reserved)"""
    return _C.max_memory_reserved(_device(device)) if device is not None else _C.max_memory_reserved()


def memory_stats(device: Any = None) -> dict:
    """The numbers that ocl.memory_stats gives. (torch.accelerator.memory_stats)"""
    return _C.memory_stats(_device(device)) if device is not None else _C.memory_stats()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forgets the greatest values so far. (torch.accelerator.reset_peak_memory_stats)"""
    _C.reset_peak_memory_stats(_device(device)) if device is not None else _C.reset_peak_memory_stats()
