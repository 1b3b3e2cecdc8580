"""``torch.ocl``: what ``torch.cuda`` is for CUDA's devices."""

from __future__ import annotations

import torch

from torch_ocl import _C


def _index(device: torch.device | str | int | None) -> int:
    if device is None:
        return _C.current_device()
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return _C.current_device() if index is None else index


def is_available() -> bool:
    return _C.device_count() > 0


def device_count() -> int:
    return _C.device_count()


def current_device() -> int:
    return _C.current_device()


def set_device(device: torch.device | str | int) -> None:
    _C.set_device(_index(device))


def get_device_name(device: torch.device | str | int | None = None) -> str:
    return _C.device_name(_index(device))


def synchronize(device: torch.device | str | int | None = None) -> None:
    _C.synchronize(_index(device))


def empty_cache() -> None:
    _C.empty_cache()


def memory_allocated(device: torch.device | str | int | None = None) -> int:
    return _C.memory_allocated(_index(device))


def is_initialized() -> bool:
    return True


def _is_in_bad_fork() -> bool:
    return False


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


class device:
    """The devices that a block of code runs on, as torch.cuda.device."""

    def __init__(self, device: torch.device | str | int) -> None:
        self._index = _index(device)

    def __enter__(self) -> None:
        self._before = _C.exchange_device(self._index)

    def __exit__(self, *error: object) -> None:
        _C.set_device(self._before)
