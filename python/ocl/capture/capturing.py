"""From the calls that a function makes to a graph: which of them count, and what they read and write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import ocl
from ocl import _C
from ocl._C import Tensor
from ocl.capture.graph import Graph, Node, Value
from ocl.capture.sizes import Size, fitted, samples
from ocl.seam import calls, parts, performing
from ocl.seam.parts import elements_key, tensors_in
from ocl.seam.reading import reads_heard

__all__ = ["CaptureError", "capture"]

_LOST = ", and a graph would keep their value of today as a number"
_OVERWRITING = ("copy_", "fill_", "zero_")  # whose target's elements do not count
_RANDOM = "rand randn randint randperm normal bernoulli multinomial dropout rrelu gumbel_softmax".split()


class CaptureError(ValueError):
    """The work of a function has no graph; the message says which call, and why."""


def capture(
    function: Callable, args: tuple[Tensor, ...], *, names: list[str] | None = None,
    states: list[tuple[str, Tensor]] = (), sizes: list[dict[int, str]] | None = None,
) -> Graph:  # fmt: skip
    """The operators of ``function(*args)`` as a graph. No gradients are recorded, and ``args`` keep their
    values.

    ``names`` are those of the inputs, ``states`` the names of tensors that the function holds. Other tensors
    that it takes from outside become constants, and so does what it computes from no input and no state.
    ``sizes`` has for each input the axes that may have other sizes, and their names. Axes of one name have
    one size.

    Raises `CaptureError` where a number or a constant depends on them in a way that no formula fits, or where
    the function makes other calls with other sizes. So does a view that is used after its memory was written
    by way of another one.
    """
    names = names or [f"input_{i}" for i in range(len(args))]
    sizes = sizes or [{} for _ in args]
    symbols: dict[str, tuple[int, int]] = {}
    for i, axes in enumerate(sizes):
        for axis, name in axes.items():
            symbols.setdefault(name, (i, axis))
            i0, axis0 = symbols[name]
            if args[i].shape[axis] != args[i0].shape[axis0]:
                raise CaptureError(
                    f"capture: the size {name!r} is {args[i0].shape[axis0]} in {names[i0]} and "
                    f"{args[i].shape[axis]} in {names[i]}"
                )
    wanted = samples({name: args[i].shape[axis] for name, (i, axis) in symbols.items()})
    runs = []
    for run in wanted:
        given = [_resized(x, {axis: run[n] for axis, n in axes.items()})
                 for x, axes in zip(args, sizes, strict=True)]  # fmt: skip
        try:
            runs.append(_Run(function, given))
        except Exception as error:
            if run is wanted[0]:
                raise
            raise CaptureError(f"capture: the function fails with the sizes {run}: {error}") from error
    return _Builder(runs, wanted, names, list(states), symbols).graph()


def _resized(x: Tensor, axes: dict[int, int]) -> Tensor:
    """A copy with other sizes, of the same elements."""
    x = x.detach()
    for axis, size in axes.items():
        if size != x.shape[axis]:
            places = ocl.arange(size, device=x.device) % max(x.shape[axis], 1)
            x = ocl.index_select(x, axis, places)
    return x.clone()


class _Run:
    """One call of the function: what it was given, the calls that it made, and its results."""

    def __init__(self, function: Callable, inputs: list[Tensor]) -> None:
        self.inputs = inputs
        self.reads: list[tuple[str, Tensor]] = []
        log = _C._CallLog()
        log.start()
        try:
            with ocl.no_grad(), reads_heard(lambda name, tensor: self.reads.append((name, tensor))):
                made = function(*inputs)
        finally:
            log.stop()
        self.entries = calls.outermost(log.entries(), [])
        self.arguments = [_normal(entry) for entry in self.entries]
        self.results = [leaf for _, leaf in parts.parts(made)]
        for result in self.results:
            if not isinstance(result, Tensor):
                raise TypeError(
                    "capture: results must be tensors, or tuples, lists and dicts of them, "
                    f"got {type(result).__name__}"
                )


def _normal(entry: calls.Entry) -> dict:
    """The arguments, with slices of an index taken apart."""
    if "items" not in entry.arguments:
        return entry.arguments
    items = [_item(each) if isinstance(each, str) else each for each in entry.arguments["items"]]
    return {**entry.arguments, "items": items}


def _item(text: str) -> Any:
    if not re.fullmatch(r"(-?\d*:)+-?\d*", text):
        return text
    numbers = [int(each) if each else None for each in text.split(":")]
    return dict(zip(("start", "end", "step"), [*numbers, None][:3], strict=True))


class _Builder:
    def __init__(self, runs: list[_Run], sizes: list[dict[str, int]], names, states, symbols) -> None:
        self.runs, self.sizes, self.base = runs, sizes, runs[0]
        self.values: dict[tuple, Value] = {}
        self.live: set[int] = set()
        self.stale: dict[tuple, str] = {}
        self.within: dict[int, str] = {}  # memory that an operator made, by its name
        self.counts: dict[str, int] = {}
        self.written = calls.last_writes(self.base.entries)
        self.found = Graph([], [])
        for i, name in enumerate(names):
            self.found.inputs.append(
                self._put(self.base.inputs[i], name, self._shape([r.inputs[i] for r in runs]))
            )
        for name, tensor in states:
            if elements_key(tensor) not in self.values:
                value = self._put(tensor, name, tuple(tensor.shape))
                value.tensor = tensor
                self.found.states.append(value)
        self.held = {_C._storage_key(tensor) for _, tensor in states}
        for name, (i, axis) in symbols.items():
            self.found.symbols[name] = self.found.inputs[i], axis

    def graph(self) -> Graph:
        for run, sizes in zip(self.runs[1:], self.sizes[1:], strict=True):
            told, expected = [e.name for e in run.entries], [e.name for e in self.base.entries]
            if told != expected:
                at = next((i for i, (a, b) in enumerate(zip(told, expected, strict=False)) if a != b), -1)
                raise CaptureError(
                    f"capture: other calls are made with the sizes {sizes}, from call {at} on: "
                    f"{told[at]} in place of {expected[at]}"
                )
        for place, entry in enumerate(self.base.entries):
            arguments, depends = self._fitted(place)
            self.place = place
            live = [t for t in tensors_in(entry.arguments) if _C._storage_key(t) in self.live]
            if live or depends or entry.name in _RANDOM:
                self._add(entry, arguments)
        for i, result in enumerate(self.base.results):
            self.place = len(self.base.entries)
            value = self._value(result, "the result", [r.results[i] for r in self.runs])
            self.found.outputs.append(value)
        for name, tensor in self.base.reads:
            if _C._storage_key(tensor) in self.live - self.held:
                raise CaptureError(f"capture: .{name}() reads elements that depend on the inputs{_LOST}")
        used = {id(v) for n in self.found.nodes for v in n.inputs()} | {id(v) for v in self.found.outputs}
        self.found.states = [each for each in self.found.states if id(each) in used]
        return self.found

    # ---- numbers

    def _fitted(self, place: int) -> tuple[dict, bool]:
        """The arguments of a call with formulas for what changes with the sizes, and whether any does."""
        flat = [list(parts.parts(run.arguments[place])) for run in self.runs]
        if len({tuple(path for path, _ in each) for each in flat}) > 1:
            raise CaptureError(f"capture: {self.base.entries[place].name}: other arguments with other sizes")
        made, depends = {}, False
        for i, (path, value) in enumerate(flat[0]):
            made[path] = value
            if isinstance(value, Tensor) or len(self.runs) == 1:
                continue
            others = [each[i][1] for each in flat]
            if all(each == value or each != each for each in others):
                continue
            name = self.base.entries[place].name
            made[path] = self._fit(others, f"{name}: the argument {'.'.join(map(str, path))}")
            depends = True
        return _nested(self.base.arguments[place], made), depends

    def _fit(self, values: list, what: str) -> int | Size:
        numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
        size = fitted(values, self.sizes) if numbers else None
        if size is None:
            told = ", ".join(f"{v} for {s}" for v, s in zip(values, self.sizes, strict=True))
            raise CaptureError(f"capture: {what} depends on the sizes, and no formula fits it: {told}")
        return size

    def _shape(self, tensors: list) -> tuple:
        shapes = [tuple(t.shape) for t in tensors]
        if len({len(s) for s in shapes}) > 1:
            raise CaptureError(
                f"capture: a tensor has another number of dimensions with other sizes: {shapes}"
            )
        return tuple(self._fit([s[i] for s in shapes], f"a size of a tensor {list(shapes[0])}")
                     for i in range(len(shapes[0])))  # fmt: skip

    # ---- values

    def _name(self, stem: str) -> str:
        self.counts[stem] = self.counts.get(stem, 0) + 1
        return stem if self.counts[stem] == 1 else f"{stem}_{self.counts[stem] - 1}"

    def _put(self, tensor: Tensor, name: str, shape: tuple) -> Value:
        return self._put_key(elements_key(tensor), name, shape)

    def _put_key(self, key: tuple, name: str, shape: tuple) -> Value:
        value = Value(self._name(name), shape, key[-1])
        self.values[key] = value
        self.stale.pop(key, None)
        self.live.add(key[0])
        return value

    def _value(self, tensor: Tensor, what: str, in_runs: list[Tensor]) -> Value:
        key = elements_key(tensor)
        if key in self.stale:
            raise CaptureError(
                f"capture: {what} takes a view of memory that {self.stale[key]} wrote by way of another "
                "view. Use the operator that makes a new tensor"
            )
        if key in self.values:
            return self.values[key]
        if key[0] in self.within and key[0] not in self.live:
            raise CaptureError(f"capture: {what} takes a result of {self.within[key[0]]} that is not told of")
        if key[0] in self.live and tensor.numel():
            raise CaptureError(
                f"capture: {what} takes a view of shape {list(tensor.shape)} that no operator made"
            )
        if self.written.get(key[0], -1) >= self.place:
            raise CaptureError(f"capture: {what} takes a constant that is written in place afterwards")
        for other in in_runs[1:]:
            if tuple(other.shape) != tuple(tensor.shape) or not _equal(other, tensor):
                raise CaptureError(f"capture: {what} takes a constant that depends on the sizes, which "
                                   "operators of tensors did not make")  # fmt: skip
        value = Value(self._name("constant"), tuple(tensor.shape), tensor.dtype, tensor)
        self.values[key] = value
        self.found.constants.append(value)
        return value

    def _add(self, entry: calls.Entry, arguments: dict) -> None:
        what = entry.name
        if what == "copy":  # the primitive, which no operator calls: elements on their way to the host
            if any(_C._storage_key(t) in self.live - self.held for t in tensors_in(entry.arguments)):
                raise CaptureError(f"capture: elements that depend on the inputs are read{_LOST}")
            return
        flat = [dict(parts.parts(run.arguments[self.place])) for run in self.runs]
        known = {_C._storage_key(t) for t in tensors_in(entry.arguments)}
        for made in (t for each in entry.inner for t in tensors_in(each.arguments)):
            if _C._storage_key(made) not in known:
                self.within.setdefault(_C._storage_key(made), what)
        in_place = performing.is_in_place(entry.name, entry.arguments)

        def given(path: tuple, leaf: Any) -> Any:
            return (
                self._value(leaf, what, [each[path] for each in flat]) if isinstance(leaf, Tensor) else leaf
            )

        if what in _OVERWRITING:
            arguments = dict(list(arguments.items())[1:])
        leaves = {path: given(path, leaf) for path, leaf in parts.parts(arguments)}
        named = _nested(arguments, leaves)
        if in_place:
            self._write(entry, named)
            return
        try:
            with ocl.no_grad():
                places, _ = calls.results(entry, entry.arguments, "capture")
                shapes = [
                    [shape for shape, _ in calls.results(e, e.arguments, "capture")[1]]
                    for e in (run.entries[self.place] for run in self.runs[1:])
                ]
        except (NotImplementedError, TypeError) as error:
            raise CaptureError(f"capture: {what}: {error}") from error
        results = []
        for i, (kind, where, (shape, stride, offset, dtype)) in enumerate(places):
            source = calls.at(entry, kind, where)
            fit = [self._fit([shape[d], *(s[i][d] for s in shapes)], f"{what}: a size of its result")
                   for d in range(len(shape))]  # fmt: skip
            key = (_C._storage_key(source), offset, shape, stride, dtype)
            results.append(self._put_key(key, what, tuple(fit)))
        if results:
            self.found.nodes.append(Node(what, named, results))

    def _write(self, entry: calls.Entry, named: dict) -> None:
        """A write in place as an operator with a new value, and what else shows that memory."""
        target = next(iter(tensors_in(entry.arguments)))
        key = elements_key(target)
        if key[0] in self.held:
            raise CaptureError(f"capture: {entry.name} writes to a parameter or buffer")
        shape = self._shape([next(iter(tensors_in(run.entries[self.place].arguments))) for run in self.runs])
        for other in [k for k in self.values if k[0] == key[0] and k != key]:
            self.stale[other] = entry.name
        named = {k: v for k, v in named.items() if k != "target"}
        name = entry.name.removesuffix("_")
        self.found.nodes.append(Node(name, named, [self._put_key(key, name, shape)]))


def _nested(like: Any, leaves: dict, path: tuple = ()) -> Any:
    if isinstance(like, dict):
        return {key: _nested(each, leaves, (*path, key)) for key, each in like.items()}
    if isinstance(like, (list, tuple)):
        return [_nested(each, leaves, (*path, i)) for i, each in enumerate(like)]
    return leaves[path]


def _equal(a: Tensor, b: Tensor) -> bool:
    a, b = (t.detach().to(ocl.float32) if t.dtype == ocl.bfloat16 else t.detach() for t in (a, b))
    return np.array_equal(a.numpy(), b.numpy(), equal_nan=a.is_floating_point())
