"""Cases of what puts elements in order."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, errors

DTYPES = ("float32", "float32", "int64", "int32", "uint8", "bool")


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
