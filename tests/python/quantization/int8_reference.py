"""The formulas of dlprim/ops/int8/int8.h in NumPy, step by step."""

import numpy as np

one = np.float32


def finished(t, result):
    """The numbers of int8 of float32 ones in units of the result's scale."""
    _, zero, low, high = result
    return np.clip(np.rint(np.clip(t, -(2**20), 2**20)).astype(np.int64) + zero, low, high).astype(np.int8)


def ratio(format, result):
    return one(np.float64(one(format[0])) / np.float64(one(result[0])))


def results_of_sums(sums, x_format, scales, bias, addend, addend_format, result):
    """``sums`` of integers with channels in dimension 1."""
    shape = (1, -1) + (1,) * (sums.ndim - 2)
    t = sums.astype(np.float32) * (scales * ratio(x_format, result)).reshape(shape)
    if bias is not None:
        t = t + (bias * one(1 / np.float64(one(result[0])))).reshape(shape)
    if addend is not None:
        t = t + (addend.astype(np.int32) - addend_format[1]).astype(np.float32) * ratio(addend_format, result)
    return finished(t, result)


def conv2d_sums(x, zero, weight, stride, padding, dilation, groups):
    x = x.astype(np.int64) - zero
    x = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    images, _, height, width = x.shape
    out, channels, taps_h, taps_w = weight.shape
    out_h = (height - dilation[0] * (taps_h - 1) - 1) // stride[0] + 1
    out_w = (width - dilation[1] * (taps_w - 1) - 1) // stride[1] + 1
    x = x.reshape(images, groups, channels, height, width)
    w = weight.astype(np.int64).reshape(groups, out // groups, channels, taps_h, taps_w)
    sums = np.zeros((images, groups, out // groups, out_h, out_w), np.int64)
    for h in range(taps_h):
        for v in range(taps_w):
            top, left = h * dilation[0], v * dilation[1]
            part = x[..., top : top + (out_h - 1) * stride[0] + 1 : stride[0], :]
            part = part[..., left : left + (out_w - 1) * stride[1] + 1 : stride[1]]
            sums += np.einsum("ngchw,grc->ngrhw", part, w[..., h, v])
    return sums.reshape(images, out, out_h, out_w)


def max_pool2d(x, kernel, stride, padding, dilation):
    padded = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2], constant_values=-128)
    sizes = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(x.shape[2:], padding, dilation, kernel, stride, strict=True)
    ]
    windows = [
        padded[..., h * dilation[0] :, v * dilation[1] :][..., :: stride[0], :: stride[1]][
            ..., : sizes[0], : sizes[1]
        ]
        for h in range(kernel[0])
        for v in range(kernel[1])
    ]
    return np.max(windows, axis=0)


def adaptive_avg_pool2d(x, format, size, result):
    height, width = x.shape[2:]
    numbers = x.astype(np.int64) - format[1]
    y = np.empty((*x.shape[:2], *size), np.int8)
    for h in range(size[0]):
        for v in range(size[1]):
            rows = slice(h * height // size[0], -(-(h + 1) * height // size[0]))
            columns = slice(v * width // size[1], -(-(v + 1) * width // size[1]))
            window = numbers[..., rows, columns]
            count = window.shape[-1] * window.shape[-2]
            factor = ratio(format, result) / one(count)
            y[..., h, v] = finished(window.sum((-1, -2)).astype(np.float32) * factor, result)
    return y
