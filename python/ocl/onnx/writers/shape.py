"""Views, and what takes tensors apart and joins them."""

from __future__ import annotations

import numpy as np

import ocl
from ocl.capture import Node, Size, Value
from ocl.onnx.writing import NotWritable, Writer, compute_dtype, writes

_LAST = np.iinfo(np.int64).max


@writes("view reshape flatten unflatten view_as squeeze unsqueeze")
def reshape(w: Writer, node: Node) -> str:
    x, made = node.arguments["input"], node.results[0]
    given = node.arguments.get("dim")
    if node.operator == "unsqueeze":
        return w.op("Unsqueeze", x, w.constant([given]))
    if node.operator == "squeeze":
        dims = [] if given is None else [given] if isinstance(given, int) else given
        dims = dims if given is not None else node.arguments.get("dims", range(x.ndim))
        gone = sorted({d % x.ndim for d in dims if x.shape[d] == 1}) if x.ndim else []
        return w.op("Squeeze", x, w.constant(gone)) if gone else w.op("Identity", x)
    return w.reshape(x, made.shape)


@writes("transpose swapaxes permute movedim t")
def transpose(w: Writer, node: Node) -> str:
    x, a = node.arguments["input"], node.arguments
    if x.ndim == 0:
        return w.op("Identity", x)
    order = list(range(x.ndim))
    if node.operator == "permute":
        order = [d % x.ndim for d in a["dims"]]
    elif node.operator == "movedim":
        pairs = {t % x.ndim: s % x.ndim for s, t in zip(a["source"], a["destination"], strict=True)}
        rest = iter([d for d in order if d not in pairs.values()])
        order = [pairs[d] if d in pairs else next(rest) for d in order]
    elif node.operator == "t":
        order.reverse()
    else:
        one, other = (v % x.ndim for k, v in a.items() if k != "input")
        order[one], order[other] = order[other], order[one]
    return w.op("Transpose", x, perm=order)


@writes("expand expand_as")
def expand(w: Writer, node: Node) -> str:
    return w.op("Expand", node.arguments["input"], w.sizes(node.results[0].shape))


def sliced(w: Writer, x, dim: int, start, end, step=1) -> str:
    return w.op("Slice", x, w.size(start), w.size(end), w.constant([dim]), w.size(step))


@writes("slice narrow select")
def part(w: Writer, node: Node) -> str:
    a = node.arguments
    x = a["a"] if "a" in a else a["input"]
    dim = a["dim"] % x.ndim
    if node.operator == "slice":
        return sliced(w, x, dim, a["start"], a["end"], a["step"])
    if node.operator == "narrow":
        start = a["start"]
        if isinstance(start, int) and start < 0:
            start = start + x.shape[dim]
        return sliced(w, x, dim, start, start + a["length"])
    return w.op("Gather", x, w.op("Squeeze", w.size(a["index"]), w.constant([0])), axis=dim)


@writes("split chunk")
def split(w: Writer, node: Node) -> list[str]:
    x, dim = node.arguments["input"], node.arguments["dim"] % node.arguments["input"].ndim
    parts = [value.shape[dim] for value in node.results]
    if len(parts) == 1:
        return [w.op("Identity", x)]
    return w.op("Split", x, w.sizes(parts), results=len(parts), axis=dim)


@writes("unbind")
def unbind(w: Writer, node: Node) -> list[str]:
    x, dim = node.arguments["input"], node.arguments["dim"] % node.arguments["input"].ndim
    return [
        w.op("Gather", x, w.constant(i), axis=dim)
        for i in range(w.number(x.shape[dim], "the number of parts"))
    ]


@writes("cat hstack vstack dstack column_stack stack")
def join(w: Writer, node: Node) -> str:
    values, made, name = node.arguments["tensors"], node.results[0], node.operator
    if name == "stack":
        dim = node.arguments["dim"] % made.ndim
        parts = [w.op("Unsqueeze", w.cast(v, made.dtype), w.constant([dim])) for v in values]
        return w.op("Concat", *parts, axis=dim)
    if name != "cat":
        axis = {"hstack": min(1, made.ndim - 1), "vstack": 0, "dstack": 2, "column_stack": 1}[name]
        parts = [_stacked(w, name, v, w.cast(v, made.dtype)) for v in values]
        return w.op("Concat", *parts, axis=axis)
    kept = [v for v in values if v.ndim == made.ndim]  # [0] is left out
    return w.op("Concat", *(w.cast(v, made.dtype) for v in kept), axis=node.arguments["dim"] % made.ndim)


