"""Convolutions and pooling."""

from __future__ import annotations

from ocl.capture import Node, Size, Value
from ocl.onnx.writing import NotWritable, Writer, writes


def _spread(value, n: int) -> list[int]:
    if isinstance(value, dict):
        value = list(value.values())
    return [value] * n if isinstance(value, int) else list(value) * n if len(value) == 1 else list(value)


def batched(w: Writer, x: Value, n: int, work) -> str:
    """``work`` of the input with its batch dimension, which the result loses where the input has none."""
    if x.ndim == n + 2:
        return work(w.name_of(x))
    return w.op("Squeeze", work(w.op("Unsqueeze", x, w.constant([0]))), w.constant([0]))


@writes("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution")
def conv(w: Writer, node: Node) -> str:
    a = node.arguments
    x, weight = a["input"], a["weight"]
    n = weight.ndim - 2
    transposed = a.get("transposed", "transpose" in node.operator)
    stride, dilation = _spread(a["stride"], n), _spread(a["dilation"], n)
    padding = a["padding"]
    if isinstance(padding, dict) and "mode" in padding:
        padding = padding["mode"] or padding["size"]
    kernel = [w.number(v, "the kernel's size") for v in weight.shape[2:]]
    if isinstance(padding, str):
        total = [d * (k - 1) if padding == "same" else 0 for k, d in zip(kernel, dilation, strict=True)]
        pads = [t // 2 for t in total] + [t - t // 2 for t in total]
    else:
        pads = _spread(padding, n) * 2
    options = {
        "strides": stride,
        "dilations": dilation,
        "pads": pads,
        "group": a["groups"],
        "kernel_shape": kernel,
    }
    if transposed:
        more = _spread(a["output_padding"], n)
        for d in range(n):
            if more[d] >= stride[d]:  # which onnxruntime refuses: less is cut off at the end instead
                if more[d] > pads[n + d]:
                    raise NotWritable(f"with output_padding {more[d]} above stride and padding")
                pads[n + d], more[d] = pads[n + d] - more[d], 0
        options["output_padding"] = more
    kind = "ConvTranspose" if transposed else "Conv"
    return batched(w, x, n, lambda given: w.op(kind, given, weight, a["bias"], **options))


def _windows(node: Node, x: Value, n: int) -> tuple[list[int], list[int], list[int], list[int]]:
    a = node.arguments
    kernel = _spread(a["kernel_size"], n)
    stride = _spread(a["stride"], n) if a.get("stride") else kernel
    return kernel, stride, _spread(a.get("padding", 0), n), _spread(a.get("dilation", 1), n)


@writes("max_pool1d max_pool2d max_pool3d")
def max_pool(w: Writer, node: Node) -> str | list[str]:
    if len(node.results) > 1:
        raise NotWritable("with indices")
    n, x, a = int(node.operator[-2]), node.arguments["input"], node.arguments
    kernel, stride, padding, dilation = _windows(node, x, n)
    return batched(w, x, n, lambda given: w.op(
        "MaxPool", given, kernel_shape=kernel, strides=stride, pads=padding * 2, dilations=dilation,
        ceil_mode=int(a["ceil_mode"])))  # fmt: skip


@writes("avg_pool1d avg_pool2d avg_pool3d")
def avg_pool(w: Writer, node: Node) -> str:
    n, x, a = int(node.operator[-2]), node.arguments["input"], node.arguments
    if a.get("divisor_override") is not None:
        raise NotWritable("with divisor_override")
    kernel, stride, padding, _ = _windows(node, x, n)
    if a["ceil_mode"] and w.opset < 19:
        raise NotWritable("with ceil_mode it needs opset 19")
    return batched(w, x, n, lambda given: w.op(
        "AveragePool", given, kernel_shape=kernel, strides=stride, pads=padding * 2,
        ceil_mode=int(a["ceil_mode"]), count_include_pad=int(a["count_include_pad"])))  # fmt: skip


@writes("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
        "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d")  # fmt: skip
def adaptive_pool(w: Writer, node: Node) -> str:
    n, x, made = int(node.operator[-2]), node.arguments["input"], node.results[0]
    if len(node.results) > 1:
        raise NotWritable("with indices")
    average = "avg" in node.operator
    sizes, wanted = x.shape[-n:], made.shape[-n:]
    if all(v == 1 for v in wanted):
        kind = "ReduceMean" if average else "ReduceMax"
        return w.reduce(kind, x, list(range(x.ndim - n, x.ndim)), True)
    if any(isinstance(v, Size) for v in (*sizes, *wanted)):
        raise NotWritable("to more than one place of a size that changes")
    if any(v % max(t, 1) for v, t in zip(sizes, wanted, strict=True)):
        raise NotWritable(f"from {list(sizes)} to {list(wanted)} places, which do not divide")
    step = [v // t for v, t in zip(sizes, wanted, strict=True)]
    kind = "AveragePool" if average else "MaxPool"
    return batched(w, x, n, lambda given: w.op(kind, given, kernel_shape=step, strides=step))
