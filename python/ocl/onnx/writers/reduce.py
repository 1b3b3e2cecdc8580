"""Reductions, and what goes along a dimension."""

from __future__ import annotations

import math

import numpy as np

import ocl
from ocl.capture import Node, Size, Value
from ocl.onnx.writing import NotWritable, Writer, compute_dtype, dims_of, writes

_KINDS = {
    "sum": "ReduceSum",
    "mean": "ReduceMean",
    "prod": "ReduceProd",
    "amax": "ReduceMax",
    "amin": "ReduceMin",
}
_FLOATING = (ocl.float16, ocl.bfloat16, ocl.float32, ocl.float64)


def _reduced(w: Writer, node: Node, kind: str, dims: list[int], keepdim: bool) -> str:
    x, dtype = node.arguments["input" if "input" in node.arguments else "a"], node.results[0].dtype
    if not dims:
        return w.cast(x, dtype)
    computed = dtype if dtype in _FLOATING else compute_dtype(dtype)
    return w.cast(w.reduce(kind, w.cast(x, computed), dims, keepdim), dtype, computed)


def _input(node: Node) -> Value:
    return node.arguments["input"] if "input" in node.arguments else node.arguments["a"]


@writes(" ".join(_KINDS))
def reduction(w: Writer, node: Node) -> str:
    x = _input(node)
    return _reduced(w, node, _KINDS[node.operator], dims_of(node, x), node.arguments.get("keepdim", False))


@writes("all any count_nonzero")
def truth(w: Writer, node: Node) -> str:
    x = _input(node)
    holds = w.cast(w.cast(x, ocl.bool_), ocl.int64, ocl.bool_)
    dims, keepdim = dims_of(node, x), node.arguments.get("keepdim", False)
    kind = {"all": "ReduceMin", "any": "ReduceMax", "count_nonzero": "ReduceSum"}[node.operator]
    made = w.reduce(kind, holds, dims, keepdim) if dims else holds
    return w.cast(made, node.results[0].dtype, ocl.int64)


def _count(x: Value, dims: list[int]) -> int | Size:
    count: int | Size = 1
    for d in dims:
        count = count * x.shape[d]
    return count


@writes("var std var_mean std_mean")
def variance(w: Writer, node: Node) -> str | list[str]:
    x, dtype = _input(node), node.results[0].dtype
    dims, keepdim = dims_of(node, x), node.arguments["keepdim"]
    if not dims:
        raise NotWritable("of a tensor without dimensions")
    computed = compute_dtype(dtype)
    given = w.cast(x, computed)
    centred = w.op("Sub", given, w.reduce("ReduceMean", given, dims, True))
    total = w.reduce("ReduceSum", w.op("Mul", centred, centred), dims, keepdim)
    count = _count(x, dims)
    if isinstance(count, Size):
        size = w.cast(w.op("Squeeze", w.size(count), w.constant([0])), computed, ocl.int64)
        left = w.op("Max", w.op("Sub", size, w.constant(node.arguments["correction"], computed)),
                    w.constant(0, computed))  # fmt: skip
    else:
        left = w.constant(max(count - node.arguments["correction"], 0), computed)
    made = w.op("Div", total, left)
    made = w.op("Sqrt", made) if node.operator.startswith("std") else made
    made = w.cast(made, dtype, computed)
    if not node.operator.endswith("_mean"):
        return made
    return [made, w.cast(w.reduce("ReduceMean", given, dims, keepdim), dtype, computed)]


@writes("logsumexp")
def logsumexp(w: Writer, node: Node) -> str:
    return _reduced(w, node, "ReduceLogSumExp", dims_of(node, _input(node)), node.arguments["keepdim"])


@writes("norm")
def norm(w: Writer, node: Node) -> str:
    x, p = _input(node), node.arguments["p"]
    dims, keepdim, dtype = dims_of(node, x), node.arguments["keepdim"], node.results[0].dtype
    if p in (1, 2) and dims:
        return _reduced(w, node, f"ReduceL{int(p)}", dims, keepdim)
    computed = compute_dtype(dtype)
    size = w.op("Abs", w.cast(x, computed))
    if not dims:
        made = w.op("Sign", size) if p == 0 else size
    elif math.isinf(p):
        made = w.reduce("ReduceMax" if p > 0 else "ReduceMin", size, dims, keepdim)
    elif p == 0:
        made = w.reduce("ReduceSum", w.op("Sign", size), dims, keepdim)
    else:
        total = w.reduce("ReduceSum", w.op("Pow", size, w.constant(p, computed)), dims, keepdim)
        made = w.op("Pow", total, w.constant(1 / p, computed))
    return w.cast(made, dtype, computed)


def _ordered(w: Writer, x: Value) -> tuple[str, ocl.dtype]:
    """The tensor in a dtype that ArgMax, TopK and the like take."""
    dtype = x.dtype if x.dtype in _FLOATING else compute_dtype(x.dtype)
    return w.cast(x, dtype), dtype


@writes("argmax argmin")
def argument(w: Writer, node: Node) -> str:
    x, dim = _input(node), node.arguments["dim"]
    kind, keepdim = (
        node.operator.replace("arg", "Arg").replace("max", "Max").replace("min", "Min"),
        node.arguments["keepdim"],
    )
    given, _ = _ordered(w, x)
    if x.ndim == 0:
        return w.constant(0)
    if dim is not None:
        return w.op(kind, given, axis=dim, keepdims=int(keepdim))
    made = w.op(kind, w.op("Reshape", given, w.constant([-1])), axis=0, keepdims=0)
    return w.reshape(made, [1] * x.ndim) if keepdim else made


