"""Convolutions over 1, 2 and 3 dimensions."""

import ocl
from ocl.onnx.ops.windows import windows
from ocl.onnx.table import operator

F = ocl.nn.functional


def convolved(call, x, w, b=None):
    """The convolution that a node's attributes say."""
    rank = x.ndim - 2
    found = windows(call, x, call.get("kernel_shape", w.shape[2:]))
    if not found.symmetric:
        x = F.pad(x, found.padding())
    padding = found.before if found.symmetric else [0] * rank
    return ocl.convolution(
        x, w, b, found.strides, padding, found.dilations, False, [0] * rank, call.get("group", 1)
    )


@operator("Conv")
def conv(call, x, w, b=None):
    return convolved(call, x, w, b)


@operator("ConvTranspose")
def conv_transpose(call, x, w, b=None):
    rank = x.ndim - 2
    sizes = call.get("kernel_shape", list(w.shape[2:]))
    strides, dilations = call.get("strides", [1] * rank), call.get("dilations", [1] * rank)
    extra = call.get("output_padding", [0] * rank)
    pads = call.get("pads", [0] * 2 * rank)
    whole = [
        (size - 1) * stride + (kernel - 1) * dilation + 1
        for size, stride, kernel, dilation in zip(x.shape[2:], strides, sizes, dilations, strict=True)
    ]
    mode = call.get("auto_pad", "NOTSET")
    wanted = call.get("output_shape")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(x.shape[2:], strides, strict=True)]
    if wanted is not None:
        cuts = [all_ + add - want for all_, add, want in zip(whole, extra, wanted[-rank:], strict=True)]
        small, large = [cut // 2 for cut in cuts], [cut - cut // 2 for cut in cuts]
        pads = small + large if mode == "SAME_UPPER" else large + small
    before, after = pads[:rank], pads[rank:]
    group = call.get("group", 1)
    fits = all(add < max(*steps) for add, *steps in zip(extra, strides, dilations, strict=True))
    if before == after and fits:
        return ocl.convolution(x, w, b, strides, before, dilations, True, extra, group)
    y = ocl.convolution(x, w, None, strides, [0] * rank, dilations, True, [0] * rank, group)
    flat = [each for i in reversed(range(rank)) for each in (-before[i], extra[i] - after[i])]
    y = F.pad(y, flat)
    return y if b is None else y + b.reshape([1, -1] + [1] * rank)
