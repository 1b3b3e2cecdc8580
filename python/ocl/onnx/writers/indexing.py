"""Operators with indices."""

from __future__ import annotations

import numpy as np

import ocl
from ocl.capture import Node, Value
from ocl.onnx.writing import NotWritable, Writer, compute_dtype, writes

_LAST = np.iinfo(np.int64).max


def _rest(items: list, ndim: int) -> list:
    """The index with whole slices in place of "..."."""
    used = sum(1 for i in items if i not in ("None", "..."))
    at = items.index("...") if "..." in items else len(items)
    whole = [{"start": None, "end": None, "step": None}] * (ndim - used)
    return [*items[:at], *whole, *items[at + 1 :]]


@writes("index")
def index(w: Writer, node: Node) -> str:
    x, items = node.arguments["a"], node.arguments["items"]
    if any(isinstance(i, Value) and i.dtype == ocl.bool_ or isinstance(i, bool) for i in items):
        raise NotWritable("with a mask its result's shape depends on the elements")
    items = _rest(items, x.ndim)
    made = w.name_of(x)
    slices = [(d, i) for d, i in enumerate(j for j in items if j != "None") if isinstance(i, dict)]
    slices = [(d, i) for d, i in slices if any(v is not None for v in i.values())]
    if slices:
        starts = w.sizes([0 if i["start"] is None else i["start"] for _, i in slices])
        ends = w.sizes([_LAST if i["end"] is None else i["end"] for _, i in slices])
        steps = w.sizes([1 if i["step"] is None else i["step"] for _, i in slices])
        made = w.op("Slice", made, starts, ends, w.constant([d for d, _ in slices]), steps)
    tensors = [d for d, i in enumerate(j for j in items if j != "None") if isinstance(i, Value)]
    if tensors:
        return _gathered(w, node, made, items)
    dim, new = 0, []
    for i in items:
        if i == "None":
            new.append(dim)
            dim += 1
        elif isinstance(i, dict):
            dim += 1
        else:
            made = w.op(
                "Gather", made, w.op("Squeeze", w.size(i), w.constant([0])), axis=_axis(items, i, new, dim)
            )
    return w.op("Unsqueeze", made, w.constant(new)) if new else w.op("Identity", made)


def _axis(items: list, item, new: list, dim: int) -> int:
    """The dimension of a number in an index, where earlier numbers are gone and no new ones are there yet."""
    return dim - len(new)


def _gathered(w: Writer, node: Node, made: str, items: list) -> str:
    """Tensors in an index: one along a dimension, or several by their places in the flattened dimensions."""
    x = node.arguments["a"]
    if "None" in items or any(not isinstance(i, (Value, dict)) for i in items):
        raise NotWritable("with tensors beside numbers or None")
    places = [d for d, i in enumerate(items) if isinstance(i, Value)]
    if len(places) == 1:
        return w.op("Gather", made, w.cast(items[places[0]], ocl.int64), axis=places[0])
    if places != list(range(places[0], places[-1] + 1)):
        raise NotWritable("with tensors that do not stand side by side")
    sizes = [w.number(x.shape[d], "a size that tensors index") for d in places]
    flat = None
    for d, size in zip(places, sizes, strict=True):
        each = w.cast(items[d], ocl.int64)
        wrapped = w.op("Where", w.op("Less", each, w.constant(0)), w.op("Add", each, w.constant(size)), each)
        flat = wrapped if flat is None else w.op("Add", w.op("Mul", flat, w.constant(size)), wrapped)
    count, first = int(np.prod(sizes)), places[0]
    outer = [w.size(v) for v in node.results[0].shape[:first]]
    after = len(node.results[0].shape) - (x.ndim - len(places) - first)
    inner = [w.size(v) for v in node.results[0].shape[after:]]
    shape = w.op("Concat", *outer, w.constant([count]), *inner, axis=0)
    return w.op("Gather", w.op("Reshape", made, shape), flat, axis=first)


@writes("embedding")
def embedding(w: Writer, node: Node) -> str:
    return w.op("Gather", node.arguments["weight"], node.arguments["input"], axis=0)


