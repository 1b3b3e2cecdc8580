"""Cases of what puts elements in order."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, errors

DTYPES = ("float32", "float32", "int64", "int32", "int16", "int8", "uint8", "bool")


def sortable(draw, low=0):
    """A tensor and one of its dimensions. Long ones have equal elements; some have NaN and both zeros."""
    shape = list(draw.shape(low, 4))
    dim = draw.dim(len(shape))
    if shape and draw.chance(0.4):
        shape = [min(s, 3) for s in shape]
        shape[dim] = draw.choice([127, 129, 300, 2500])
    if draw.chance(0.3):
        return draw.distinct(tuple(shape), "contiguous"), dim
    x = draw.numbers(tuple(shape), -5, 5, DTYPES, layout=draw.choice(DENSE))
    if x.is_floating and draw.chance(0.5):
        rare = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5], np.float32)
        odd = draw.rng.random(x.shape) < 0.4
        x = Input(np.where(odd, draw.rng.choice(rare, x.shape), x.array), x.layout, x.seed)
    return x, dim


@cases("sort")
def sort(draw):
    x, dim = sortable(draw)
    descending = draw.chance(0.5)
    # PyTorch leaves the order of equal elements open unless asked for a stable sort.
    distinct = len(np.unique(x.array)) == x.array.size
    return Case(
        lambda lib, x: lib.sort(x, dim=dim, descending=descending, stable=True), x, gradcheck=distinct
    )


@cases("argsort")
def argsort(draw):
    x, dim = sortable(draw)
    descending = draw.chance(0.5)
    return Case(lambda lib, x: lib.argsort(x, dim=dim, descending=descending, stable=True), x, backward=False)


@cases("topk")
def topk(draw):
    x, dim = sortable(draw, 1)
    # PyTorch leaves the order of equal elements open.
    x = draw.distinct(x.shape)
    k = draw.integer(0, x.shape[dim])
    largest = draw.chance(0.5)
    return Case(lambda lib, x: lib.topk(x, k, dim, largest), x)


@errors("sort", "argsort")
def sort_errors(name):
    return [lambda lib: getattr(lib, name)(lib.zeros((2, 3)), 2)]


@errors("topk")
def topk_errors():
    return [
        lambda lib: lib.topk(lib.zeros((2, 3)), 4),
        lambda lib: lib.topk(lib.zeros((2, 3)), -1),
        lambda lib: lib.topk(lib.zeros((2, 3)), 1, 2),
        lambda lib: lib.topk(lib.zeros((2, 3), dtype=lib.bool), 1),
    ]


def numbered(draw):
    """A tensor without equal elements, and one of its dimensions, which has elements. PyTorch leaves open
    where one of several equal elements stands."""
    x, dim = sortable(draw)
    shape = list(x.shape)
    if shape and shape[dim] == 0:
        shape[dim] = 1
    return draw.distinct(tuple(shape)), dim


def with_some_nan(draw, x):
    """At most one NaN in every row along any dimension, now and then."""
    if x.ndim and x.array.size and draw.chance(0.3):
        x.array[tuple(draw.integer(0, size - 1) for size in x.shape)] = np.nan
    return x


@cases("kthvalue")
def kthvalue(draw):
    x, dim = numbered(draw)
    k, keepdim = draw.integer(1, x.shape[dim] if x.ndim else 1), draw.chance(0.5)
    return Case(lambda lib, x: lib.kthvalue(x, k, dim, keepdim), x)


@cases("median", "nanmedian")
def median(draw, name):
    if draw.chance(0.4):
        x = sortable(draw)[0]
        if x.array.dtype == bool:
            x = Input(x.array.astype(np.uint8), x.layout, x.seed)
        distinct = len(np.unique(x.array)) == x.array.size
        return Case(lambda lib, x: getattr(lib, name)(x), x, gradcheck=distinct)
    x, dim = numbered(draw)
    x, keepdim = with_some_nan(draw, x), draw.chance(0.5)
    gradcheck = not np.isnan(x.array).any()
    return Case(lambda lib, x: getattr(lib, name)(x, dim, keepdim), x, gradcheck=gradcheck)


@cases("mode")
def mode(draw):
    x, dim = sortable(draw)
    if x.ndim and x.shape[dim] == 0:
        x = draw.floats(tuple(max(size, 1) for size in x.shape))
    if x.is_floating:
        # PyTorch's order is a chance one where there is NaN.
        x = Input(np.where(np.isnan(x.array), np.float32(1.5), x.array), x.layout, x.seed)
    keepdim = draw.chance(0.5)
    distinct = len(np.unique(x.array)) == x.array.size
    if distinct:
        finite = bool(np.isfinite(x.array).all())
        return Case(lambda lib, x: lib.mode(x, dim, keepdim), x, gradcheck=finite)
    # PyTorch leaves open where one of several equal elements stands, which gets the gradient.
    return Case(lambda lib, x: lib.mode(x, dim, keepdim)[0], x, backward=False, gradcheck=False)


@cases("cummax", "cummin")
def running_extremes(draw, name):
    x, dim = sortable(draw)
    distinct = len(np.unique(x.array)) == x.array.size
    return Case(lambda lib, x: getattr(lib, name)(x, dim), x, gradcheck=distinct)


@cases("logcumsumexp")
def logcumsumexp(draw):
    shape = draw.choice([(300,), (3, 129), (70, 5)]) if draw.chance(0.2) else draw.shape()
    x = draw.floats(shape, -20, 20)
    dim = draw.dim(x)
    return Case(lambda lib, x: lib.logcumsumexp(x, dim), x, unit="largest")


@errors("kthvalue")
def kthvalue_errors():
    return [
        lambda lib: lib.kthvalue(lib.zeros((2, 3)), 0),
        lambda lib: lib.kthvalue(lib.zeros((2, 3)), 4),
        lambda lib: lib.kthvalue(lib.zeros((2, 3)), 1, 2),
        lambda lib: lib.kthvalue(lib.zeros((2, 0)), 1),
        lambda lib: lib.kthvalue(lib.zeros((2, 3), dtype=lib.bool), 1),
    ]


@errors("median", "nanmedian")
def median_errors(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros((2, 3)), 2),
        lambda lib: getattr(lib, name)(lib.zeros((2, 0)), 1),
        lambda lib: getattr(lib, name)(lib.zeros((2, 3), dtype=lib.bool)),
        lambda lib: getattr(lib, name)(lib.zeros((2, 3), dtype=lib.bool), 1),
    ]


@errors("mode")
def mode_errors():
    return [lambda lib: lib.mode(lib.zeros((2, 3)), 2), lambda lib: lib.mode(lib.zeros((2, 0)), 1)]


@errors("cummax", "cummin")
def running_extremes_errors(name):
    return [lambda lib: getattr(lib, name)(lib.zeros((2, 3)), 2)]


@errors("logcumsumexp")
def logcumsumexp_errors():
    return [
        lambda lib: lib.logcumsumexp(lib.zeros((2, 3)), 2),
        lambda lib: lib.logcumsumexp(lib.zeros((2, 3), dtype=lib.int64), 1),
    ]


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@cases("quantile", "nanquantile")
def quantile(draw, name):
    x = draw.distinct(draw.shape(0, 3, 7, empty=False), "contiguous")
    if draw.chance(0.4):
        rare = np.array([np.nan, np.inf, -np.inf], np.float32)
        x = Input(np.where(draw.rng.random(x.shape) < 0.2, draw.choice(rare), x.array), "contiguous")
    dim, keepdim = draw.choice([None, draw.dim(x)]), draw.chance(0.4)
    mode = draw.choice(INTERPOLATIONS)
    gradcheck = bool(np.isfinite(x.array).all())
    options = {"dim": dim, "keepdim": keepdim, "interpolation": mode}
    # Parts of an eighth: every precision has them, and their ranks.
    if draw.chance(0.5):
        q = draw.integer(0, 8) / 8
        return Case(
            lambda lib, x: getattr(lib, name)(x, q, **options), x, gradcheck=gradcheck, unit="largest"
        )
    q = Input((draw.rng.integers(0, 9, (draw.integer(1, 4),)) / 8).astype(np.float32))
    # Where a part names an element, the gradient of q is that of one side.
    return Case(lambda lib, x, q: getattr(lib, name)(x, q, **options), x, q, gradcheck=False, unit="largest")


@errors("quantile", "nanquantile")
def quantile_errors(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros(3), 1.5),
        lambda lib: getattr(lib, name)(lib.zeros(3), -0.5),
        lambda lib: getattr(lib, name)(lib.zeros(0), 0.5),
        lambda lib: getattr(lib, name)(lib.zeros(3), 0.5, 1),
        lambda lib: getattr(lib, name)(lib.zeros(3), lib.zeros(1, 1)),
        lambda lib: getattr(lib, name)(lib.zeros(3), 0.5, interpolation="cubic"),
        lambda lib: getattr(lib, name)(lib.zeros(3, dtype=lib.int64), 0.5),
    ]
