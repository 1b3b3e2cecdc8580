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


def _pool(w: Writer, node: Node, kind: str, n: int, **options) -> str:
    """A pooling operator. ONNX counts windows of ceil_mode that begin beyond the input;
    so the padding at the end says how many there are."""
    a, x, made = node.arguments, node.arguments["input"], node.results[0]
    kernel = _spread(a["kernel_size"], n)
    stride = _spread(a["stride"], n) if a.get("stride") else kernel
    padding, dilation = _spread(a.get("padding", 0), n), _spread(a.get("dilation", 1), n)
    ends = list(padding)
    if a["ceil_mode"]:
        for d in range(n):
            size, count = (w.number(v.shape[d - n], "a size under ceil_mode") for v in (x, made))
            needed = (count - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - size - padding[d]
            ends[d] = max(needed, padding[d])
    if options.get("count_include_pad") and ends != padding:
        if any(padding):
            raise NotWritable("with ceil_mode and count_include_pad")
        options["count_include_pad"] = 0  # what lies beyond the padding does not count
    if kind == "MaxPool":
        options["dilations"] = dilation
    return batched(
        w,
        x,
        n,
        lambda given: w.op(
            kind, given, kernel_shape=kernel, strides=stride, pads=[*padding, *ends], **options
        ),
    )


@writes("max_pool1d max_pool2d max_pool3d")
def max_pool(w: Writer, node: Node) -> str:
    return _pool(w, node, "MaxPool", int(node.operator[-2]))


@writes("avg_pool1d avg_pool2d avg_pool3d")
def avg_pool(w: Writer, node: Node) -> str:
    if node.arguments.get("divisor_override") is not None:
        raise NotWritable("with divisor_override")
    include = int(node.arguments["count_include_pad"])
    return _pool(w, node, "AveragePool", int(node.operator[-2]), count_include_pad=include)


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
