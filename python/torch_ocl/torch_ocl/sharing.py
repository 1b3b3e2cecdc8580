"""Tensors on their way to another process: ``multiprocessing``'s queues and pipes, arguments of processes,
workers of a DataLoader.

OpenCL has no memory that processes share. A tensor of an ocl device goes as a copy of its elements. The
copy is there even if the sender has ended, and comes to the device of the same number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch
from torch.multiprocessing import reductions

Reduced = tuple[Callable, tuple]


def _raise(error: Exception) -> None:
    raise error


def _told_to_the_receiver(error: Exception) -> Reduced:
    """A queue pickles in a thread of its own, which drops what it cannot pickle: the receiver would wait for
    ever. It gets the error instead."""
    reason = f"{type(error).__name__}: {error}"
    return _raise, (RuntimeError(f"a tensor could not be read by the process that sent it: {reason}"),)


def _sent(reduce: Callable[[Any], Reduced], given: Any) -> Reduced:
    try:
        return reduce(given)
    except Exception as error:
        if threading.current_thread().name != "QueueFeederThread":
            raise
        return _told_to_the_receiver(error)


def _bytes_of(host: torch.UntypedStorage) -> np.ndarray:
    return torch.empty(0, dtype=torch.uint8).set_(host).numpy()


def _storage_of(elements: np.ndarray) -> torch.UntypedStorage:
    return torch.from_numpy(elements).untyped_storage()


def _rebuild_tensor(
    kind: type[torch.Tensor],
    elements: np.ndarray,
    layout: tuple[torch.dtype, tuple[int, ...], tuple[int, ...]],
    device: torch.device,
    requires_grad: bool,
) -> torch.Tensor:
    dtype, size, strides = layout
    tensor = torch.empty(0, dtype=dtype).set_(_storage_of(elements), 0, size, strides).to(device)
    if kind is torch.nn.Parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _reduce_tensor(tensor: torch.Tensor) -> Reduced:
    if tensor.requires_grad and not tensor.is_leaf:
        return reductions.reduce_tensor(tensor)  # which refuses
    torch.utils.hooks.warn_if_has_hooks(tensor)
    host = tensor.detach().cpu().resolve_conj().resolve_neg()
    layout = host.dtype, tuple(host.size()), host.stride()
    elements = _bytes_of(host.untyped_storage())
    return _rebuild_tensor, (type(tensor), elements, layout, tensor.device, tensor.requires_grad)


def _rebuild_storage(elements: np.ndarray, device: torch.device) -> torch.UntypedStorage:
    return torch.UntypedStorage(len(elements), device=device).copy_(_storage_of(elements), False)


def _reduce_storage(storage: torch.UntypedStorage) -> Reduced:
    return _rebuild_storage, (_bytes_of(storage.cpu()), storage.device)


def _reduce_any_tensor(tensor: torch.Tensor) -> Reduced:
    is_ours = tensor.device.type == "ocl" and tensor.layout == torch.strided
    return _sent(_reduce_tensor, tensor) if is_ours else reductions.reduce_tensor(tensor)


def _reduce_any_storage(storage: torch.UntypedStorage) -> Reduced:
    is_ours = storage.device.type == "ocl"
    return _sent(_reduce_storage, storage) if is_ours else reductions.reduce_storage(storage)


def install() -> None:
    """Makes multiprocessing send ocl tensors and storages so."""
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce_any_tensor)
    ForkingPickler.register(torch.UntypedStorage, _reduce_any_storage)