def _stacked(w: Writer, name: str, value: Value, given: str) -> str:
    """The tensor with the dimensions that a stacking function joins along."""
    if name == "hstack" and value.ndim == 0:
        return w.op("Unsqueeze", given, w.constant([0]))
    if name == "column_stack" and value.ndim < 2:
        return w.op("Reshape", given, w.constant([-1, 1]))
    if name == "vstack" and value.ndim < 2:
        return w.op("Reshape", given, w.constant([1, -1]))
    if name == "dstack" and value.ndim < 3:
        return w.reshape(
            given, [1, value.shape[0], 1] if value.ndim == 1 else [*value.shape, 1] if value.ndim else [1] * 3
        )
    return given


@writes("repeat tile")
def repeat(w: Writer, node: Node) -> str:
    x, a, made = node.arguments["input"], node.arguments, node.results[0]
    counts = a["repeats"] if node.operator == "repeat" else a["dims"]
    counts = [*[1] * (made.ndim - len(counts)), *counts]
    given = w.reshape(x, [*[1] * (made.ndim - x.ndim), *x.shape]) if made.ndim > x.ndim else x
    return w.op("Tile", given, w.sizes(counts))


@writes("repeat_interleave")
def repeat_interleave(w: Writer, node: Node) -> str:
    x, count, dim = node.arguments["input"], node.arguments["repeats"], node.arguments["dim"]
    if isinstance(count, Value):
        raise NotWritable("with a tensor of repeats")
    shape, given = ((-1,), w.op("Reshape", x, w.constant([-1]))) if dim is None else (x.shape, w.name_of(x))
    axis = 0 if dim is None else dim % x.ndim
    apart = w.op("Unsqueeze", given, w.constant([axis + 1]))
    times = [*[1] * (axis + 1), count, *[1] * (len(shape) - axis - 1)]
    return w.reshape(w.op("Tile", apart, w.sizes(times)), node.results[0].shape)


@writes("flip fliplr flipud")
def flip(w: Writer, node: Node) -> str:
    x = node.arguments["input"]
    dims = node.arguments.get("dims", [1] if node.operator == "fliplr" else [0])
    if not dims or not x.ndim:
        return w.op("Identity", x)
    n, dims = len(dims), [d % x.ndim for d in dims]
    return w.op(
        "Slice", x, w.constant([-1] * n), w.constant([-_LAST] * n), w.constant(dims), w.constant([-1] * n)
    )


@writes("roll")
def roll(w: Writer, node: Node) -> str:
    x, shifts, dims = node.arguments["input"], node.arguments["shifts"], node.arguments["dims"]
    flat = not dims
    made = w.op("Reshape", x, w.constant([-1])) if flat else w.name_of(x)
    for shift, dim in zip(shifts, [0] if flat else dims, strict=True):
        size = x.shape[dim] if not flat else None
        if flat:
            size = 1
            for each in x.shape:
                size = size * each
        if isinstance(size, Size) or isinstance(shift, Size):
            raise NotWritable("along a dimension whose size changes")
        shift = shift % size if size else 0
        if shift:
            dim = dim % x.ndim if x.ndim else 0
            made = w.op(
                "Concat",
                sliced(w, made, dim, size - shift, _LAST),
                sliced(w, made, dim, 0, size - shift),
                axis=dim,
            )
    return w.reshape(made, x.shape) if flat else w.op("Identity", made)


@writes("tril triu")
def triangle(w: Writer, node: Node) -> str:
    x, dtype = node.arguments["input"], node.arguments["input"].dtype
    computed = ocl.int64 if dtype == ocl.int32 else compute_dtype(dtype)
    k = w.op("Squeeze", w.size(node.arguments["diagonal"]), w.constant([0]))
    made = w.op("Trilu", w.cast(x, computed), k, upper=int(node.operator == "triu"))
    return w.cast(made, dtype, computed)


@writes("zeros ones full empty zeros_like ones_like full_like empty_like")
def filled(w: Writer, node: Node) -> str:
    made = node.results[0]
    value = node.arguments.get("value", 1 if "ones" in node.operator else 0)
    return w.op("Expand", w.constant(value, made.dtype), w.sizes(made.shape))


@writes("arange")
def arange(w: Writer, node: Node) -> str:
    made, a = node.results[0], node.arguments
    ends = []
    for key, default in (("start", 0), ("end", None), ("step", 1)):
        value = a.get(key, default)
        computed = compute_dtype(made.dtype)
        if isinstance(value, Size):
            ends.append(w.cast(w.op("Squeeze", w.size(value), w.constant([0])), computed, ocl.int64))
        else:
            ends.append(w.constant(value, computed))
    return w.cast(w.op("Range", *ends), made.dtype, computed)


