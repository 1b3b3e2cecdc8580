"""The names of torch.cuda, with honest answers: there is no CUDA device here.

After ``ocl.as_torch()`` they speak of the OpenCL devices instead, on which programs for CUDA then run.
"""

from __future__ import annotations

import sys
from typing import Any

from ocl import _C, accelerator, device_names, host_random
from ocl.cuda import amp
from ocl.cuda.streams import Event, Stream, StreamContext, current_stream, default_stream, stream

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "stream",
    "synchronize",
]

OutOfMemoryError = _C.OutOfMemoryError


def __getattr__(name: str) -> Any:
    """``FloatTensor`` and its kin, which old programs call, and ``cuda.random`` and ``cuda.memory``."""
    from ocl import tensor_types, torch_modules

    if torch_modules.module_with_the_names_of(f"cuda.{name}") == __name__:
        return sys.modules[__name__]

    if name in tensor_types.__all__:
        return getattr(tensor_types, name)
    raise AttributeError(f"module 'ocl.cuda' has no attribute {name!r}")


def _require() -> None:
    if not device_names.stand_for_ocl:
        raise RuntimeError(
            "ocl.cuda: there is no CUDA device; the devices are ocl.device('ocl:0') and so on, of which "
            "ocl.accelerator tells. ocl.as_torch() lets cuda stand for them"
        )


def _place(given: Any) -> Any:
    """The OpenCL device that a number, "cuda:1" or a device stands for; None for the default one."""
    if given is None or isinstance(given, _C.device):
        return given
    if isinstance(given, str):
        kind, _, index = given.partition(":")
        if kind in ("cuda", "ocl"):
            return f"ocl:{index}" if index else None
        raise ValueError(f"expected a cuda device, but got {given}")
    return None if given < 0 else f"ocl:{given}"


def is_available() -> bool:
    """Whether there is a CUDA device: False. After as_torch(), whether there is an OpenCL device."""
    return device_names.stand_for_ocl and _C.is_available()


def device_count() -> int:
    """0. After as_torch(), the number of OpenCL devices."""
    return _C.device_count() if device_names.stand_for_ocl else 0


def is_initialized() -> bool:
    """False. After as_torch(), as is_available()."""
    return is_available()


def is_current_stream_capturing() -> bool:
    """False: there are no graphs of CUDA."""
    return False


def init() -> None:
    """RuntimeError, as there is no CUDA device; nothing after as_torch()."""
    _require()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False. After as_torch() True: every operator takes bfloat16."""
    return is_available()


def current_device() -> int:
    """The number of the default device."""
    _require()
    return accelerator.current_device_index()


def set_device(device: Any) -> None:
    """Makes that device the default one."""
    _require()
    if (place := _place(device)) is not None:
        _C.set_default_device(place)


class device:  # noqa: N801  (PyTorch's name)
    """``with torch.cuda.device(1):`` makes tensors there inside."""

    def __init__(self, device: Any) -> None:
        _require()
        place = _place(device)
        self._device = _C.get_default_device() if place is None else _C.device(place)

    def __enter__(self) -> None:
        self._device.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._device.__exit__(*raised)


def synchronize(device: Any = None) -> None:
    """Waits until the device has done what it was given."""
    _require()
    accelerator.synchronize(_place(device))


def get_device_name(device: Any = None) -> str:
    """The name that the driver gives the device."""
    _require()
    place = _place(device)
    return _C.get_device_name() if place is None else _C.get_device_name(place)


def get_device_properties(device: Any = None) -> Any:
    """The properties that ocl.get_device_properties gives."""
    _require()
    place = _place(device)
    return _C.get_device_properties() if place is None else _C.get_device_properties(place)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """NotImplementedError: OpenCL devices have no compute capability."""
    _require()
    raise NotImplementedError("get_device_capability: OpenCL devices have no compute capability")


def empty_cache() -> None:
    """Gives memory that no tensor has back to the driver; without as_torch() nothing."""
    if device_names.stand_for_ocl:
        _C.empty_cache()


def ipc_collect() -> None:
    """Nothing: memory is not shared between processes."""


def _memory(name: str) -> Any:
    def read(device: Any = None) -> Any:
        return (
            getattr(accelerator, name)(_place(device))
            if device_names.stand_for_ocl
            else ({} if name == "memory_stats" else 0)
        )

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"The value that ocl.accelerator.{name} gives; without as_torch() nothing is there."
    return read


memory_allocated = _memory("memory_allocated")
max_memory_allocated = _memory("max_memory_allocated")
memory_reserved = _memory("memory_reserved")
max_memory_reserved = _memory("max_memory_reserved")
memory_stats = _memory("memory_stats")


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forgets the greatest values so far."""
    if device_names.stand_for_ocl:
        accelerator.reset_peak_memory_stats(_place(device))


reset_max_memory_allocated = reset_peak_memory_stats


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """NotImplementedError: OpenCL does not say how much memory is free."""
    _require()
    raise NotImplementedError("mem_get_info: OpenCL does not say how much memory is free")


def manual_seed(seed: int) -> None:
    """Without as_torch() nothing, as in PyTorch without a CUDA device; otherwise ocl.manual_seed."""
    if device_names.stand_for_ocl:
        host_random.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds as manual_seed does: the devices have one stream."""
    manual_seed(seed)


def seed() -> None:
    """Seeds from the system's noise."""
    _require()
    from ocl.random import seed

    seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the devices."""
    _require()
    return _C.initial_seed()


def get_rng_state(device: Any = None) -> Any:
    """The state of the random numbers, one for all devices."""
    _require()
    return _C.get_rng_state()


def set_rng_state(new_state: Any, device: Any = None) -> None:
    """Puts a state of get_rng_state back."""
    _require()
    _C.set_rng_state(new_state)


def get_rng_state_all() -> list:
    """A list of the states, one for each device: they have one stream, so that all are the same."""
    return [_C.get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: list) -> None:
    """Puts the first state back, which is that of all devices."""
    if new_states:
        set_rng_state(new_states[0])
