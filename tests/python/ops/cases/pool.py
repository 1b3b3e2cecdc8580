"""Cases of the pools: any window, with and without a batch, with places of the maxima."""

import numpy as np

from cases.conv import one_or_tuple
from cases.harness import Case, Input, cases, errors


def planes(draw, size, distinct):
    """An input of that plane size, with or without a batch."""
    lead = draw.choice([(3,), (2, 3), (1, 1), (0, 2), (2, 5)])
    shape = (*lead, *size)
    return draw.distinct(shape) if distinct else draw.floats(shape)


def window(draw, axes, dilates):
    kernel = [draw.integer(1, 4) for _ in range(axes)]
    dilation = [draw.choice([1, 1, 2, 3]) if dilates else 1 for _ in range(axes)]
    padding = [draw.integer(0, k // 2) for k in kernel]
    size = [
        max(1, d * (k - 1) + 1 - 2 * p) + draw.integer(0, 8)
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    options = {"kernel_size": one_or_tuple(draw, kernel), "padding": one_or_tuple(draw, padding)}
    stride = kernel
    if draw.chance(0.7):
        stride = [draw.integer(1, 4) for _ in range(axes)]
        options["stride"] = one_or_tuple(draw, stride)
    if draw.chance(0.5):
        options["ceil_mode"] = draw.chance(0.7)
    if dilates and draw.chance(0.8):
        options["dilation"] = one_or_tuple(draw, dilation)
    while any(map(sees_only_padding, size, kernel, stride, padding, dilation)):
        size = [n + 1 for n in size]
    return size, options


def sees_only_padding(size, kernel, stride, padding, dilation):
    """Whether a window may meet no element: PyTorch's gradient then writes outside its memory."""
    starts = range(-padding, size, stride)
    return any(all(not 0 <= first + dilation * k < size for k in range(kernel)) for first in starts)


@cases("max_pool1d", "max_pool2d")
def max_pool(draw, name):
    size, options = window(draw, int(name[-2]), dilates=True)
    options["return_indices"] = draw.chance(0.5)
    x = planes(draw, size, distinct=True)
    if draw.chance(0.2):  # many equal elements: the first counts; their gradients are not finite differences'
        x = Input(np.floor(x.array) % 3, x.layout, x.seed)
        return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, **options), x, gradcheck=False)
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, **options), x, unit="sums")


@cases("avg_pool1d", "avg_pool2d")
def avg_pool(draw, name):
    size, options = window(draw, int(name[-2]), dilates=False)
    options["count_include_pad"] = draw.chance(0.6)
    if name == "avg_pool2d" and draw.chance(0.3):
        options["divisor_override"] = draw.choice([1, 3, 7])
    x = planes(draw, size, distinct=False)
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, **options), x, unit="sums")


@cases("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d")
def adaptive_pool(draw, name):
    axes = int(name[-2])
    size = [draw.integer(1, 13) for _ in range(axes)]
    target = one_or_tuple(draw, [draw.integer(1, 9) for _ in range(axes)])
    if axes == 2 and draw.chance(0.3):
        target = draw.choice([(None, 3), (2, None), (None, None), 1, (1, 1)])
    options = {"return_indices": draw.chance(0.5)} if "max" in name else {}
    x = planes(draw, size, distinct="max" in name)
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, target, **options), x, unit="sums")


def call(name, shape, *arguments, **options):
    return lambda lib: getattr(lib.nn.functional, name)(lib.ones(*shape), *arguments, **options)


@errors("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d")
def pool_errors(name):
    shape = (1, 2, 6, 6) if "2d" in name else (1, 2, 6)
    wrong = [
        call(name, shape, 0),
        call(name, shape, 2, 0),
        call(name, shape, 2, padding=2),
        call(name, shape, 2, padding=-1),
        call(name, shape, 9),
    ]
    if "max" in name:
        wrong += [call(name, shape, 2, dilation=0), call(name, (6,), 2)]
    if name == "avg_pool2d":
        wrong.append(call(name, shape, 2, divisor_override=0))
    return wrong


@errors("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d")
def adaptive_errors(name):
    shape = (1, 2, 6, 6) if "2d" in name else (1, 2, 6)
    return [
        call(name, (6,), 2),
        call(name, shape, -1),
        call(name, (*shape[:-1], 0), 2),
    ]
