"""Checkpoints that all processes write and read together, by torch.distributed.checkpoint's names.

    state = {"net": net.module, "optimizer": optimizer, "epoch": 3}
    dist.checkpoint.save(state, "checkpoints/last")
    dist.checkpoint.load(state, "checkpoints/last")  # at any number of processes

A checkpoint is a folder, on a file system that all processes see. Each process writes one file of safetensors
with its part of the tensors, and at last process 0 writes the index, which replaces the one before as a
whole. So a folder always holds a checkpoint that is complete: the files of the one before go afterwards.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ocl
from ocl import _C
from ocl._C import Tensor
from ocl.distributed.collectives import all_gather_object
from ocl.distributed.groups import is_initialized, of
from ocl.distributed.optim import ZeroRedundancyOptimizer
from ocl.serialization.structure import rebuilt_from_json, taken_apart

__all__ = ["load", "save"]

_INDEX, _FORMAT = "index.json", "tapecl.checkpoint.1"
_PART = re.compile(r"(\d{6,})-\d{5}-of-\d{5}\.safetensors", re.ASCII)
_UNFINISHED = re.compile(_PART.pattern + r"\.[0-9a-f]+\.tmp", re.ASCII)  # what a killed writer leaves
_EMPTY = json.dumps(taken_apart({})[1])


def save(
    state_dict: dict[str, Any],
    checkpoint_id: str | os.PathLike,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Writes a checkpoint. All processes of the group call it.

    Values that several processes have under one key must be the same, and one of them writes each. Tensors
    are shared out so that all write about as much. A ZeroRedundancyOptimizer's states are written by the
    processes that have them, without consolidate_state_dict.

    Args:
        state_dict: tensors, plain values, dicts, lists and tuples of them, and at the first level objects
            that have state_dict and load_state_dict, such as modules, optimizers and schedules.
        checkpoint_id: the folder; it is made where it does not exist.
        process_group: all processes where None.
        no_dist: this process alone writes all.

    Raises:
        TypeError: a value that cannot be saved.
        ValueError: processes have other values, or tensors of other shapes or dtypes, under one key.
        OSError: a file cannot be written.
        RuntimeError: one of these in another process, whose rank is named.
        DistBackendError: a rank has ended or hangs; the checkpoint before is still there.
    """
    team = _Team(process_group, no_dist)
    folder = Path(checkpoint_id)
    leaves = team.run(lambda: _prepared(state_dict, folder))
    described = team.gather([_description(leaf) for leaf in leaves])
    number = team.gather(team.run(lambda: _next_number(folder) if team.rank == 0 else None))[0]
    plan = team.run(lambda: _planned(described))
    part = f"{number:06}-{team.rank:05}-of-{team.size:05}.safetensors"
    written = team.gather(team.run(lambda: _write_part(folder / part, plan, leaves, team.rank)))
    if team.rank == 0:
        index = {"format": _FORMAT, "parts": written, "leaves": plan}
        team.run(lambda: _commit(folder, index))
    else:
        team.run(lambda: None)


