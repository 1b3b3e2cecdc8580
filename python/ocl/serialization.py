"""Saving and loading: nested dicts, lists and tuples of tensors, numbers and strings as one safetensors file.

Tensors are written directly from the device under their path in the structure ("state/0/exp_avg"); a flat
state dict keeps its names as they are, so that any safetensors reader finds them. What is no tensor goes into
the file's metadata as JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = ["load", "save"]

_STRUCTURE = "tapecl.structure"
_PLAIN = (bool, int, float, str, type(None))


def save(obj: Any, path: str | os.PathLike) -> None:
    """Writes ``obj`` to ``path``; a crash leaves no half-written file.

    Raises TypeError for an object that is neither tensor, number, string, None, dict, list nor tuple.
    """
    if isinstance(obj, dict) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in obj.items()):
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
    try:
        return _rebuilt(json.loads(metadata[_STRUCTURE]), tensors)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise OSError(f"{os.fspath(path)}: its metadata {_STRUCTURE} is damaged: {error!r}") from error


def _described(obj: Any, path: str, tensors: dict[str, Tensor]) -> dict:
    if isinstance(obj, Tensor):
        name = _unused(path or "tensor", tensors)
        tensors[name] = obj
        return {"tensor": name}
    if isinstance(obj, dict):
        # Keys may be ints (an optimizer's state), which JSON would turn into strings.
        items = []
        for key, value in obj.items():
            if not isinstance(key, _PLAIN):
                raise TypeError(f"save: {path or 'the object'} has a key of type {type(key).__name__}")
            items.append([key, _described(value, f"{path}/{key}" if path else str(key), tensors)])
        return {"dict": items}
    if isinstance(obj, list | tuple):
        items = [_described(item, f"{path}/{i}" if path else str(i), tensors) for i, item in enumerate(obj)]
        return {"tuple" if isinstance(obj, tuple) else "list": items}
    if isinstance(obj, _PLAIN):
        return {"value": obj}
    raise TypeError(f"save: {path or 'the object'} is a {type(obj).__name__}, which cannot be saved")


def _unused(name: str, tensors: dict[str, Tensor]) -> str:
    """``name``, with dashes after it where keys that read alike ("a/b", and "b" in "a") led to the same."""
    while name in tensors:
        name += "-"
    return name


def _rebuilt(node: dict, tensors: dict[str, Tensor]) -> Any:
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: _rebuilt(value, tensors) for key, value in content}
    if kind in ("list", "tuple"):
        items = [_rebuilt(item, tensors) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "value":
        return content
    raise ValueError(f"unknown part {kind!r}")
