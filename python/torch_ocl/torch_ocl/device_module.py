"""``torch.ocl``: what ``torch.cuda`` is for CUDA's devices."""

from __future__ import annotations

from types import TracebackType

import torch

from torch_ocl import _C, amp, legacy_types, memory, nvtx, random
from torch_ocl._devices import Device, index_of
from torch_ocl.device_properties import (
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
)
from torch_ocl.graphs import (
    OCLGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from torch_ocl.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from torch_ocl.random import (
    default_generator,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torch_ocl.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "Event",
    "OCLGraph",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "default_generator",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "fallbacks",
    "get_amp_supported_dtype",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "nvtx",
    "random",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    *legacy_types.TYPES,
]

globals().update(legacy_types.TYPES)  # torch.ocl.FloatTensor and its kin

OutOfMemoryError = torch.OutOfMemoryError


def is_available() -> bool:
    """Whether there is a device."""
    return _C.device_count() > 0


def device_count() -> int:
    """Devices of all OpenCL platforms."""
    return _C.device_count()


def current_device() -> int:
    """The index of this thread's device."""
    return _C.current_device()


def set_device(device: Device) -> None:
    """Sets this thread's device."""
    _C.set_device(index_of(device))


def synchronize(device: Device = None) -> None:
    """Waits for all that was enqueued. Raises what the device could only see while it ran."""
    _C.synchronize(index_of(device))


def init() -> None:
    """Devices are opened at first use: nothing is left to do."""


def ipc_collect() -> None:
    """Nothing is left to do: OpenCL has no memory that processes share."""


def fallbacks() -> dict[str, int]:
    """How often each operator that there is no kernel for ran on the CPU."""
    return _C.fallbacks()


def is_initialized() -> bool:
    """Always: see :func:`init`."""
    return True


# The question of torch.utils.checkpoint before it keeps the random state of the device.
_initialized = True


def _is_in_bad_fork() -> bool:
    return _C.is_forked()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that ``torch.autocast("ocl")`` may compute in."""
    return [torch.float16, torch.bfloat16]


def is_bf16_supported() -> bool:
    """Every device stores bfloat16."""
    return True


class device:
    """The devices that a block of code runs on, as torch.cuda.device."""

    def __init__(self, device: Device) -> None:
        self._index = -1 if device is None else index_of(device)

    def __enter__(self) -> None:
        self._before = _C.exchange_device(self._index)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _C.set_device(self._before)


class device_of(device):
    """The device of a tensor, as torch.cuda.device_of; nothing for one elsewhere."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == "ocl" else None)
