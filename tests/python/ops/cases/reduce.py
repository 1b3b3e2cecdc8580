"""Cases of the reductions."""

import math

import numpy as np
from support import has_float64

from cases.harness import DENSE, Case, cases, errors


def dim_argument(draw, x):
    """Nothing, one dimension or several."""
    if draw.chance(0.25) or x.ndim == 0:
        return {}
    return {"dim": draw.dim(x) if draw.chance(0.5) else draw.dims(x), "keepdim": draw.chance(0.5)}


def one_dim_argument(draw, x):
    return {} if draw.chance(0.25) else {"dim": draw.dim(x), "keepdim": draw.chance(0.5)}


def shape_of(draw, empty=True):
    """Mostly small; now and then a reduction that is split among work items."""
    if draw.chance(0.15):
        return draw.choice([(draw.integer(2000, 9000),), (3, 700), (700, 3), (5, 97, 11)])
    return draw.shape(empty=empty)


def with_dtype(draw, x):
    """The name of a dtype to be asked for, where PyTorch's own rounding does not depend on it."""
    if draw.chance(0.6):
        return None
    if not x.is_floating:
        return draw.choice(["float32", "int64", "int32"])
    return "float64" if has_float64() else None


def called(name, arguments, dtype=None):
    """The function of that name with arguments that are the same in both libraries."""

    def function(lib, *inputs):
        given = arguments if dtype is None else {**arguments, "dtype": getattr(lib, dtype)}
        return getattr(lib, name)(*inputs, **given)

    return function


def count(x, arguments):
    """How many elements make one result."""
    dim = arguments.get("dim")
    dims = range(x.ndim) if dim is None else np.atleast_1d(dim)
    return math.prod(x.shape[d] for d in dims) if x.ndim else 1


@cases("sum")
def sums(draw):
    x = draw.numbers(shape_of(draw))
    return Case(called("sum", dim_argument(draw, x), with_dtype(draw, x)), x, unit="sums")


@cases("mean")
def mean(draw):
    x = draw.numbers(shape_of(draw))
    dtype = with_dtype(draw, x) if x.is_floating else "float32"
    return Case(called("mean", dim_argument(draw, x), dtype), x, unit="sums")


@cases("prod")
def prod(draw):
    shape = draw.shape(largest=7)
    x = draw.numbers(shape, 1, 2) if draw.chance(0.3) else draw.floats(shape, -1.5, 1.5, draw.choice(DENSE))
    if x.is_floating and x.layout != "expanded":
        x.array[draw.rng.random(shape) < draw.choice([0, 0.1, 0.3])] = 0
    return Case(called("prod", one_dim_argument(draw, x), with_dtype(draw, x)), x)


@cases("amax", "amin")
def extremes(draw, name):
    shape = shape_of(draw, empty=False)
    x = (
        draw.distinct(shape)
        if draw.chance(0.6)
        else draw.numbers(shape, -9, 9, ("int64", "int32", "int16", "int8", "uint8", "bool"))
    )
    return Case(called(name, dim_argument(draw, x)), x)


@cases("argmax", "argmin")
def places(draw, name):
    x = draw.distinct(shape_of(draw, empty=False))
    return Case(called(name, one_dim_argument(draw, x)), x)


@cases("max", "min")
def extremes_with_places(draw, name):
    shape = shape_of(draw, empty=False)
    form = draw.choice(["all", "dim", "dim", "two"])
    if form == "two":
        x = draw.distinct(shape)
        other = draw.numbers(draw.broadcastable(shape), dtypes=("float32",))
        other.array = other.array + np.float32(0.01)
        return Case(called(name, {}), x, other, unit="largest")
    x = (
        draw.distinct(shape)
        if draw.chance(0.7)
        else draw.numbers(shape, -9, 9, ("int64", "int32"), "contiguous")
    )
    if form == "all":
        return Case(called(name, {}), x)
    if not x.is_floating:  # of equal elements the first counts, which PyTorch leaves open
        x.array = draw.rng.permutation(x.array.size).reshape(shape).astype(x.array.dtype)
    return Case(called(name, {"dim": draw.dim(x), "keepdim": draw.chance(0.5)}), x)


@cases("var", "std", "var_mean", "std_mean")
def moments(draw, name):
    x = draw.floats(shape_of(draw), 0.5, 4, draw.choice(DENSE))
    arguments = dim_argument(draw, x)
    if draw.chance(0.5):
        arguments["correction"] = draw.choice([0, 1, 2, 0.5])
    elif draw.chance(0.5):
        arguments["unbiased"] = draw.chance(0.5)
        if "dim" not in arguments:
            return Case(lambda lib, t: getattr(lib, name)(t, arguments["unbiased"]), x, gradcheck=False)
    enough = count(x, arguments) > max(arguments.get("correction", 1), 1)
    return Case(called(name, arguments), x, unit="largest", gradcheck=enough, backward=enough)


