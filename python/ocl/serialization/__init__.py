"""Saving and loading: safetensors files, which hold any structure of tensors, and the files of PyTorch.

``save`` writes tensors directly from the device under their path in the structure; a flat state dict keeps
its names as they are, so that any safetensors reader finds them. Values other than tensors go into the file's
metadata. ``load`` tells the formats apart by what a file begins with.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

from ocl import _C, device_names
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
from ocl.serialization.sources import File, Source, described, is_safetensors, path_to_write, source_of
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


def _is_dense(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_sparse


def save(obj: Any, f: File) -> None:
    """Writes ``obj`` to ``f``, a path or a binary file, in the safetensors format. Matches torch.save.

    At a path, a crash leaves no half-written file; what is replaced keeps its mode, and a symbolic link stays
    one. A file that is open is written to once the whole is in a temporary one.

    Raises TypeError for an object that is neither tensor, number, string, None, array of numbers, dict, list
    nor tuple, ValueError for one that contains itself, and OSError. Under ``ocl.as_torch()`` what would be a
    TypeError is pickled: ``pickle.load`` reads it, and ``load`` does not.
    """
    if isinstance(obj, dict) and all(isinstance(k, str) and _is_dense(v) for k, v in obj.items()):
        tensors, metadata = obj, {}
    else:
        try:
            tensors, steps = taken_apart(obj)
        except TypeError:
            if not device_names.stand_for_ocl:
                raise
            _save_pickle(obj, f)
            return
        metadata = {_STRUCTURE: json.dumps(steps)}
    with path_to_write(f) as path:
        _C._data.save_tensors(tensors, path, metadata)


def _save_pickle(obj: Any, f: File) -> None:
    content = pickle.dumps(obj)
    with path_to_write(f) as path, open(path, "wb") as file:
        file.write(content)


def load(f: File, map_location: MapLocation = None, *, weights_only: bool = True) -> Any:
    """Reads what :func:`save` or torch.save wrote, or any safetensors file as a dict of tensors.

    Matches torch.load, without PyTorch. No code of a file is run. Tensors, parameters and plain containers
    of PyTorch's files are loaded, as with ``torch.load(weights_only=True)``. Anything else is refused by
    name unless ``add_safe_globals`` of this module allows it.

    Args:
        f: the path of a file of safetensors, or of torch.save in its zip format or the one before it; or such
            a file, opened in binary mode, what is left of which is read whole. Its content tells what it is.
        map_location: the device that the tensors go to, whichever they were saved from; None is the default
            device. Also a dict from locations ("cuda:0") to devices, or a function of a buffer and its
            location that gives the buffer, moved or not, or None. Safetensors files have the location "cpu".
        weights_only: False allows no more than True does. Programs that say it load what such files hold in
            the most cases: tensors, numbers, texts and containers of them.

    Raises:
        OSError: it is missing, damaged, of another format or no regular file; the error names it.
        UnpicklingError: an OSError, and a pickle.UnpicklingError: a file of PyTorch's is damaged, or holds
            something that is not loaded from files.
    """
    source = source_of(f)
    placement = Placement(map_location)
    if torch_file.is_torch_file(source.content):
        return _load_torch_file(source, placement)
    if not is_safetensors(source.content):
        raise OSError(f"{source.name}: {described(source.content)}")
    return _load_safetensors(source, placement)


def _load_torch_file(source: Source, placement: Placement) -> Any:
    try:
        return torch_file.load(source.content, placement)
    except UnpicklingError as error:
        raise UnpicklingError(f"{source.name}: {error}") from error
    except _C.DeviceError as error:
        raise type(error)(f"{source.name}: {error}") from error


def _load_safetensors(source: Source, placement: Placement) -> Any:
    with source.as_path() as path:
        entries, metadata = _C._data.load_tensors(path, placement.device_of("cpu"))
    tensors = {name: placement.moved(tensor, "cpu") for name, tensor in dict(entries).items()}
    if _STRUCTURE not in metadata:
        return tensors
    try:
        return rebuilt_from_json(metadata[_STRUCTURE], tensors)
    except ValueError as error:
        raise OSError(f"{source.name}: its metadata {_STRUCTURE} is damaged: {error!r}") from error
