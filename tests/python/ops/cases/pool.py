"""Cases of the pools: any window, with and without a batch, with places of the maxima."""

import numpy as np

from cases.conv import one_or_tuple
from cases.harness import DENSE, Case, Input, cases, errors, is_torch

ADAPTIVE = [f"adaptive_{kind}_pool{axes}d" for kind in ("avg", "max") for axes in (1, 2, 3)]


def planes(draw, size, distinct):
    """An input of that plane size, with or without a batch."""
    lead = draw.choice([(3,), (2, 3), (1, 1), (0, 2), (2, 5)])
    shape = (*lead, *size)
    return draw.distinct(shape) if distinct else draw.floats(shape)


def window(draw, axes, dilates):
    most = 4 if axes < 3 else 3  # of volumes there is soon too much
    kernel = [draw.integer(1, most) for _ in range(axes)]
    dilation = [draw.choice([1, 1, 2, 3]) if dilates else 1 for _ in range(axes)]
    padding = [draw.integer(0, k // 2) for k in kernel]
    size = [
        max(1, d * (k - 1) + 1 - 2 * p) + draw.integer(0, 8 if axes < 3 else 3)
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


def pooling(name, **options):
    """The call of either library."""

    def function(lib, x):
        if is_torch(lib) and name.endswith("pool3d"):
            x = x.contiguous()  # PyTorch's takes not every order of dimensions
        return getattr(lib.nn.functional, name)(x, **options)

    return function


@cases("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(draw, name):
    size, options = window(draw, int(name[-2]), dilates=True)
    options["return_indices"] = draw.chance(0.5)
    x = planes(draw, size, distinct=True)
    if draw.chance(0.2):  # many equal elements: the first counts; their gradients are not finite differences'
        x = Input(np.floor(x.array) % 3, x.layout, x.seed)
        return Case(pooling(name, **options), x, gradcheck=False)
    return Case(pooling(name, **options), x, unit="sums")


@cases("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(draw, name):
    size, options = window(draw, int(name[-2]), dilates=False)
    options["count_include_pad"] = draw.chance(0.6)
    if name != "avg_pool1d" and draw.chance(0.3):
        options["divisor_override"] = draw.choice([1, 3, 7])
    if name == "avg_pool3d":  # PyTorch's wants inputs of the kernel's size without their padding
        kernel = options["kernel_size"]
        kernel = (kernel,) * 3 if isinstance(kernel, int) else kernel
        size = [max(n, k) for n, k in zip(size, kernel, strict=True)]
    x = planes(draw, size, distinct=False)
    return Case(pooling(name, **options), x, unit="sums")


@cases("lp_pool1d", "lp_pool2d", "lp_pool3d")
def lp_pool(draw, name):
    size, options = window(draw, int(name[-2]), dilates=False)
    del options["padding"]
    kernel = options.pop("kernel_size")
    axes = (kernel,) * len(size) if isinstance(kernel, int) else kernel
    size = [max(n, k) for n, k in zip(size, axes, strict=True)]
    kernel = axes[0] if name == "lp_pool1d" else kernel  # PyTorch's multiplies by it
    p = draw.choice([2.0, 2.0, 1.0, 3.0, 1.5, np.inf, -np.inf])
    lead = draw.choice([(3,), (2, 3), (1, 1), (2, 5)])
    low = -3.0 if p == 2.0 or np.isinf(p) else 0.1
    x = draw.floats((*lead, *size), low, 3.0, layout=draw.choice(DENSE))
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, p, kernel, **options), x, unit="sums")


@errors("lp_pool1d", "lp_pool2d", "lp_pool3d")
def lp_pool_errors(name):
    shape = (1, 2, *(6,) * int(name[-2]))
    return [call(name, shape, 2.0, 0), call(name, shape, 2.0, 2, 0), call(name, shape, 2.0, 9)]


@cases(*ADAPTIVE)
def adaptive_pool(draw, name):
    axes = int(name[-2])
    size = [draw.integer(1, 13 if axes < 3 else 9) for _ in range(axes)]
    target = one_or_tuple(draw, [draw.integer(1, 9 if axes < 3 else 6) for _ in range(axes)])
    if axes > 1 and draw.chance(0.3):
        target = draw.choice([(None, 3, 2), (2, None, None), (None, None, None), (1, 1, 1)])[:axes]
        target = draw.choice([target, target, 1])
    options = {"return_indices": draw.chance(0.5)} if "max" in name else {}
    x = planes(draw, size, distinct="max" in name)
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x, target, **options), x, unit="sums")


def call(name, shape, *arguments, **options):
    return lambda lib: getattr(lib.nn.functional, name)(lib.ones(*shape), *arguments, **options)


@errors("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d")
def pool_errors(name):
    shape = (1, 2, *(6,) * int(name[-2]))
    wrong = [
        call(name, shape, 0),
        call(name, shape, 2, 0),
        call(name, shape, 2, padding=2),
        call(name, shape, 2, padding=-1),
        call(name, shape, 9),
    ]
    if "max" in name:
        wrong += [call(name, shape, 2, dilation=0), call(name, (6,), 2)]
    if name in ("avg_pool2d", "avg_pool3d"):
        wrong.append(call(name, shape, 2, divisor_override=0))
    return wrong


@errors(*ADAPTIVE)
def adaptive_errors(name):
    shape = (1, 2, *(6,) * int(name[-2]))
    return [
        call(name, (6,), 2),
        call(name, shape, -1),
        call(name, (*shape[:-1], 0), 2),
    ]
