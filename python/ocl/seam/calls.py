"""The calls that a function makes, as an interceptor and a log hear of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl.seam import parts, performing
from ocl.seam.parts import tensors_in
from ocl.shapes import shapes_only

__all__ = ["Entry", "Heard", "at", "last_writes", "outermost", "results"]


class Heard(NamedTuple):
    """A call as the interceptor hears of it: the tensors with their history, and whether each has one. Also
    whether gradients are recorded, and the mode of autocast.
    """

    name: str
    tensors: list
    has_history: list[bool]
    records: bool
    autocast: tuple


class Entry(NamedTuple):
    name: str
    arguments: dict
    inner: list
    heard: Heard | None


class _Primitive(NamedTuple):
    name: str
    arguments: dict


def outermost(calls: list[tuple], heard: list[Heard]) -> list[Entry]:
    """The operators that no other one called, each with the primitives that it called."""
    found: list[Entry] = []
    told = iter(heard)
    pending = next(told, None)
    within: list[tuple] = []
    depth_of_one = None

    def close() -> None:
        if found:
            found[-1].inner.extend(_Primitive(n, a) for n, _, _, a in _topmost(within, "primitive"))
        within.clear()

    for call in calls:
        name, kind, depth, arguments = call
        if depth_of_one is not None and depth > depth_of_one:
            within.append(call)
            if (
                kind == "operator"
                and found[-1].heard is None
                and pending is not None
                and pending.name == name
            ):
                pending = next(told, None)  # an operator within one that no interceptor hears of
            continue
        close()
        depth_of_one = depth if kind in ("operator", "primitive") else None
        if depth_of_one is None:
            continue
        own = None
        hears = kind == "operator" and not performing.is_in_place(name, arguments)
        if hears and pending is not None and pending.name == name:
            own, pending = pending, next(told, None)
        found.append(Entry(name, arguments, [], own))
    close()
    return found


def _logged(name: str, arguments: dict) -> tuple[Any, list[tuple]]:
    """The result of a call, and the calls within."""
    log = _C._CallLog()
    log.start()
    try:
        made = performing.perform(name, arguments)
    finally:
        log.stop()
    return made, log.entries()


def _topmost(calls: list[tuple], kind: str) -> list[tuple]:
    """The calls of a kind that are not within another one of it."""
    found, depth_of_one = [], None
    for call in calls:
        depth = call[2]
        if depth_of_one is not None and depth > depth_of_one:
            continue
        depth_of_one = depth if call[1] == kind else None
        if depth_of_one is not None and call[0] != "upload":  # of numbers that Python gives
            found.append(call)
    return found


def last_writes(entries: list[Entry]) -> dict[int, int]:
    """For each storage that is written in place the place of the last entry that does."""
    found = {}
    for place, entry in enumerate(entries):
        if performing.is_in_place(entry.name, entry.arguments):
            found[_C._storage_key(next(iter(tensors_in(entry.arguments))))] = place
    return found


def results(entry: Entry, arguments: dict, caller: str) -> tuple[list[tuple], list[tuple]]:
    """Where the results of a call stand, and their shapes and dtypes.

    The call is made again with these arguments. The memory of its results is found among the arguments of the
    primitives that it calls, which are those of the first call. A place is ("argument", path)
    or (number of the primitive, path), and the layout: shape, strides, offset and dtype. There are no places
    where nothing was computed. ``caller`` begins the messages of errors.
    """
    try:
        with shapes_only():
            made, calls = _logged(entry.name, arguments)
    except RuntimeError as error:
        if "shapes only" not in str(error):
            raise
        made, calls = _logged(entry.name, arguments)
    primitives = [(n, a) for n, kind, _, a in _topmost(calls, "primitive")]
    if [n for n, _ in primitives] != [p.name for p in entry.inner]:
        raise NotImplementedError(
            f"{caller}: {entry.name}: a second call took another way: {[n for n, _ in primitives]} and "
            f"{[p.name for p in entry.inner]}"
        )
    flat = [leaf for _, leaf in parts.parts(made)]
    where = {}
    for path, value in parts.parts(arguments):
        if isinstance(value, Tensor):
            where.setdefault(_C._storage_key(value), ("argument", path))
    for number, (_, given_to) in enumerate(primitives):
        for path, value in parts.parts(given_to):
            if isinstance(value, Tensor):
                where.setdefault(_C._storage_key(value), (number, path))
    places = []
    for result in flat:
        place = where.get(_C._storage_key(result))
        if place is None:
            if result.numel() and entry.inner:
                raise NotImplementedError(f"{caller}: {entry.name}: where its result lies is not known")
            if result.numel():
                return [], []  # nothing was computed: memory for results to come
            place = next(iter(where.values()))
        layout = tuple(result.shape), result.stride(), result.storage_offset(), result.dtype
        places.append((*place, layout))
    return places, [(tuple(r.shape), r.dtype) for r in flat]


def at(entry: Entry, kind: str | int, path: tuple) -> Tensor:
    """The tensor of a call that stands at a place of `results`."""
    given = entry.arguments if kind == "argument" else entry.inner[kind].arguments
    return dict(parts.parts(given))[path]