@writes("meshgrid")
def meshgrid(w: Writer, node: Node) -> list[str]:
    values, n = node.arguments["tensors"], len(node.results)
    swapped = node.arguments["indexing"] == "xy" and n > 1
    made = []
    for i, (value, result) in enumerate(zip(values, node.results, strict=True)):
        axis = 1 - i if swapped and i < 2 else i
        shape = [1] * n
        shape[axis] = -1
        made.append(w.op("Expand", w.op("Reshape", value, w.constant(shape)), w.sizes(result.shape)))
    return made


@writes("pad")
def pad(w: Writer, node: Node) -> str:
    x, a = node.arguments["input"], node.arguments
    counts, mode = a["pad"], a["mode"]
    pairs = [(counts[2 * i], counts[2 * i + 1]) for i in range(len(counts) // 2)][::-1]
    pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode == "circular" and w.opset < 19:
        raise NotWritable("in mode circular it needs opset 19")
    low = any(isinstance(v, int) and v < 0 for pair in pairs for v in pair)
    given, value = w.name_of(x), None
    dtype = x.dtype
    if mode == "constant":
        value = w.constant(a["value"] or 0, dtype)
    if low and mode != "constant":
        raise NotWritable(f"with negative padding in mode {mode}")
    sides = w.sizes([p[0] for p in pairs] + [p[1] for p in pairs])
    return w.op("Pad", given, sides, value, mode=kinds[mode])


@writes("diagonal")
def diagonal(w: Writer, node: Node) -> str:
    x, a, made = node.arguments["input"], node.arguments, node.results[0]
    one, other = a["dim1"] % x.ndim, a["dim2"] % x.ndim
    order = [d for d in range(x.ndim) if d not in (one, other)] + [one, other]
    count = w.number(made.shape[-1], "the diagonal's length")
    places = np.arange(count)
    rows, columns = places + max(-a["offset"], 0), places + max(a["offset"], 0)
    moved = w.op("Transpose", x, perm=order)
    width = w.number(x.shape[other], "the number of columns")
    flat = w.reshape(moved, [*made.shape[:-1], w.number(x.shape[one], "the number of rows") * width])
    return w.op("Gather", flat, w.constant(rows * width + columns), axis=made.ndim - 1)


@writes("pixel_shuffle pixel_unshuffle channel_shuffle")
def shuffle(w: Writer, node: Node) -> str:
    x, a = node.arguments["input"], node.arguments
    if node.operator == "channel_shuffle":
        n, c, *rest = x.shape
        groups = a["groups"]
        apart = w.reshape(x, [n, groups, c // groups, *rest])
        return w.reshape(w.op("Transpose", apart, perm=[0, 2, 1, *range(3, 3 + len(rest))]), x.shape)
    lead = list(x.shape[:-3])
    c, height, width = x.shape[-3:]
    k = len(lead)
    if node.operator == "pixel_shuffle":
        r = a["upscale_factor"]
        apart = w.reshape(x, [*lead, c // (r * r), r, r, height, width])
        order = [k, k + 3, k + 1, k + 4, k + 2]
    else:
        r = a["downscale_factor"]
        whole = [w.number(v, "the height or width") // r for v in (height, width)]
        apart = w.reshape(x, [*lead, c, whole[0], r, whole[1], r])
        order = [k, k + 2, k + 4, k + 1, k + 3]
    return w.reshape(w.op("Transpose", apart, perm=[*range(k), *order]), node.results[0].shape)


@writes("one_hot")
def one_hot(w: Writer, node: Node) -> str:
    x, made = node.arguments["tensor"], node.results[0]
    given = w.op("Reshape", x, w.constant([1])) if x.ndim == 0 else x
    result = w.op("OneHot", given, w.constant([made.shape[-1]]), w.constant([0, 1]), axis=-1)
    return w.op("Squeeze", result, w.constant([0])) if x.ndim == 0 else result


@writes("copy fill zero")
def overwritten(w: Writer, node: Node) -> str:
    """A tensor that is written as a whole: what is given, in its dtype and shape."""
    made, given = node.results[0], next(iter(node.arguments.values()), 0)
    value = w.cast(given, made.dtype) if isinstance(given, Value) else w.constant(given, made.dtype)
    return w.op("Expand", value, w.sizes(made.shape))