def load(
    state_dict: dict[str, Any],
    checkpoint_id: str | os.PathLike,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Reads a checkpoint, of any number of processes, into `state_dict`. All processes of the group call it.

    Tensors are written in place, other values replaced, and objects that have load_state_dict get all that
    the checkpoint has under their key. Other keys are not read. Each file is read once, and its tensors pass
    through the device of the first tensor in `state_dict`.

    Args:
        state_dict, process_group: as those of save.
        checkpoint_id: the folder.
        no_dist: this process alone reads.

    Raises:
        OSError: the checkpoint or one of its files is missing or damaged; the error names the file.
        RuntimeError: the checkpoint lacks a key of `state_dict`, or another process raised; its rank is
            named.
        ValueError: a tensor has another shape.
    """
    team = _Team(process_group, no_dist)
    values = team.run(lambda: _read(state_dict, Path(checkpoint_id)))
    team.run(lambda: _put(state_dict, values))


class _Team:
    """The processes that save or load together."""

    def __init__(self, process_group: Any, no_dist: bool) -> None:
        alone = no_dist or not is_initialized()
        self._group = None if alone else of(process_group, "checkpoint")
        self.rank, self.size = (0, 1) if alone else (self._group.rank(), self._group.size())

    def gather(self, own: Any) -> list:
        """Every process's object."""
        every = [own] * self.size
        if self._group is not None:
            all_gather_object(every, own, self._group)
        return every

    def run(self, action: Callable[[], Any]) -> Any:
        """The result of the action. Where it fails in one process all raise."""
        result = failure = None
        try:
            result = action()
        except Exception as error:
            failure = error
        texts = self.gather(None if failure is None else str(failure))
        if failure is not None:
            raise failure
        for rank, text in enumerate(texts):
            if text is not None:
                raise RuntimeError(f"rank {rank}: {text}")
        return result


class _Leaf(NamedTuple):
    """A value of nested dicts that is no dict itself, or an empty one."""

    path: tuple
    tensors: dict[str, Tensor]
    structure: str


def _prepared(state_dict: dict[str, Any], folder: Path) -> list[_Leaf]:
    if not isinstance(state_dict, dict) or not all(isinstance(key, str) for key in state_dict):
        raise TypeError("checkpoint: expected a dict with strings as keys")
    folder.mkdir(parents=True, exist_ok=True)
    return [leaf for key, element in state_dict.items() for leaf in _leaves((key,), _state_of(element))]


def _is_stateful(element: Any) -> bool:
    return hasattr(element, "state_dict") and hasattr(element, "load_state_dict")


def _state_of(element: Any) -> Any:
    if isinstance(element, ZeroRedundancyOptimizer):
        return element.sharded_state_dict()
    return element.state_dict() if _is_stateful(element) else element


def _leaves(path: tuple, value: Any, above: tuple = ()) -> Iterator[_Leaf]:
    if any(value is holder for holder in above):
        raise ValueError(f"checkpoint: {_name_of(path)} contains itself")
    if isinstance(value, dict) and value:
        for key, item in value.items():
            if not isinstance(key, bool | int | float | str | type(None)):
                raise TypeError(f"checkpoint: {_name_of(path)} has a key of type {type(key).__name__}")
            yield from _leaves((*path, key), item, (*above, value))
        return
    try:
        tensors, steps = taken_apart(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"checkpoint: {_name_of(path)}: {error}") from error
    yield _Leaf(path, tensors, json.dumps(steps))


def _description(leaf: _Leaf) -> dict:
    """A leaf without its elements: what processes tell each other."""
    return {
        "path": list(leaf.path),
        "tensors": {name: (list(t.shape), str(t.dtype)) for name, t in leaf.tensors.items()},
        "bytes": sum(t.numel() * t.element_size() for t in leaf.tensors.values()),
        "structure": leaf.structure,
    }


def _planned(described: list[list[dict]]) -> list[dict]:
    """The index's list of leaves: the same in all processes. "part" is the rank that writes the tensors."""
    holders: dict[tuple, list[int]] = {}
    found: dict[tuple, dict] = {}
    for rank, leaves in enumerate(described):
        for leaf in leaves:
            path = tuple(leaf["path"])
            holders.setdefault(path, []).append(rank)
            first = found.setdefault(path, leaf)
            if first["tensors"] != leaf["tensors"]:
                raise ValueError(
                    f"checkpoint: {_name_of(path)} is {first['tensors']} on rank {holders[path][0]}, and "
                    f"{leaf['tensors']} on rank {rank}"
                )
            if first["structure"] != leaf["structure"]:
                raise ValueError(
                    f"checkpoint: {_name_of(path)} is not the same on ranks {holders[path][0]} and {rank}"
                )
    inner = {path[:length] for path in found for length in range(1, len(path))}
    load, writers = [0] * len(described), {}
    for path in sorted(found, key=lambda path: -found[path]["bytes"]):  # the order of `found` among equals
        if found[path]["tensors"]:
            writers[path] = min(holders[path], key=lambda rank: load[rank])
            load[writers[path]] += found[path]["bytes"]
    plan, used = [], {"__metadata__"}
    for path, leaf in found.items():
        if path in inner:
            if leaf["structure"] == _EMPTY:
                continue  # such as the states of an optimizer without parameters in one process
            raise ValueError(f"checkpoint: {_name_of(path)} is a dict on one rank and none on another")
        name = _name_of(path).encode("utf-8", "backslashreplace").decode()
        while not used.isdisjoint(_tensor_names(name, leaf["tensors"])):
            name += "-"
        used.update(_tensor_names(name, leaf["tensors"]))
        plan.append(
            {
                "path": leaf["path"],
                "name": name,
                "part": writers.get(path),
                "tensors": list(leaf["tensors"]),
                "structure": leaf["structure"],
            }
        )
    return plan


def _name_of(path: tuple) -> str:
    return "/".join(map(str, path))


def _tensor_names(name: str, tensors: Any) -> list[str]:
    """In the file, by the names that the structure gives them; a tensor alone has that of its leaf."""
    return [name if own == "tensor" else f"{name}/{own}" for own in tensors]


def _write_part(path: Path, plan: list[dict], leaves: list[_Leaf], rank: int) -> dict | None:
    tensors_at = {leaf.path: leaf.tensors for leaf in leaves}
    tensors = {}
    for leaf in plan:
        if leaf["part"] == rank:
            own = tensors_at[tuple(leaf["path"])]
            tensors.update(zip(_tensor_names(leaf["name"], own), own.values(), strict=True))
    if not tensors:
        return None
    _C._data.save_tensors(tensors, str(path), {})
    return {"file": path.name, "bytes": path.stat().st_size, "crc32": _checksum(path)}


def _checksum(path: Path) -> int:
    value = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            value = zlib.crc32(block, value)
    return value


def _next_number(folder: Path) -> int:
    numbers = [int(match[1]) for file in os.listdir(folder) if (match := _PART.fullmatch(file))]
    return max(numbers, default=0) + 1


def _commit(folder: Path, index: dict) -> None:
    """Makes the parts the checkpoint, then removes those of others and of saves that were killed."""
    parts = {part["file"]: part["bytes"] for part in index["parts"] if part is not None}
    for file, size in parts.items():
        path = folder / file
        if not path.exists() or path.stat().st_size != size:
            raise OSError(f"{path}: rank 0 does not see this file, which another rank has written")
    text = json.dumps(index)
    _C._data.write_file(str(folder / _INDEX), f"{zlib.crc32(text.encode()):010} {text}".encode())
    for file in os.listdir(folder):
        if (_PART.fullmatch(file) and file not in parts) or _UNFINISHED.fullmatch(file):
            (folder / file).unlink(missing_ok=True)


def _read_index(folder: Path) -> dict:
    path = folder / _INDEX
    try:
        checksum, _, text = path.read_text().partition(" ")
    except UnicodeDecodeError as error:
        raise OSError(f"{path}: damaged: {error}") from error
    if not (checksum.isascii() and checksum.isdigit()) or zlib.crc32(text.encode()) != int(checksum):
        raise OSError(f"{path}: damaged, or no index of a checkpoint")
    try:
        index = json.loads(text)
        if index["format"] != _FORMAT:
            raise OSError(f"{path}: of format {index['format']!r}, expected {_FORMAT!r}")
        _require_index(index)
    except (KeyError, TypeError, ValueError) as error:
        raise OSError(f"{path}: no index of a checkpoint: {error!r}") from error
    return index


def _require_index(index: dict) -> None:
    """Raises KeyError, TypeError or ValueError unless an index has all that is read from it."""
    for part in index["parts"]:
        if part is not None and not (
            _PART.fullmatch(part["file"])
            and isinstance(part["bytes"], int)
            and isinstance(part["crc32"], int)
        ):
            raise ValueError(f"a part {part!r}")
    for leaf in index["leaves"]:
        strings = [leaf["name"], leaf["structure"], *leaf["tensors"]]
        if not leaf["path"] or not all(isinstance(text, str) for text in strings):
            raise ValueError(f"a leaf {leaf!r}")
        if leaf["tensors"] and index["parts"][leaf["part"]] is None:
            raise ValueError(f"a leaf without its part: {leaf!r}")


def _read(state_dict: dict[str, Any], folder: Path) -> dict[tuple, Any]:
    """The values of the checkpoint that `state_dict` asks for, by path."""
    index = _read_index(folder)
    wanted = [leaf for key, element in state_dict.items() for leaf in _wanted(key, element, index["leaves"])]
    device = _device_of(state_dict)
    tensors: dict[str, Tensor] = {}
    for number, part in enumerate(index["parts"]):
        names = [n for f in wanted if f["part"] == number for n in _tensor_names(f["name"], f["tensors"])]
        if names:
            there = _read_part(folder, part, device)
            tensors.update((name, there[name]) for name in names)
    values = {}
    for leaf in wanted:
        own = zip(leaf["tensors"], _tensor_names(leaf["name"], leaf["tensors"]), strict=True)
        named = {name: tensors[full] for name, full in own}
        values[tuple(leaf["path"])] = rebuilt_from_json(leaf["structure"], named)
    for path, there, value in _tensors_in_place(state_dict, values):
        if there.shape != value.shape:
            raise ValueError(
                f"checkpoint: {_name_of(path)} has shape {tuple(value.shape)}, expected {tuple(there.shape)}"
            )
    return values


def _wanted(key: str, element: Any, leaves: list[dict]) -> list[dict]:
    under = {tuple(leaf["path"]): leaf for leaf in leaves if leaf["path"][0] == key}
    if _is_stateful(element):
        if not under:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {key}.")
        if isinstance(element, ZeroRedundancyOptimizer):
            return [leaf for path, leaf in under.items() if element.loads(path[1:])]
        return list(under.values())
    found = []
    for path, _ in _places({key: element}):
        if path not in under:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {_name_of(path)}.")
        found.append(under[path])
    return found


def _places(nested: dict, path: tuple = ()) -> Iterator[tuple[tuple, dict]]:
    """The paths of what is no dict, and the dicts that it is in."""
    for key, value in list(nested.items()):
        if isinstance(value, dict):
            yield from _places(value, (*path, key))
        else:
            yield (*path, key), nested


def _read_part(folder: Path, part: dict, device: Any) -> dict[str, Tensor]:
    path = folder / part["file"]
    if path.stat().st_size != part["bytes"]:
        raise OSError(f"{path}: damaged: {path.stat().st_size} bytes, expected {part['bytes']}")
    if _checksum(path) != part["crc32"]:
        raise OSError(f"{path}: damaged: its bytes are not those that were written")
    tensors, _ = _C._data.load_tensors(str(path), device)
    return dict(tensors)


def _device_of(state_dict: dict[str, Any]) -> Any:
    """Where the first tensor is; None, the default device, without one."""
    for element in state_dict.values():
        if hasattr(element, "param_groups"):
            tensors = (p for group in element.param_groups for p in group["params"])
        elif hasattr(element, "parameters"):
            tensors = element.parameters()
        else:
            tensors = (holder[path[-1]] for path, holder in _places({"": element}))
        for tensor in tensors:
            if isinstance(tensor, Tensor):
                return tensor.device
    return None


def _put(state_dict: dict[str, Any], values: dict[tuple, Any]) -> None:
    with ocl.no_grad():
        for _, there, value in _tensors_in_place(state_dict, values):
            there.copy_(value)
    for key, element in list(state_dict.items()):
        if _is_stateful(element):
            element.load_state_dict(_nested({p[1:]: v for p, v in values.items() if p[0] == key}))
            continue
        for path, holder in _places({key: element}):
            if not _goes_in_place(holder[path[-1]], values[path]):
                (state_dict if len(path) == 1 else holder)[path[-1]] = values[path]


def _goes_in_place(there: Any, value: Any) -> bool:
    return all(isinstance(each, Tensor) and not each.is_sparse for each in (there, value))


def _tensors_in_place(state_dict: dict, values: dict[tuple, Any]) -> Iterator[tuple[tuple, Tensor, Tensor]]:
    """The tensors of `state_dict` that take values, by path."""
    for path, holder in _places(state_dict):
        there = holder[path[-1]]
        if path in values and _goes_in_place(there, values[path]):
            yield path, there, values[path]


def _nested(values: dict[tuple, Any]) -> Any:
    if () in values:
        return values[()]
    nested: dict = {}
    for path, value in values.items():
        holder = nested
        for key in path[:-1]:
            holder = holder.setdefault(key, {})
        holder[path[-1]] = value
    return nested
