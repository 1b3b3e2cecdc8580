"""Cases of interpolation, padding, blocks and shuffles."""

import numpy as np

from cases.conv import one_or_tuple
from cases.harness import DENSE, Case, cases, errors, is_torch


def leading(draw):
    return draw.choice([(2, 3), (1, 1), (1, 5), (0, 2), (3, 1)])


@cases("interpolate")
def interpolate(draw):
    axes = draw.integer(1, 3)
    linear = (None, "linear", "bilinear", "trilinear")[axes]
    cubic = ["bicubic", "bicubic"] if axes == 2 else []
    mode = draw.choice(["nearest", "nearest-exact", linear, linear, "area", *cubic])
    options = {"mode": mode}
    size = [draw.size(7) for _ in range(axes)]
    if draw.chance(0.5):
        options["size"] = one_or_tuple(draw, [draw.size(15) for _ in range(axes)])
    else:
        factors = [draw.choice([0.5, 0.7, 1.0, 1.5, 2.0, 2.6, 3.0]) for _ in range(axes)]
        size = [max(n, 2) for n in size]
        options["scale_factor"] = one_or_tuple(draw, factors)
        options["recompute_scale_factor"] = draw.choice([None, None, False, True])
    if axes == 2 and mode in (linear, "bicubic"):
        options["antialias"] = draw.choice([False, False, True])
    if mode in (linear, "bicubic"):
        options["align_corners"] = draw.choice([None, False, True])
    x = draw.floats((*leading(draw), *size))
    return Case(lambda lib, x: lib.nn.functional.interpolate(x, **options), x, unit="sums")


def points_of(draw, shape):
    """A grid whose points lie between elements, and are the same in every dtype: odd 32nds."""
    odd = 2 * draw.rng.integers(-24, 24, shape) + 1
    return draw.laid_out((odd / 32).astype(np.float32), draw.choice(DENSE))


@cases("grid_sample")
def grid_sample(draw):
    axes = draw.choice([2, 2, 3])
    modes = ["bilinear", "bilinear", "nearest"] + (["bicubic", "bicubic"] if axes == 2 else [])
    options = {
        "mode": draw.choice(modes),
        "padding_mode": draw.choice(["zeros", "border", "reflection"]),
        "align_corners": draw.choice([None, False, True, True]),
    }
    batch = draw.choice([0, 1, 2, 2, 3])
    size, out = ([draw.size(7) for _ in range(axes)] for _ in range(2))
    x = draw.floats((batch, draw.choice([1, 2, 9]), *size))
    grid = points_of(draw, (batch, *out, axes))
    return Case(lambda lib, x, g: lib.nn.functional.grid_sample(x, g, **options), x, grid, unit="largest")


@cases("affine_grid")
def affine_grid(draw):
    axes = draw.choice([2, 2, 3])
    size = (draw.integer(1, 3), draw.integer(1, 3), *(draw.size(7) for _ in range(axes)))
    align_corners = draw.choice([None, False, True])
    theta = draw.floats((size[0], axes, axes + 1))
    return Case(lambda lib, t: lib.nn.functional.affine_grid(t, size, align_corners), theta, unit="largest")


@cases("pad")
def pad(draw):
    axes = draw.integer(1, 3)
    mode = draw.choice(["constant", "reflect", "replicate", "circular"])
    lead = leading(draw)
    if mode != "constant" and draw.chance(0.3):
        lead = (3,)
    size = [draw.integer(2, 6) for _ in range(axes)]
    widths = []
    for n in reversed(size):
        most = {"constant": 4, "replicate": 4, "reflect": n - 1, "circular": n}[mode]
        widths += [draw.integer(0, most), draw.integer(0, most)]
        if draw.chance(0.25):
            widths[-draw.integer(1, 2)] = -draw.integer(0, 1)
    if mode == "constant":
        x = draw.numbers((*lead, *size)) if draw.chance(0.4) else draw.floats((*lead, *size))
        options = {"value": draw.choice([None, 1, 2.0])} if draw.chance(0.5) else {}
    else:
        x, options = draw.floats((*lead, *size)), {"mode": mode}
    return Case(lambda lib, x: lib.nn.functional.pad(x, tuple(widths), **options), x, unit="sums")