@writes("index_select")
def index_select(w: Writer, node: Node) -> str:
    x, a = node.arguments["input"], node.arguments
    if x.ndim == 0:
        return w.op("Identity", x)
    indices = a["index"] if a["index"].ndim == 1 else w.op("Reshape", a["index"], w.constant([-1]))
    return w.op("Gather", x, indices, axis=a["dim"])


def _needs_dimensions(*values: Value) -> None:
    if any(v.ndim == 0 for v in values):
        raise NotWritable("of a tensor without dimensions")


@writes("gather")
def gather(w: Writer, node: Node) -> str:
    a = node.arguments
    _needs_dimensions(a["input"], a["index"])
    return w.op("GatherElements", _within(w, a["input"], a["index"], a["dim"]), a["index"], axis=a["dim"])


def _within(w: Writer, x: Value, index: Value, dim: int) -> str:
    """The part of x that has the sizes of the index but along dim, as ONNX wants it."""
    made = w.name_of(x)
    for d in range(x.ndim):
        if d != dim % x.ndim and x.shape[d] != index.shape[d]:
            made = w.op("Slice", made, w.constant([0]), w.size(index.shape[d]), w.constant([d]))
    return made


@writes("take")
def take(w: Writer, node: Node) -> str:
    return w.op(
        "Gather", w.op("Reshape", node.arguments["input"], w.constant([-1])), node.arguments["index"], axis=0
    )


@writes("scatter scatter_add")
def scatter(w: Writer, node: Node) -> str:
    a, dtype = node.arguments, node.results[0].dtype
    _needs_dimensions(a["input"], a["index"])
    source, index = a["src"], a["index"]
    if isinstance(source, Value):
        given = w.cast(source, dtype)
        for d in range(source.ndim):
            if source.shape[d] != index.shape[d]:
                given = w.op("Slice", given, w.constant([0]), w.size(index.shape[d]), w.constant([d]))
    else:
        given = w.op("Expand", w.constant(source, dtype), w.sizes(index.shape))
    if node.operator == "scatter":
        return w.op("ScatterElements", a["input"], index, given, axis=a["dim"])
    computed = compute_dtype(dtype)
    made = w.op("ScatterElements", w.cast(a["input"], computed), index, w.cast(given, computed, dtype),
                axis=a["dim"], reduction="add")  # fmt: skip
    return w.cast(made, dtype, computed)


@writes("index_put")
def index_put(w: Writer, node: Node) -> str:
    """Writes to slices and numbers: the places are counted in the file, so that they fit all sizes."""
    a, made = node.arguments, node.results[0]
    x = a["a"]
    if a["accumulate"] or any(
        not isinstance(i, dict) and i not in ("...",) and not isinstance(i, int) for i in a["items"]
    ):
        raise NotWritable("with tensors, None or accumulate")
    count = w.op("Range", w.constant(0), w.op("Squeeze", w.size(_product(x)), w.constant([0])), w.constant(1))
    places = w.reshape(count, x.shape)
    for dim, item in reversed(list(enumerate(_rest(a["items"], x.ndim)))):
        if isinstance(item, int):
            places = w.op("Gather", places, w.constant(item), axis=dim)
        elif any(v is not None for v in item.values()):
            start, end, step = (
                d if v is None else v for v, d in zip(item.values(), (0, _LAST, 1), strict=True)
            )
            places = w.op("Slice", places, w.size(start), w.size(end), w.constant([dim]), w.size(step))
    given = a["given"]
    value = w.cast(given, made.dtype) if isinstance(given, Value) else w.constant(given, made.dtype)
    spread = w.op("Expand", value, w.op("Shape", places))
    minus = w.constant([-1])
    flat = w.op("ScatterElements", w.op("Reshape", x, minus), w.op("Reshape", places, minus),
                w.op("Reshape", spread, minus), axis=0)  # fmt: skip
    return w.reshape(flat, x.shape)


def _product(x: Value):
    count = 1
    for each in x.shape:
        count = count * each
    return count
