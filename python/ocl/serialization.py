"""Saving and loading: nested dicts, lists and tuples of tensors, numbers and strings as one safetensors file.

Tensors are written directly from the device under their path in the structure ("state/0/exp_avg"); a flat state dict keeps
its names as they are, so that any safetensors reader finds them. What is not a tensor goes into the file's metadata as JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = ["load", "save"]

_STRUCTURE = "tapecl.structure"


def save(obj: Any, path: str | os.PathLike) -> None:
    """Writes ``obj`` to ``path``; a crash leaves no half-written file.

    Raises TypeError for an object that is neither tensor, number, string, None, dict, list nor tuple.
    """
    if isinstance(obj, dict) and all(isinstance(value, Tensor) for value in obj.values()):
        _C._data.save_tensors(obj, os.fspath(path), {})
        return
    tensors: dict[str, Tensor] = {}
    structure = _described(obj, "", tensors)
    _C._data.save_tensors(tensors, os.fspath(path), {_STRUCTURE: json.dumps(structure)})


def load(path: str | os.PathLike, device: str | _C.device | None = None) -> Any:
    """Reads what :func:`save` wrote, or any safetensors file as a dict of tensors, to ``device``.

    Raises OSError that names the file when it is missing or damaged.
    """
    entries, metadata = _C._data.load_tensors(os.fspath(path), device)
    tensors = dict(entries)
    if _STRUCTURE not in metadata:
        return tensors
    return _rebuilt(json.loads(metadata[_STRUCTURE]), tensors)


def _described(obj: Any, path: str, tensors: dict[str, Tensor]) -> dict:
    if isinstance(obj, Tensor):
        tensors[path or "tensor"] = obj
        return {"tensor": path or "tensor"}
    if isinstance(obj, dict):
        # Keys may be ints (an optimizer's state), which JSON would turn into strings.
        return {"dict": [[key, _described(value, f"{path}/{key}" if path else str(key), tensors)] for key, value in obj.items()]}
    if isinstance(obj, list | tuple):
        items = [_described(item, f"{path}/{i}" if path else str(i), tensors) for i, item in enumerate(obj)]
        return {type(obj).__name__: items}
    if obj is None or isinstance(obj, bool | int | float | str):
        return {"value": obj}
    raise TypeError(f"save: {path or 'the object'} is a {type(obj).__name__}, which cannot be saved")


def _rebuilt(node: dict, tensors: dict[str, Tensor]) -> Any:
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _rebuilt(value, tensors) for key, value in content}
    if kind in ("list", "tuple"):
        items = [_rebuilt(item, tensors) for item in content]
        return tuple(items) if kind == "tuple" else items
    return content