def blocks(draw):
    """Size of a plane, options of unfold, and the number of elements in a block and of blocks."""
    kernel = [draw.integer(1, 3) for _ in range(2)]
    dilation = [draw.choice([1, 1, 2, 3]) for _ in range(2)]
    padding = [draw.integer(0, 2) for _ in range(2)]
    stride = [draw.choice([1, 1, 2, 3]) for _ in range(2)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = [max(1, r - 2 * p) + draw.integer(0, 5) for r, p in zip(reach, padding, strict=True)]
    counts = [(n + 2 * p - r) // s + 1 for n, p, r, s in zip(size, padding, reach, stride, strict=True)]
    options = {
        "kernel_size": one_or_tuple(draw, kernel),
        "dilation": one_or_tuple(draw, dilation),
        "padding": one_or_tuple(draw, padding),
        "stride": one_or_tuple(draw, stride),
    }
    return size, options, kernel[0] * kernel[1], counts[0] * counts[1]


@cases("unfold")
def unfold(draw):
    size, options, _, _ = blocks(draw)
    x = draw.floats((*draw.choice([(3,), (2, 3), (1, 1), (0, 2)]), *size))
    return Case(lambda lib, x: lib.nn.functional.unfold(x, **options), x, unit="sums")


@cases("fold")
def fold(draw):
    size, options, taps, count = blocks(draw)
    size = one_or_tuple(draw, size)
    x = draw.floats((*draw.choice([(), (2,), (1,), (0,)]), draw.integer(1, 3) * taps, count))
    return Case(lambda lib, x: lib.nn.functional.fold(x, size, **options), x, unit="sums")


@cases("pixel_shuffle", "pixel_unshuffle")
def shuffle_of_pixels(draw, name):
    r, (c, h, w) = draw.integer(1, 3), (draw.integer(1, 3) for _ in range(3))
    lead = draw.choice([(), (2,), (2, 3)])  # PyTorch gives an empty batch the input's own shape
    shape = (*lead, c * r * r, h, w) if name == "pixel_shuffle" else (*lead, c, h * r, w * r)
    x = draw.floats(shape) if draw.chance(0.6) else draw.numbers(shape)

    def function(lib, x):
        x = x.contiguous() if is_torch(lib) else x  # PyTorch's takes not every order of dimensions
        return getattr(lib.nn.functional, name)(x, r)

    return Case(function, x)


@cases("channel_shuffle")
def channel_shuffle(draw):
    groups = draw.integer(1, 4)
    shape = (draw.integer(1, 3), groups * draw.integer(1, 3), *draw.shape(1, 3, 4, empty=False))
    x = draw.numbers(shape)
    return Case(lambda lib, x: lib.nn.functional.channel_shuffle(x, groups), x)


def call(name, shape, *arguments, **options):
    return lambda lib: getattr(lib.nn.functional, name)(lib.ones(*shape), *arguments, **options)


@errors("interpolate")
def interpolate_errors():
    x = (1, 2, 4, 4)
    return [
        call("interpolate", x),
        call("interpolate", x, 3, 2.0),
        call("interpolate", x, (3, 3, 3)),
        call("interpolate", x, 0),
        call("interpolate", x, 3, align_corners=True),
        call("interpolate", x, 3, recompute_scale_factor=True),
        call("interpolate", x, 3, antialias=True),
        call("interpolate", (1, 2, 4), 3, mode="linear", antialias=True),
        call("interpolate", x, scale_factor=(2.0,)),
    ]


def sample(x, grid, *arguments):
    return lambda lib: lib.nn.functional.grid_sample(lib.ones(*x), lib.zeros(*grid), *arguments)


@errors("grid_sample")
def grid_sample_errors():
    x, grid = (1, 2, 4, 4), (1, 3, 3, 2)
    return [
        sample(x[1:], grid),
        sample(x, grid[1:]),
        sample(x, (2, 3, 3, 2)),
        sample(x, (1, 3, 3, 3)),
        sample(x, (1, 3, 3, 3, 3)),
        sample((1, 2, 0, 4), grid),
        sample(x, grid, "trilinear"),
        sample(x, grid, "bilinear", "wrap"),
        sample((1, 2, 4, 4, 4), (1, 3, 3, 3, 3), "bicubic"),
        lambda lib: lib.nn.functional.grid_sample(lib.ones(*x), lib.zeros(*grid, dtype=lib.float64)),
    ]


@errors("affine_grid")
def affine_grid_errors():
    def of(theta, size):
        return lambda lib: lib.nn.functional.affine_grid(lib.ones(*theta), size)

    return [
        of((1, 3, 4), (1, 2, 4, 4)),
        of((2, 2, 3), (1, 2, 4, 4)),
        of((1, 2, 3), (1, 2, 4, 4, 4)),
        of((1, 2, 3), (1, 2, 0, 4)),
    ]


@errors("pad")
def pad_errors():
    return [
        call("pad", (1, 2, 4), (1,)),
        call("pad", (2, 3), (1, 1, 1, 1, 1, 1)),
        call("pad", (2, 3), (-2, -2)),
        call("pad", (1, 2, 4), (4, 0), mode="reflect"),
        call("pad", (1, 2, 4), (5, 0), mode="circular"),
        call("pad", (1, 2, 4), (-4, 0), mode="replicate"),
        call("pad", (1, 2, 4), (1, 1), mode="reflect", value=1.0),
    ]


@errors("unfold")
def unfold_errors():
    return [
        call("unfold", (1, 2, 4, 4), 5),
        call("unfold", (1, 2, 4, 4), 0),
        call("unfold", (1, 2, 4, 4), 2, stride=0),
        call("unfold", (1, 2, 4, 4), 2, dilation=0),
        call("unfold", (1, 0, 4, 4), 2),
    ]


@errors("fold")
def fold_errors():
    return [
        call("fold", (1, 8, 9, 1), 4, 2),
        call("fold", (1, 7, 9), 4, 2),
        call("fold", (1, 8, 8), 4, 2),
        call("fold", (1, 8, 9), 4, 0),
        call("fold", (1, 8, 9), 4, 2, stride=0),
    ]


@errors("pixel_shuffle", "pixel_unshuffle")
def pixel_errors(name):
    return [call(name, (4, 4), 2), call(name, (3, 5, 5), 2), call(name, (4, 4, 4), 0)]


@errors("channel_shuffle")
def channel_errors():
    return [
        call("channel_shuffle", (4, 4), 2),
        call("channel_shuffle", (1, 3, 4, 4), 2),
        call("channel_shuffle", (1, 4, 4, 4), 0),
    ]