@cases("logsumexp")
def logsumexp(draw):
    x = draw.numbers(
        shape_of(draw), *draw.choice([(-3, 3), (-90, 90), (200, 300)]), ("float32", "float32", "int64")
    )
    arguments = dim_argument(draw, x)
    arguments.setdefault("dim", tuple(range(x.ndim)))
    return Case(called("logsumexp", arguments), x, unit="largest")


P = (0, 1, 2, 3, 2.5, 1.5, 0.5, -1, math.inf, -math.inf)


def norm_input(draw):
    x = draw.floats(shape_of(draw, empty=False), 0.2, 3, draw.choice(DENSE))
    x.array *= draw.rng.choice(np.float32([-1, 1]), x.shape)
    return x


@cases("norm")
def norm(draw):
    x = norm_input(draw)
    arguments = dim_argument(draw, x)
    p = draw.choice(P) if "dim" in arguments else draw.choice(("fro", *P))
    return Case(called("norm", {"p": p, **arguments}), x)


@cases("vector_norm")
def vector_norm(draw):
    x = norm_input(draw)
    ord, arguments = draw.choice(P), dim_argument(draw, x)
    return Case(lambda lib, t: lib.linalg.vector_norm(t, ord, **arguments), x)


@cases("all", "any")
def truths(draw, name):
    x = draw.numbers(shape_of(draw), -1, 1)
    return Case(called(name, dim_argument(draw, x)), x, backward=False)


@cases("count_nonzero")
def count_nonzero(draw):
    x = draw.numbers(shape_of(draw), -1, 1)
    arguments = {key: value for key, value in dim_argument(draw, x).items() if key == "dim"}
    return Case(called("count_nonzero", arguments), x, backward=False)


@cases("diff")
def diff(draw):
    shape = draw.shape(1, 3, largest=6)
    x = draw.floats(shape) if draw.chance(0.8) else draw.numbers(shape)
    dim, n = draw.dim(len(shape)), draw.integer(0, 3)
    if draw.chance(0.6):
        return Case(lambda lib, x: x.diff(n, dim), x)
    more = list(shape)
    more[dim] = draw.integer(1, 2)
    added = draw.floats(tuple(more)) if x.is_floating else draw.numbers(tuple(more))
    name = draw.choice(["prepend", "append"])
    return Case(lambda lib, x, added: lib.diff(x, n=n, dim=dim, **{name: added}), x, added)


@errors("diff")
def diff_errors():
    return [
        lambda lib: lib.tensor(1.0).diff(),
        lambda lib: lib.zeros(3).diff(-1),
        lambda lib: lib.zeros(3).diff(1, 1),
        lambda lib: lib.zeros(2, 3).diff(0, append=lib.zeros(2)),
        lambda lib: lib.zeros(2, 3).diff(0, prepend=lib.zeros(1, 3)),
        lambda lib: lib.zeros(2, 3).diff(1, 0, append=lib.zeros(5, 2)),
    ]


@cases("cumsum", "cumprod")
def scans(draw, name):
    shape = draw.choice([(1500,), (3, 900), (700, 5)]) if draw.chance(0.15) else draw.shape()
    low, high = (-3, 3) if name == "cumsum" else (-1.2, 1.2)
    x = (
        draw.numbers(shape, low, high)
        if draw.chance(0.5)
        else draw.floats(shape, low, high, draw.choice(DENSE))
    )
    if name == "cumprod" and x.is_floating and x.layout != "expanded":
        x.array[draw.rng.random(shape) < draw.choice([0, 0.1])] = 0
    return Case(called(name, {"dim": draw.dim(x)}, with_dtype(draw, x)), x, unit="sums")


@errors("sum", "amax", "all", "count_nonzero", "var")
def bad_dims(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), 2),
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), -3),
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), (0, 0)),
    ]


@errors("argmax", "argmin", "max", "min")
def empty_extremes(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros(0)),
        lambda lib: getattr(lib, name)(lib.zeros(2, 0), 1),
        lambda lib: getattr(lib, name)(lib.zeros(2, 3), 2),
    ]


@errors("mean", "norm")
def integers_refused(name):
    return [lambda lib: getattr(lib, name)(lib.zeros(2, 3, dtype=lib.int64))]


@errors("cumsum", "cumprod")
def bad_scans(name):
    return [lambda lib: getattr(lib, name)(lib.zeros(2, 3), 2)]


@cases("aminmax")
def aminmax(draw):
    x = draw.distinct(shape_of(draw, empty=False))
    return Case(called("aminmax", one_dim_argument(draw, x)), x)


@cases("nansum", "nanmean")
def without_nan(draw, name):
    x = draw.floats(shape_of(draw))
    if x.layout != "expanded" and draw.chance(0.6):
        x.array[draw.rng.random(x.shape) < 0.3] = np.nan
    return Case(called(name, dim_argument(draw, x)), x, unit="sums", gradcheck=not np.isnan(x.array).any())


@errors("aminmax")
def aminmax_errors():
    return [
        lambda lib: lib.aminmax(lib.zeros(2, 3), dim=2),
        lambda lib: lib.aminmax(lib.zeros(0)),
        lambda lib: lib.aminmax(lib.zeros(2, 0), dim=1),
    ]