@writes("max min")
def extreme(w: Writer, node: Node) -> str | list[str]:
    x, kind = _input(node), node.operator.capitalize()
    dim, keepdim = node.arguments.get("dim"), node.arguments.get("keepdim", False)
    if node.arguments.get("other") is not None:
        dtype = node.results[0].dtype
        computed = compute_dtype(dtype)
        given = [w.cast(node.arguments[k], computed) for k in ("input", "other")]
        return w.cast(w.op(kind, *given), dtype, computed)
    if len(node.results) == 1:
        return _reduced(w, node, "Reduce" + kind, list(range(x.ndim)), False)
    if x.ndim == 0:
        return [w.op("Identity", x), w.constant(0)]
    given, dtype = _ordered(w, x)
    values = w.cast(w.reduce("Reduce" + kind, given, [dim % x.ndim], keepdim), x.dtype, dtype)
    return [values, w.op("Arg" + kind, given, axis=dim, keepdims=int(keepdim))]


@writes("aminmax")
def aminmax(w: Writer, node: Node) -> list[str]:
    x = _input(node)
    dims, keepdim = dims_of(node, x, "dim"), node.arguments["keepdim"]
    return [_reduced(w, node, kind, dims, keepdim) for kind in ("ReduceMin", "ReduceMax")]


@writes("topk sort argsort")
def topk(w: Writer, node: Node) -> str | list[str]:
    x, a = _input(node), node.arguments
    if x.ndim == 0:
        raise NotWritable("of a tensor without dimensions")
    dim = a["dim"] % x.ndim
    largest = a["largest"] if node.operator == "topk" else a["descending"]
    count = a["k"] if node.operator == "topk" else x.shape[dim]
    given, dtype = _ordered(w, x)
    values, places = w.op("TopK", given, w.size(count), results=2, axis=dim, largest=int(largest))
    return places if node.operator == "argsort" else [w.cast(values, x.dtype, dtype), places]


@writes("cumsum")
def cumsum(w: Writer, node: Node) -> str:
    x, dtype = _input(node), node.results[0].dtype
    computed = compute_dtype(dtype)
    if x.ndim == 0:
        return w.cast(x, dtype)
    made = w.op("CumSum", w.cast(x, computed), w.constant(node.arguments["dim"] % x.ndim))
    return w.cast(made, dtype, computed)


@writes("softmax log_softmax softmin")
def softmax(w: Writer, node: Node) -> str:
    x, dtype = _input(node), node.results[0].dtype
    given = w.cast(x, dtype)
    given = w.op("Neg", given) if node.operator == "softmin" else given
    if x.ndim == 0:
        one = w.op("Softmax" if node.operator != "log_softmax" else "LogSoftmax",
                   w.op("Unsqueeze", given, w.constant([0])), axis=0)  # fmt: skip
        return w.op("Squeeze", one, w.constant([0]))
    kind = "LogSoftmax" if node.operator == "log_softmax" else "Softmax"
    return w.op(kind, given, axis=node.arguments["dim"])


@writes("normalize")
def normalize(w: Writer, node: Node) -> str:
    x, p = _input(node), node.arguments["p"]
    if p not in (1, 2):
        raise NotWritable(f"with p={p}; 1 or 2 expected")
    dtype = node.results[0].dtype
    computed = compute_dtype(dtype)
    given = w.cast(x, computed)
    size = w.reduce(f"ReduceL{int(p)}", given, dims_of(node, x), True)
    held = w.op("Max", size, w.constant(np.float64(node.arguments["eps"]), computed))
    return w.cast(w.op("Div", given, held), dtype, computed)


@writes("mse_loss l1_loss")
def loss(w: Writer, node: Node) -> str:
    a, dtype = node.arguments, node.results[0].dtype
    computed = compute_dtype(dtype)
    apart = w.op("Sub", w.cast(a["input"], computed), w.cast(a["target"], computed))
    made = w.op("Abs", apart) if node.operator == "l1_loss" else w.op("Mul", apart, apart)
    kind = a["reduction"] if isinstance(a["reduction"], str) else ("none", "mean", "sum")[a["reduction"]]
    rank = max(a["input"].ndim, a["target"].ndim)
    if kind != "none" and rank:
        made = w.reduce("ReduceMean" if kind == "mean" else "ReduceSum", made, list(range(rank)), False)
    return w.cast(made, dtype, computed)


@writes("cosine_similarity")
def cosine_similarity(w: Writer, node: Node) -> str:
    a, dtype = node.arguments, node.results[0].dtype
    computed = compute_dtype(dtype)
    dims = [a["dim"] if a["dim"] < 0 else a["dim"] - max(a["x1"].ndim, a["x2"].ndim)]
    parts = []
    for value, other in ((a["x1"], a["x2"]), (a["x2"], a["x1"])):
        given = w.cast(value, computed)
        if value.shape != other.shape:
            given = w.op("Expand", given, w.op("Shape", other))
        size = w.op("Max", w.reduce("ReduceL2", given, dims, True), w.constant(a["eps"], computed))
        parts.append(w.op("Div", given, size))
    return w.cast(w.reduce("ReduceSum", w.op("Mul", *parts), dims, False), dtype, computed)
