"""Cases of weights that are kept in few bits. PyTorch's side is made of the numbers that they stand for."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, is_torch

GROUPS = (32, 32, 64, 128, 256)
PARTS = 1024


def numbers_of(lib, weight, scales, zeros):
    """The weight [out, in] in PyTorch's operators, in the dtype of scales."""
    if zeros is None:
        return weight.to(scales.dtype) * scales[:, None]
    out, half = weight.shape
    parts = lib.stack([weight % 16, weight // 16], 1).reshape(out, 2, half // 16, 16)
    numbers = parts.transpose(1, 2).reshape(out, 2 * half).to(scales.dtype) - 8
    spread = 2 * half // max(scales.shape[1], 1)
    return numbers * scales.repeat_interleave(spread, 1) + zeros.repeat_interleave(spread, 1)


def stored(draw):
    """A weight in 8 or 4 bits: weight, scales and zeros, which is None in 8 bits, and (out, in). Scales and
    zeros are whole numbers of parts: as floating inputs they would need gradients."""
    out, layout = draw.size(9), draw.choice(DENSE)
    if draw.chance(0.5):
        width = draw.choice([1, 5, 16, 33, 64])
        weight = draw.integers((out, width), -128, 128, "int8", layout)
        return weight, draw.integers((out,), 10, 50), None, (out, width)
    group, groups = draw.choice(GROUPS), draw.integer(1, 2)
    weight = draw.integers((out, group * groups // 2), 0, 256, "uint8", layout)
    scales, zeros = draw.integers((out, groups), 100, 500), draw.integers((out, groups), -1000, 1000)
    return weight, scales, zeros, (out, group * groups)


def with_optional(function, *inputs, **options):
    """A case some of whose inputs are left out: `function` gets None for them."""

    def call(lib, *tensors):
        given = iter(tensors)
        return function(lib, *(None if i is None else next(given) for i in inputs))

    return Case(call, *(i for i in inputs if i is not None), **options)


@cases("quantized_linear")
def quantized_linear(draw):
    weight, scales, zeros, (out, width) = stored(draw)
    x = draw.floats((*draw.shape(0, 2, 11), width))
    bias = draw.floats((out,)) if draw.chance(0.6) else None

    def function(lib, x, weight, scales, zeros, bias):
        scales, zeros = (None if t is None else t.to(x.dtype) / PARTS for t in (scales, zeros))
        if is_torch(lib):
            return lib.nn.functional.linear(x, numbers_of(lib, weight, scales, zeros), bias)
        return lib.quantized_linear(x, weight, scales, zeros, bias)

    return with_optional(function, x, weight, scales, zeros, bias, unit="largest")


@cases("dequantize_weight")
def dequantize_weight(draw):
    weight, scales, zeros, _ = stored(draw)
    dtype = draw.choice([None, None, "float32", "float16"])

    def function(lib, weight, scales, zeros):
        options = {} if dtype is None else {"dtype": getattr(lib, dtype)}
        scales, zeros = (None if t is None else t.float() / PARTS for t in (scales, zeros))
        if not is_torch(lib):
            return lib.dequantize_weight(weight, scales, zeros, **options)
        numbers = numbers_of(lib, weight, scales, zeros)
        return numbers if dtype is None else numbers.to(options["dtype"])

    return with_optional(function, weight, scales, zeros, unit="largest", backward=False)


def on_steps(draw, least, steps, shape):
    """Lines [..., n] of multiples of half a step, from least to least + steps steps, both of which are there.
    A step is a power of two, another for each line. All dtypes have these numbers and quantise them alike."""
    array = draw.rng.integers(0, 2 * steps + 1, shape) / 2 + least
    array[..., 0], array[..., -1] = least, least + steps
    return (array * 2.0 ** draw.rng.integers(-4, 3, (*shape[:-1], 1))).astype(np.float32)


@cases("quantize_int8")
def quantize_int8(draw):
    """The scale is the step: the largest magnitude is 127.5 steps."""
    array = on_steps(draw, -127.5, 255, (draw.size(9), draw.choice([2, 5, 33])))

    def function(lib, weight):
        if not is_torch(lib):
            return tuple(lib.quantize_int8(weight))
        scales = weight.abs().amax(1).float() / 127.5
        numbers = (weight.float() / scales[:, None]).round().clamp(-128, 127)
        return numbers.to(lib.int8), scales.to(weight.dtype if weight.dtype == lib.float64 else lib.float32)

    return Case(function, Input(array, draw.choice(DENSE), draw.integer(0, 99)), backward=False)


@cases("quantize_int4")
def quantize_int4(draw):
    group, groups, out = draw.choice(GROUPS), draw.integer(1, 2), draw.size(9)
    array = on_steps(draw, draw.integer(-9, 0), 15, (out, groups, group)).reshape(out, groups * group)

    def function(lib, weight):
        if not is_torch(lib):
            return tuple(lib.quantize_int4(weight, group))
        wide = weight.double().reshape(out, groups, group)
        least, largest = wide.amin(2, keepdim=True), wide.amax(2, keepdim=True)
        scales = (largest - least) / 15
        numbers = ((wide - least) / scales).round().reshape(out, groups * group // 32, 2, 16).to(lib.uint8)
        packed = (numbers[:, :, 0] + 16 * numbers[:, :, 1]).reshape(out, groups * group // 2)
        return packed, scales[..., 0].to(weight.dtype), (least + 8 * scales)[..., 0].to(weight.dtype)

    return Case(function, Input(array, draw.choice(DENSE), draw.integer(0, 99)), backward=False)
