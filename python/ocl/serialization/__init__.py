"""Saving and loading: safetensors files, which hold any structure of tensors, and the files of PyTorch.

``save`` writes tensors directly from the device under their path in the structure; a flat state dict keeps
its names as they are, so that any safetensors reader finds them. What is no tensor goes into the file's
metadata. ``load`` tells the formats apart by what a file begins with.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.serialization import torch_file
from ocl.serialization.allow_list import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from ocl.serialization.errors import UnpicklingError
from ocl.serialization.placement import MapLocation, Placement
from ocl.serialization.structure import rebuilt_from_json, taken_apart

__all__ = [
    "UnpicklingError",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

_STRUCTURE = "tapecl.structure"


def save(obj: Any, path: str | os.PathLike) -> None:
    """Writes ``obj`` to ``path`` as a safetensors file; a crash leaves no half-written file. As torch.save.

    What is replaced keeps its mode, and a symbolic link stays one.

    Raises TypeError for an object that is neither tensor, number, string, None, dict, list nor tuple,
    ValueError for one that contains itself, and OSError.
    """
    path = os.fspath(path)
    if isinstance(obj, dict) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in obj.items()):
        _C._data.save_tensors(obj, path, {})
        return
    tensors, steps = taken_apart(obj)
    _C._data.save_tensors(tensors, path, {_STRUCTURE: json.dumps(steps)})


def load(path: str | os.PathLike, map_location: MapLocation = None, *, weights_only: bool = True) -> Any:
    """Reads what :func:`save` or torch.save wrote, or any safetensors file as a dict of tensors.

    As torch.load, without PyTorch.
    No code of a file is run: of PyTorch's files, tensors, parameters and plain containers are loaded, as with
    ``torch.load(weights_only=True)``, and anything else is refused by name unless ``add_safe_globals`` of
    this module allows it.

    Args:
        path: a file of safetensors, or of torch.save in its zip format or the one before it.
        map_location: the device that the tensors go to, whichever they were saved from; None is the default
            device. For PyTorch's files also a dict from locations ("cuda:0") to devices, or a function of a
            buffer and its location that gives the buffer, moved or not, or None.
        weights_only: must be True.

    Raises:
        OSError: it is missing, damaged or no regular file; the error names it.
        UnpicklingError: an OSError, and a pickle.UnpicklingError: a file of PyTorch's is damaged, or holds
            something that is not loaded from files.
    """
    if not weights_only:
        raise ValueError("load: weights_only=False would run code that the file holds, which is never done")
    path = os.fspath(path)
    content = torch_file.mapped(path)
    placement = Placement(map_location)
    if torch_file.is_torch_file(content):
        return _load_torch_file(path, content, placement)
    if not placement.is_one_device:
        raise TypeError("load: a safetensors file has no locations; map_location must be a device or None")
    return _load_safetensors(path, placement.device)


def _load_torch_file(path: str | bytes, content: Any, placement: Placement) -> Any:
    try:
        return torch_file.load(content, placement)
    except UnpicklingError as error:
        raise UnpicklingError(f"{os.fsdecode(path)}: {error}") from error
    except _C.DeviceError as error:
        raise type(error)(f"{os.fsdecode(path)}: {error}") from error


def _load_safetensors(path: str | bytes, device: _C.device) -> Any:
    entries, metadata = _C._data.load_tensors(path, device)
    tensors = dict(entries)
    if _STRUCTURE not in metadata:
        return tensors
    try:
        return rebuilt_from_json(metadata[_STRUCTURE], tensors)
    except ValueError as error:
        raise OSError(f"{os.fsdecode(path)}: its metadata {_STRUCTURE} is damaged: {error!r}") from error
