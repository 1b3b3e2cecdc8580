"""Normalisation."""

from __future__ import annotations

from fractions import Fraction

import ocl
from ocl.capture import Node, Size, Value
from ocl.onnx.writing import NotWritable, Writer, compute_dtype, writes

_EPSILON = {ocl.float64: 2.0**-52}
_ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}


def _filled(w: Writer, given: Value | None, count: int | Size, value: float, dtype: ocl.dtype) -> str:
    if given is not None:
        return w.cast(given, dtype)
    return w.op("Expand", w.constant(value, dtype), w.sizes([count]))


def _by_statistics(w: Writer, a: dict, x: Value) -> str:
    count = x.shape[1]
    scale, bias = (_filled(w, a[k], count, v, x.dtype) for k, v in (("weight", 1), ("bias", 0)))
    mean, var = (w.cast(a[k], x.dtype) for k in ("running_mean", "running_var"))
    return w.op("BatchNormalization", x, scale, bias, mean, var, epsilon=a["eps"])


@writes("batch_norm batch_norm_activation")
def batch_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    if a["training"] or a["running_mean"] is None:
        raise NotWritable("by the statistics of the batch")
    made = _by_statistics(w, a, x)
    if a.get("addend") is not None:
        made = w.op("Add", made, a["addend"])
    activation = a.get("activation")
    if activation in (None, "", "none", "identity"):
        return made
    return _activated(w, made, activation, x.dtype)


def _activated(w: Writer, x: str, activation, dtype: ocl.dtype) -> str:
    if isinstance(activation, dict):
        activation = activation.get("name", activation)
    if activation in _ACTIVATIONS:
        return w.op(_ACTIVATIONS[activation], x)
    if activation == "silu":
        return w.op("Mul", x, w.op("Sigmoid", x))
    if activation == "hardswish":
        return w.op("Mul", x, w.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))
    if activation == "relu6":
        return w.op("Min", w.op("Max", x, w.constant(0, dtype)), w.constant(6, dtype))
    raise NotWritable(f"with the activation {activation!r}")


@writes("layer_norm")
def layer_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    dtype, count = x.dtype, len(a["normalized_shape"])
    scale = a["weight"]
    if scale is None:
        scale = w.op("Expand", w.constant(1, dtype), w.sizes(a["normalized_shape"]))
    return w.op("LayerNormalization", x, scale, a["bias"], axis=-count, epsilon=a["eps"])


@writes("rms_norm")
def rms_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    computed = compute_dtype(x.dtype)
    given, dims = w.cast(x, computed), list(range(x.ndim - len(a["normalized_shape"]), x.ndim))
    eps = a["eps"] if a["eps"] is not None else _EPSILON.get(x.dtype, 2.0**-23)
    mean = w.reduce("ReduceMean", w.op("Mul", given, given), dims, True)
    made = w.op("Div", given, w.op("Sqrt", w.op("Add", mean, w.constant(eps, computed))))
    if a["weight"] is not None:
        made = w.op("Mul", made, w.cast(a["weight"], computed))
    return w.cast(made, node.results[0].dtype, computed)


def _scaled(w: Writer, made: str, a: dict, x: Value, dtype: ocl.dtype) -> str:
    """A weight and a bias for each channel."""
    shape = [-1, *[1] * (x.ndim - 2)]
    if a["weight"] is not None:
        made = w.op("Mul", made, w.reshape(w.cast(a["weight"], dtype), shape))
    return made if a["bias"] is None else w.op("Add", made, w.reshape(w.cast(a["bias"], dtype), shape))


def _flattened(w: Writer, given: str, x: Value, groups: int, eps: float, dtype: ocl.dtype) -> str:
    """Every group of channels of every item normalised by itself."""
    inner: int | Size = 1
    for each in x.shape[1:]:
        inner = inner * each
    known = not isinstance(inner, Size)
    flat = w.reshape(given, [x.shape[0], groups, inner // groups if known else inner * Fraction(1, groups)])
    ones, zeros = (w.constant([v] * groups, dtype) for v in (1, 0))
    made = w.op("InstanceNormalization", flat, ones, zeros, epsilon=eps)
    return w.reshape(made, x.shape)


@writes("group_norm")
def group_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    computed = compute_dtype(x.dtype)
    made = _flattened(w, w.cast(x, computed), x, a["num_groups"], a["eps"], computed)
    return w.cast(_scaled(w, made, a, x, computed), x.dtype, computed)


@writes("instance_norm")
def instance_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    if a["use_input_stats"] and a["running_mean"] is not None:
        raise NotWritable("that moves its running statistics")
    if not a["use_input_stats"]:
        return _by_statistics(w, a, x)
    computed = compute_dtype(x.dtype)
    channels = w.number(x.shape[1], "the number of channels")
    made = _flattened(w, w.cast(x, computed), x, channels, a["eps"], computed)
    return w.cast(_scaled(w, made, a, x, computed), x.dtype, computed)


@writes("local_response_norm")
def local_response_norm(w: Writer, node: Node) -> str:
    a, x = node.arguments, node.arguments["input"]
    if x.ndim != 4 or not a["size"] % 2:
        raise NotWritable("over an even number of channels, or of another rank than 4")
    return w.op("LRN", x, size=a["size"], alpha=a["alpha"], beta=a["beta"], bias=a["k"])
