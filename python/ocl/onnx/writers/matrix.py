"""Products of matrices, and attention."""

from __future__ import annotations

import math

import ocl
from ocl.capture import Node, Size, Value
from ocl.onnx.writing import NARROW, NotWritable, Writer, compute_dtype, writes


def _product(w: Writer, a: str | Value, b: str | Value, dtype: ocl.dtype) -> str:
    if dtype in NARROW or dtype == ocl.bool_:
        raise NotWritable(f"of {dtype}")
    return w.op("MatMul", a, b)


@writes("mm bmm matmul mv dot")
def matmul(w: Writer, node: Node) -> str:
    a, b = list(node.arguments.values())[:2]
    dtype = node.results[0].dtype
    return _product(w, w.cast(a, dtype), w.cast(b, dtype), dtype)


@writes("outer")
def outer(w: Writer, node: Node) -> str:
    dtype = node.results[0].dtype
    computed = compute_dtype(dtype)
    a, b = (w.cast(v, computed) for v in list(node.arguments.values())[:2])
    made = w.op("Mul", w.op("Unsqueeze", a, w.constant([1])), w.op("Unsqueeze", b, w.constant([0])))
    return w.cast(made, dtype, computed)


@writes("linear")
def linear(w: Writer, node: Node) -> str:
    x, weight, bias = (node.arguments[k] for k in ("input", "weight", "bias"))
    dtype = node.results[0].dtype
    if dtype in NARROW or dtype == ocl.bool_:
        raise NotWritable(f"of {dtype}")
    if x.ndim == 2 and weight.ndim == 2 and (bias is None or bias.ndim == 1) and dtype != ocl.bfloat16:
        return w.op("Gemm", x, weight, bias, transB=1)
    turned = w.op("Transpose", weight, perm=[1, 0]) if weight.ndim == 2 else w.name_of(weight)
    made = w.op("MatMul", x, turned)
    return made if bias is None else w.op("Add", made, bias)


@writes("addmm baddbmm addmv addbmm")
def addmm(w: Writer, node: Node) -> str:
    c, a, b, *_ = node.arguments.values()
    beta, alpha = node.arguments["beta"], node.arguments["alpha"]
    dtype = node.results[0].dtype
    computed = compute_dtype(dtype)
    made = _product(w, w.cast(a, computed), w.cast(b, computed), computed)
    made = w.reduce("ReduceSum", made, [0], False) if node.operator == "addbmm" else made
    made = made if alpha == 1 else w.op("Mul", made, w.constant(alpha, computed))
    if beta:
        given = w.cast(c, computed)
        made = w.op("Add", made, given if beta == 1 else w.op("Mul", given, w.constant(beta, computed)))
    return w.cast(made, dtype, computed)


@writes("einsum")
def einsum(w: Writer, node: Node) -> str:
    dtype = node.results[0].dtype
    computed = compute_dtype(dtype)
    given = [w.cast(v, computed) for v in node.arguments["operands"]]
    return w.cast(w.op("Einsum", *given, equation=node.arguments["equation"]), dtype, computed)


@writes("scaled_dot_product_attention")
def attention(w: Writer, node: Node) -> str:
    query, key, value = (node.arguments[k] for k in ("query", "key", "value"))
    options, dtype = node.arguments["options"], node.results[0].dtype
    if options["dropout_p"]:
        raise NotWritable("with dropout it draws random numbers")
    if options["enable_gqa"]:
        raise NotWritable("with enable_gqa")
    computed = compute_dtype(dtype)
    scale = options["scale"]
    scale = 1 / math.sqrt(w.number(query.shape[-1], "the width of a head")) if scale is None else scale
    order = list(range(key.ndim))
    order[-2:] = order[-1], order[-2]
    turned = w.op("Transpose", w.cast(key, computed), perm=order)
    scores = w.op("MatMul", w.op("Mul", w.cast(query, computed), w.constant(scale, computed)), turned)
    mask, least = options["attn_mask"], w.constant(-math.inf, computed)
    if options["is_causal"]:
        sizes = [query.shape[-2], key.shape[-2]]
        ones = w.op("Expand", w.constant(1), w.sizes(sizes))
        kept = w.cast(w.op("Trilu", ones, upper=0), ocl.bool_, ocl.int64)
        scores = w.op("Where", kept, scores, least)
    if mask is not None and mask.dtype == ocl.bool_:
        scores = w.op("Where", mask, scores, least)
    elif mask is not None:
        scores = w.op("Add", scores, w.cast(mask, computed))
    weights = w.op("Softmax", scores, axis=-1)
    if mask is not None or options["is_causal"] and not _square(query, key):
        # Rows without any place to attend to give 0, as in PyTorch.
        weights = w.op("Where", w.op("IsNaN", weights), w.constant(0, computed), weights)
    return w.cast(w.op("MatMul", weights, w.cast(value, computed)), dtype, computed)


def _square(query: Value, key: Value) -> bool:
    a, b = query.shape[-2], key.shape[-2]
    return a == b if isinstance(a, Size) == isinstance(b, Size) else False
