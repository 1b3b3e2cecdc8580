"""Cases of what counts, and finds places among sorted or unique elements."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, errors

NUMBERS = ("float32", "float32", "int64", "int32", "int16", "int8", "uint8")


def ascending(x):
    return Input(np.sort(x.array, axis=-1), x.layout, x.seed)


@cases("searchsorted")
def searchsorted(draw):
    dtype, n = draw.choice(NUMBERS), draw.choice([0, 1, draw.integer(2, 40), draw.integer(100, 3000)])
    leading = draw.shape(0, 2, 5, empty=False)
    has_rows = draw.chance(0.5)
    sequence = draw.numbers((*leading, n) if has_rows else (n,), -5, 5, (dtype,), draw.choice(DENSE))
    right = draw.chance(0.5)
    options = draw.choice([{"right": right}, {"side": "right" if right else "left"}])
    options["out_int32"] = draw.chance(0.3)
    if not has_rows and dtype == "float32" and draw.chance(0.3):
        value = draw.number()
        return Case(lambda lib, s: lib.searchsorted(s, value, **options), ascending(sequence), backward=False)
    values = draw.numbers((*leading, draw.integer(0, 9)), -6, 6, (dtype,), draw.choice(DENSE))
    if values.is_floating and values.array.size and draw.chance(0.4):
        values.array.flat[0] = draw.choice([np.nan, np.inf, -np.inf])
    if draw.chance(0.3):
        order = Input(np.argsort(sequence.array, axis=-1, kind="stable"))
        return Case(
            lambda lib, s, v, o: lib.searchsorted(s, v, sorter=o, **options),
            sequence,
            values,
            order,
            backward=False,
        )
    return Case(
        lambda lib, s, v: lib.searchsorted(s, v, **options), ascending(sequence), values, backward=False
    )


@cases("bucketize")
def bucketize(draw):
    dtype = draw.choice(NUMBERS)
    of = draw.choice((dtype, dtype, draw.choice(NUMBERS)))
    boundaries = ascending(draw.numbers((draw.choice([0, 1, 7, 100]),), -5, 5, (of,), "contiguous"))
    x = draw.numbers(draw.shape(), -6, 6, (dtype,))
    options = {"right": draw.chance(0.5), "out_int32": draw.chance(0.3)}
    return Case(lambda lib, x, b: lib.bucketize(x, b, **options), x, boundaries, backward=False)


@errors("searchsorted")
def searchsorted_errors():
    return [
        lambda lib: lib.searchsorted(lib.zeros(2, 3), lib.zeros(3, 3)),
        lambda lib: lib.searchsorted(lib.zeros(2, 3), 1.0),
        lambda lib: lib.searchsorted(lib.zeros(3), lib.zeros(3), side="middle"),
        lambda lib: lib.searchsorted(lib.zeros(3), lib.zeros(3), side="left", right=True),
        lambda lib: lib.searchsorted(lib.zeros(3), lib.zeros(3), sorter=lib.zeros(2, dtype=lib.int64)),
    ]


@errors("bucketize")
def bucketize_errors():
    return [lambda lib: lib.bucketize(lib.zeros(3), lib.zeros(2, 2))]


@cases("isin")
def isin(draw):
    x = draw.numbers(draw.shape(), -5, 5, NUMBERS)
    invert = draw.chance(0.3)
    if x.is_floating and x.array.size and draw.chance(0.3):
        x = Input(
            np.where(draw.rng.random(x.shape) < 0.3, np.nan, np.round(x.array)).astype(np.float32),
            "contiguous",
        )
    if draw.chance(0.2):
        number = draw.integer(0, 3)
        return Case(lambda lib, x: lib.isin(x, number, invert=invert), x, backward=False)
    tests = draw.numbers(draw.shape(0, 2, 20), -5, 5, (str(x.array.dtype),))
    return Case(lambda lib, x, t: lib.isin(x, t, invert=invert), x, tests, backward=False)


def repeating(draw, dtypes=NUMBERS):
    """A tensor with equal elements and equal entries, and one of its dimensions or None."""
    shape = draw.shape(0, 3, 6)
    x = draw.numbers(shape, -1, 1, dtypes, draw.choice(DENSE))
    if x.is_floating:
        x = Input(np.round(x.array), x.layout, x.seed)
    usable = x.ndim > 0 and x.array.size > 0
    return x, draw.dim(x) if usable and draw.chance(0.5) else None


@cases("unique", "unique_consecutive")
def unique(draw, name):
    x, dim = repeating(draw, (*NUMBERS, "bool"))
    wants = {"return_inverse": draw.chance(0.6), "return_counts": draw.chance(0.6)}
    return Case(lambda lib, x: getattr(lib, name)(x, dim=dim, **wants), x, backward=False)


@errors("unique", "unique_consecutive")
def unique_errors(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), dim=2),
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), dim=-3),
    ]


@cases("bincount")
def bincount(draw):
    n = draw.choice([0, 1, 9, 1000])
    x = draw.integers(
        (n,),
        0,
        draw.choice([1, 5, 300]) if n else 1,
        draw.choice(("int64", "int32", "int16", "int8", "uint8")),
    )
    if x.array.dtype in (np.uint8, np.int8):
        x = Input(np.abs(x.array % 100), x.layout, x.seed)
    minlength = draw.choice([0, 3, 500])
    if draw.chance(0.5):
        return Case(lambda lib, x: lib.bincount(x, minlength=minlength), x, backward=False)
    weights = draw.floats((n,)) if draw.chance(0.7) else draw.integers((n,), -3, 4, "int64")
    return Case(lambda lib, x, w: lib.bincount(x, w, minlength), x, weights, backward=False, unit="largest")


@errors("bincount")
def bincount_errors():
    return [
        lambda lib: lib.bincount(lib.tensor([1, -1])),
        lambda lib: lib.bincount(lib.zeros(2, 2, dtype=lib.int64)),
        lambda lib: lib.bincount(lib.zeros(2)),
        lambda lib: lib.bincount(lib.tensor([1, 1]), lib.zeros(3)),
        lambda lib: lib.bincount(lib.tensor([1, 1]), minlength=-1),
    ]


@cases("histc")
def histc(draw):
    # Numbers that every precision has, and none on the edge between two parts.
    x = draw.integers(draw.shape(0, 3, 20), -40, 41, layout="contiguous")
    x = Input((x.array + 0.5).astype(np.float32))
    bins, low = draw.choice([1, 4, 5, 20]), -40
    if draw.chance(0.3):
        low = draw.choice([-10, 0])
        high = low + bins * draw.choice([1, 2])
        return Case(lambda lib, x: lib.histc(x, bins, low, high), x, backward=False)
    if draw.chance(0.3) and x.array.size:
        return Case(lambda lib, x: lib.histc(x, bins=1), x, backward=False)
    return Case(lambda lib, x: lib.histc(x, bins=bins, min=low, max=40), x, backward=False)


@errors("histc")
def histc_errors():
    return [
        lambda lib: lib.histc(lib.zeros(3), 0),
        lambda lib: lib.histc(lib.zeros(3), 3, 2, 1),
        lambda lib: lib.histc(lib.tensor([1.0, float("inf")]), 3),
        lambda lib: lib.histc(lib.zeros(3, dtype=lib.bool), 3),
    ]
