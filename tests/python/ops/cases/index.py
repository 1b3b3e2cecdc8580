"""Cases of what reads and writes by indices."""

import numpy as np

from cases.harness import DENSE, Case, Input, cases, errors, is_torch


def index_shape(draw, shape, dim):
    """The shape of an index for gather and scatter: any size at dim, elsewhere at most that of the tensor."""
    sizes = [s if draw.chance(0.6) else draw.integer(min(s, 1), s) for s in shape]
    if sizes:
        sizes[dim] = draw.integer(1, 9) if shape[dim] else 0
    return tuple(sizes)


def larger(draw, shape):
    """The sizes of a source that has at least those of the index."""
    return tuple(s + draw.integer(0, 2) if draw.chance(0.3) else s for s in shape)


def index_dtype(draw):
    return draw.choice(("int64", "int64", "int32"))


def distinct_places(draw, shape, dim, size):
    """An index of which no two elements along dim are the same."""
    order = np.argsort(draw.rng.random((*np.delete(shape, dim), size)), axis=-1)
    return Input(np.moveaxis(order[..., : shape[dim]], -1, dim).astype(np.int64), "contiguous")


@cases("gather")
def gather(draw):
    x = draw.floats(draw.shape(0, 4))
    dim = draw.dim(x)
    shape = index_shape(draw, x.shape, dim) if x.ndim else draw.choice([(), (3,)])
    index = draw.integers(shape, 0, max(x.shape[dim], 1) if x.ndim else 1, index_dtype(draw))
    return Case(lambda lib, x, index: lib.gather(x, dim, index), x, index)


@errors("gather")
def gather_errors():
    def index(lib, *shape, dtype="int64"):
        return lib.zeros(shape, dtype=getattr(lib, dtype))

    return [
        lambda lib: lib.gather(lib.zeros((2, 3)), 2, index(lib, 2, 3)),
        lambda lib: lib.gather(lib.zeros((2, 3)), 0, index(lib, 2)),
        lambda lib: lib.gather(lib.zeros((2, 3)), 0, index(lib, 2, 4)),
        lambda lib: lib.gather(lib.zeros((2, 3)), 0, index(lib, 2, 3, dtype="float32")),
        lambda lib: lib.gather(lib.zeros((2, 3)), 0, index(lib, 1, 1) + 2),
        lambda lib: lib.gather(lib.zeros((2, 3)), 0, index(lib, 1, 1) - 1),
    ]


@cases("take_along_dim")
def take_along_dim(draw):
    shape = draw.shape(1, 4, empty=False)
    if draw.chance(0.2):
        x = draw.floats(shape, layout="contiguous")  # PyTorch flattens no other
        indices = draw.integers((5,), 0, x.array.size, layout="contiguous")
        return Case(lambda lib, x, i: lib.take_along_dim(x, i), x, indices)
    dim = draw.dim(len(shape))
    parts = [[1 if draw.chance(0.3) else s for s in shape] for _ in range(2)]
    parts[0][dim], parts[1][dim] = shape[dim], draw.integer(1, 5)
    x = draw.floats(tuple(parts[0]))
    indices = draw.integers(tuple(parts[1]), -shape[dim], shape[dim])
    return Case(lambda lib, x, i: lib.take_along_dim(x, i, dim), x, indices)


@errors("take_along_dim")
def take_along_dim_errors():
    return [
        lambda lib: lib.take_along_dim(lib.zeros((2, 3)), lib.zeros((3,), dtype=lib.int64), 0),
        lambda lib: lib.take_along_dim(lib.zeros((2, 3)), lib.zeros((1, 3), dtype=lib.int32), 0),
        lambda lib: lib.take_along_dim(lib.zeros((2, 3)), lib.zeros((1, 2), dtype=lib.int64), 0),
    ]


@cases("scatter", "scatter_")
def scatter(draw, name):
    x = draw.floats(draw.shape(1, 4))
    dim = draw.dim(x)
    shape = index_shape(draw, x.shape, dim)

    def call(x, *arguments):
        return (x.clone() if name.endswith("_") else x).__getattribute__(name)(dim, *arguments)

    if draw.chance(0.3):
        value = draw.number()
        index = draw.integers(shape, 0, max(x.shape[dim], 1), index_dtype(draw))
        return Case(lambda lib, x, index: call(x, index, value), x, index)
    # PyTorch leaves open which of several writes to one place counts.
    shape = tuple(min(s, t) for s, t in zip(shape, x.shape, strict=True))
    index = distinct_places(draw, shape, dim, x.shape[dim])
    # PyTorch has a gradient only where the source has the shape of the index.
    source = draw.floats(shape)
    return Case(lambda lib, x, index, src: call(x, index, src), x, index, source)


@errors("scatter", "scatter_")
def scatter_errors(name):
    def call(lib, shape, dim, index, src, dtype="float32"):
        source = src if isinstance(src, float) else lib.zeros(src, dtype=getattr(lib, dtype))
        return getattr(lib.zeros(shape), name)(dim, lib.zeros(index, dtype=lib.int64), source)

    return [
        lambda lib: call(lib, (2, 3), 2, (2, 3), 1.0),
        lambda lib: call(lib, (2, 3), 0, (2, 4), 1.0),
        lambda lib: call(lib, (2, 3), 0, (2,), 1.0),
        lambda lib: call(lib, (2, 3), 0, (2, 2), (2, 1)),
        lambda lib: call(lib, (2, 3), 0, (2, 2), (2, 2), "int64"),
    ]


@cases("scatter_add", "scatter_add_")
def scatter_add(draw, name):
    x = draw.floats(draw.shape(1, 4))
    dim = draw.dim(x)
    shape = index_shape(draw, x.shape, dim)
    index = draw.integers(shape, 0, max(x.shape[dim], 1), index_dtype(draw))
    backward = draw.chance(0.8)
    source = draw.floats(shape if backward else larger(draw, shape))

    def call(lib, x, index, src):
        return getattr(x.clone(), name)(dim, index, src)

    return Case(call, x, index, source, unit="sums", backward=backward)


@errors("scatter_add", "scatter_add_")
def scatter_add_errors(name):
    def call(lib, shape, dim, index, src, dtype="float32"):
        source = lib.zeros(src, dtype=getattr(lib, dtype))
        return getattr(lib.zeros(shape), name)(dim, lib.zeros(index, dtype=lib.int64), source)

    return [
        lambda lib: call(lib, (2, 3), 2, (2, 3), (2, 3)),
        lambda lib: call(lib, (2, 3), 0, (2, 4), (2, 4)),
        lambda lib: call(lib, (2, 3), 0, (2, 2), (2, 1)),
        lambda lib: call(lib, (2, 3), 0, (2, 2), (2, 2), "int64"),
    ]


@cases("index_select")
def index_select(draw):
    x = draw.numbers(draw.shape(0, 4), -9, 9) if draw.chance(0.3) else draw.floats(draw.shape(0, 4))
    dim = draw.dim(x)
    size = x.shape[dim] if x.ndim else 1
    count = draw.integer(0, 7) if x.ndim and size else int(not x.ndim)
    index = draw.integers((count,), 0, max(size, 1), index_dtype(draw))
    return Case(lambda lib, x, index: lib.index_select(x, dim, index), x, index)


@errors("index_select")
def index_select_errors():
    return [
        lambda lib: lib.index_select(lib.zeros((2, 3)), 2, lib.zeros((1,), dtype=lib.int64)),
        lambda lib: lib.index_select(lib.zeros((2, 3)), 1, lib.zeros((1, 1), dtype=lib.int64)),
        lambda lib: lib.index_select(lib.zeros((2, 3)), 1, lib.zeros((1,))),
        lambda lib: lib.index_select(lib.zeros((2, 3)), 1, lib.ones((1,), dtype=lib.int64) * 3),
    ]


def entries_case(draw, name, unit="element", **keywords):
    """index_add and index_copy: some entries of x along a dimension, and what is written there."""
    x = draw.floats(draw.shape(1, 4))
    dim = draw.dim(x)
    size = x.shape[dim]
    if name.startswith("index_copy"):
        # PyTorch leaves open which of several writes to one entry counts.
        chosen = draw.rng.permutation(size)[: draw.integer(0, size)].astype(np.int64)
        index = Input(chosen, "contiguous")
    else:
        index = draw.integers((draw.integer(0, 40) if size else 0,), 0, max(size, 1), index_dtype(draw))
    shape = list(x.shape)
    shape[dim] = index.shape[0]
    source = draw.floats(tuple(shape))

    def call(lib, x, index, source):
        return getattr(x.clone(), name)(dim, index, source, **keywords)

    return Case(call, x, index, source, unit=unit)


@cases("index_add", "index_add_")
def index_add(draw, name):
    keywords = {"alpha": draw.number()} if draw.chance(0.5) else {}
    return entries_case(draw, name, "sums" if not keywords else "largest", **keywords)


@cases("index_copy", "index_copy_")
def index_copy(draw, name):
    return entries_case(draw, name)


@cases("index_fill")
def index_fill(draw):
    x = draw.floats(draw.shape(1, 4))
    dim = draw.dim(x)
    size = x.shape[dim]
    index = draw.integers((draw.integer(0, 9) if size else 0,), 0, max(size, 1))
    if draw.chance(0.5):
        value = draw.number()
        return Case(lambda lib, x, index: lib.index_fill(x, dim, index, value), x, index)
    value = draw.floats(())
    return Case(lambda lib, x, index, value: x.index_fill(dim, index, value), x, index, value, unit="sums")


@errors("index_fill")
def index_fill_errors():
    def call(lib, dim, value, dtype="int64"):
        return lib.index_fill(lib.zeros((2, 3)), dim, lib.zeros((1,), dtype=getattr(lib, dtype)), value)

    return [
        lambda lib: call(lib, 2, 1.0),
        lambda lib: call(lib, 1, lib.zeros((1,))),
        lambda lib: call(lib, 1, 1.0, "float32"),
    ]


@errors("index_add", "index_add_", "index_copy", "index_copy_")
def entries_errors(name):
    def call(lib, dim, index, source, dtype="float32", index_dtype="int64"):
        places = lib.zeros(index, dtype=getattr(lib, index_dtype))
        return getattr(lib.zeros((2, 3)), name)(dim, places, lib.zeros(source, dtype=getattr(lib, dtype)))

    return [
        lambda lib: call(lib, 2, (1,), (2, 1)),
        lambda lib: call(lib, 1, (2,), (2, 3)),
        lambda lib: call(lib, 1, (2,), (1, 2)),
        lambda lib: call(lib, 1, (1, 1), (2, 1)),
        lambda lib: call(lib, 1, (1,), (2, 1), "float64"),
        lambda lib: call(lib, 1, (1,), (2, 1), index_dtype="float32"),
    ]


@cases("embedding")
def embedding(draw):
    count = draw.integer(1, 9)
    weight = draw.floats((count, draw.integer(1, 70)))
    tokens = draw.integers(draw.shape(0, 3), 0, count, index_dtype(draw))
    padding = draw.integer(-count, count - 1) if draw.chance(0.5) else None

    def call(lib, tokens, weight):
        functional = lib.nn.functional
        return functional.embedding(tokens, weight, padding_idx=padding)

    # The padding row's gradient is left out, whatever differences say.
    return Case(call, tokens, weight, unit="sums", gradcheck=padding is None)


@errors("embedding")
def embedding_errors():
    def tokens(lib, dtype="int64"):
        return lib.ones((2,), dtype=getattr(lib, dtype))

    return [
        lambda lib: lib.nn.functional.embedding(tokens(lib), lib.zeros((3, 2, 2))),
        lambda lib: lib.nn.functional.embedding(tokens(lib, "float32"), lib.zeros((3, 2))),
        lambda lib: lib.nn.functional.embedding(tokens(lib) * 3, lib.zeros((3, 2))),
    ]


@cases("masked_select")
def masked_select(draw):
    shape = draw.shape(0, 4)
    x = draw.floats(draw.broadcastable(shape))
    mask = draw.booleans(draw.broadcastable(shape))
    return Case(lambda lib, x, mask: lib.masked_select(x, mask), x, mask)


@errors("masked_select")
def masked_select_errors():
    return [
        lambda lib: lib.masked_select(lib.zeros((2, 3)), lib.zeros((2, 3), dtype=lib.int64)),
        lambda lib: lib.masked_select(lib.zeros((2, 3)), lib.zeros((2,), dtype=lib.bool)),
    ]


@cases("masked_fill", "masked_fill_")
def masked_fill(draw, name):
    x = draw.numbers(draw.shape(0, 4), dtypes=("float32", "float32", "int64", "uint8", "bool"))
    mask = draw.booleans(draw.broadcastable(x.shape))
    in_place = name.endswith("_")
    if x.is_floating and draw.chance(0.4):
        value = draw.floats(())
        return Case(
            lambda lib, x, mask, value: getattr(x.clone() if in_place else x, name)(mask, value),
            x,
            mask,
            value,
        )
    value = draw.choice([0, 2, 1.5, True, float("-inf")] if x.is_floating else [0, 2, 1.5, True])
    return Case(lambda lib, x, mask: getattr(x.clone() if in_place else x, name)(mask, value), x, mask)


@errors("masked_fill", "masked_fill_")
def masked_fill_errors(name):
    def call(lib, mask, value, dtype="bool"):
        return getattr(lib.zeros((2, 3)), name)(lib.zeros(mask, dtype=getattr(lib, dtype)), value)

    return [
        lambda lib: call(lib, (2, 3), 1.0, "int64"),
        lambda lib: call(lib, (2,), 1.0),
        lambda lib: call(lib, (2, 3), lib.zeros((1,))),
    ]


@cases("nonzero")
def nonzero(draw):
    x = draw.numbers(draw.shape(0, 4, largest=20), -1, 1)
    if draw.chance(0.4):
        return Case(lambda lib, x: lib.nonzero(x, as_tuple=True), x, backward=False)
    return Case(lambda lib, x: x.nonzero(), x, backward=False)


@cases("one_hot")
def one_hot(draw):
    shape = draw.shape(0, 3)
    classes = draw.integer(1, 9)
    x = draw.integers(shape, 0, classes)
    given = -1 if draw.chance(0.4) and x.array.size else classes

    def function(lib, x):
        return (lib.nn.functional if is_torch(lib) else lib).one_hot(x, given)

    return Case(function, x, backward=False)


@errors("one_hot")
def one_hot_errors():
    def call(lib, dtype="int64", shape=(2,), value=1, classes=3):
        functional = lib.nn.functional
        return functional.one_hot(lib.ones(shape, dtype=getattr(lib, dtype)) * value, classes)

    return [
        lambda lib: call(lib, dtype="float32"),
        lambda lib: call(lib, shape=(0,), classes=-1),
        lambda lib: call(lib, value=3),
        lambda lib: call(lib, value=-1),
        lambda lib: call(lib, classes=0),
    ]


@cases("tril", "triu")
def triangles(draw, name):
    x = draw.numbers(draw.shape(2, 4), dtypes=("float32", "float32", "int64", "bool"))
    diagonal = draw.integer(-6, 6)
    return Case(lambda lib, x: getattr(lib, name)(x, diagonal=diagonal), x)


@errors("tril", "triu")
def triangle_errors(name):
    return [lambda lib: getattr(lib, name)(lib.zeros((3,)))]


@cases("embedding_bag")
def embedding_bag(draw):
    count, mode = draw.integer(2, 9), draw.choice(["sum", "mean", "max"])
    weight = draw.floats((count, draw.integer(1, 20)))
    if mode == "max":
        weight = draw.distinct(weight.shape)
    shape = (draw.integer(0, 5), draw.integer(1, 6)) if draw.chance(0.5) else (draw.integer(0, 20),)
    dtype = index_dtype(draw)
    tokens = draw.integers(shape, 0, count, dtype)
    options = {} if mode == "mean" and draw.chance(0.5) else {"mode": mode}
    inputs = [tokens, weight]
    if len(shape) == 1:
        begins = np.sort(draw.rng.integers(0, shape[0] + 1, draw.integer(1, 5))).astype(dtype)
        begins[0] = 0
        if draw.chance(0.4):
            options["include_last_offset"] = True
            begins = np.append(begins, np.array(shape[0], dtype))
        inputs.append(begins)
    weighted = mode == "sum" and draw.chance(0.5)
    if weighted:
        inputs.append(draw.floats(shape))
    if draw.chance(0.5):
        options["padding_idx"] = draw.integer(-count, count - 1)

    def function(lib, tokens, weight, *others):
        given = dict(options)
        if len(shape) == 1:
            given["offsets"] = others[0]
        if weighted:
            given["per_sample_weights"] = others[-1]
        return lib.nn.functional.embedding_bag(tokens, weight, **given)

    # The padding row's gradient is left out, whatever differences say.
    return Case(function, *inputs, unit="sums", gradcheck="padding_idx" not in options)


@errors("embedding_bag")
def embedding_bag_errors():
    def of(tokens, *more, weight=(3, 2), **options):
        return lambda lib: lib.nn.functional.embedding_bag(
            lib.tensor(tokens), lib.zeros(weight), *(lib.tensor(m) for m in more), **options
        )

    return [
        of([0, 1]),
        of([[0, 1]], [0]),
        of([[[0, 1]]]),
        of([0, 1], [[0]]),
        of([0, 1], [0], weight=(3, 2, 2)),
        of([[0, 1]], mode="median"),
        of([[0, 3]]),
        of([[0, 1]], padding_idx=3),
        lambda lib: lib.nn.functional.embedding_bag(
            lib.tensor([[0, 1]]), lib.zeros(3, 2), mode="sum", per_sample_weights=lib.ones(2)
        ),
    ]


def places_in_flat(draw, x, distinct=False):
    """An index of any shape into the flattened x; with `distinct` of no place twice."""
    count = x.array.size
    shape = draw.shape(0, 3, largest=5) if count else (0,)
    if not distinct:
        return draw.integers(shape, -count, max(count, 1))
    chosen = draw.rng.permutation(count)[: draw.integer(0, count)]
    signs = draw.rng.random(chosen.shape) < 0.3
    return Input(np.where(signs, chosen - count, chosen).astype(np.int64), "contiguous")


@cases("take")
def take(draw):
    x = draw.numbers(draw.shape(0, 4), -9, 9) if draw.chance(0.3) else draw.floats(draw.shape(0, 4))
    return Case(lambda lib, x, index: lib.take(x, index), x, places_in_flat(draw, x))


@errors("take")
def take_errors():
    return [
        lambda lib: lib.take(lib.zeros((2, 3)), lib.ones((1,), dtype=lib.int64) * 6),
        lambda lib: lib.take(lib.zeros((2, 3)), lib.ones((1,), dtype=lib.int64) * -7),
        lambda lib: lib.take(lib.zeros((2, 3)), lib.zeros((1,))),
        lambda lib: lib.take(lib.zeros((0,)), lib.zeros((1,), dtype=lib.int64)),
    ]


@cases("put_")
def put_(draw):
    x = draw.floats(draw.shape(0, 4))
    accumulate = draw.chance(0.5)
    # PyTorch leaves open which of several writes to one place counts.
    index = places_in_flat(draw, x, distinct=not accumulate)
    source = draw.floats(index.shape)
    turned = draw.chance(0.5)

    def call(lib, x, index, source):
        y = x.clone()
        (y.transpose(0, -1) if turned and y.ndim else y).put_(index, source, accumulate)
        return y

    return Case(call, x, index, source, unit="sums")


@errors("put_")
def put_errors():
    def call(lib, index, source, dtype="float32", index_dtype="int64", value=0):
        places = lib.zeros(index, dtype=getattr(lib, index_dtype)) + value
        return lib.zeros((2, 3)).put_(places, lib.zeros(source, dtype=getattr(lib, dtype)))

    return [
        lambda lib: call(lib, (2,), (3,)),
        lambda lib: call(lib, (2,), (2,), "float64"),
        lambda lib: call(lib, (2,), (2,), index_dtype="float32"),
        lambda lib: call(lib, (2,), (2,), value=6),
        lambda lib: lib.zeros((0,)).put_(lib.zeros((1,), dtype=lib.int64), lib.zeros((1,))),
    ]


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def reduced_into(draw, floating):
    """Numbers of which products stay small, some of them equal."""
    return lambda shape: Input(
        draw.rng.choice([0.5, 1.0, -1.0, 1.5, 0.75, 0.0], shape).astype(np.float32)
        if floating
        else draw.rng.integers(-2, 4, shape).astype(np.int64),
        draw.choice(DENSE),
        draw.integer(0, 1000),
    )


@cases("scatter_reduce")
def scatter_reduce(draw):
    of = reduced_into(draw, draw.chance(0.8))
    x = of(draw.shape(0, 3, 6, empty=False))
    dim = draw.dim(x)
    shape = index_shape(draw, x.shape, dim) if x.ndim else draw.choice([(), (3,)])
    index = draw.integers(shape, 0, x.shape[dim] if x.ndim else 1)
    src = of(larger(draw, shape)) if x.ndim else of(shape)
    reduce, include_self = draw.choice((*REDUCTIONS, "max")), draw.chance(0.6)
    return Case(
        lambda lib, x, i, s: lib.scatter_reduce(x, dim, i, s, reduce, include_self=include_self),
        x,
        index,
        src,
        unit="largest",
        # PyTorch has no gradient of a larger src, nor of "max".
        backward=src.shape == index.shape and reduce != "max",
        gradcheck=reduce in ("sum", "mean", "prod"),
    )


@errors("scatter_reduce")
def scatter_reduce_errors():
    def call(lib, reduce="sum", dim=0, index=(2, 3), src=(2, 3), dtype="float32"):
        index = lib.zeros(index, dtype=lib.int64)
        return lib.scatter_reduce(
            lib.zeros(2, 3), dim, index, lib.zeros(src, dtype=getattr(lib, dtype)), reduce
        )

    return [
        lambda lib: call(lib, "median"),
        lambda lib: call(lib, dim=2),
        lambda lib: call(lib, src=(2, 2)),
        lambda lib: call(lib, index=(2,), src=(2,)),
        lambda lib: call(lib, dtype="int64"),
        lambda lib: lib.scatter_reduce(lib.zeros(2), 0, lib.tensor([2]), lib.zeros(1), "amax"),
    ]


@cases("index_reduce")
def index_reduce(draw):
    of = reduced_into(draw, draw.chance(0.8))
    x = of(draw.shape(1, 3, 6, empty=False))
    dim, n = draw.dim(x), draw.integer(1, 9)
    source = of(tuple(n if d == dim % x.ndim else s for d, s in enumerate(x.shape)))
    index = draw.integers((n,), 0, x.shape[dim])
    reduce, include_self = draw.choice(REDUCTIONS[1:]), draw.chance(0.6)
    return Case(
        lambda lib, x, i, s: lib.index_reduce(x, dim, i, s, reduce, include_self=include_self),
        x,
        index,
        source,
        unit="largest",
        gradcheck=reduce in ("mean", "prod"),
    )


@errors("index_reduce")
def index_reduce_errors():
    def call(lib, reduce="amax", dim=0, index=(2,), source=(2, 3)):
        return lib.index_reduce(
            lib.zeros(2, 3), dim, lib.zeros(index, dtype=lib.int64), lib.zeros(source), reduce
        )

    return [
        lambda lib: call(lib, "sum"),
        lambda lib: call(lib, dim=2),
        lambda lib: call(lib, source=(3, 3)),
        lambda lib: call(lib, index=(2, 1)),
    ]


@cases("masked_scatter")
def masked_scatter(draw):
    x = draw.floats(draw.shape(0, 4))
    mask = draw.booleans(draw.broadcastable(x.shape))
    count = int(np.broadcast_to(mask.array, x.shape).sum())
    source = draw.floats((count + draw.integer(0, 3),))
    return Case(lambda lib, x, mask, s: lib.masked_scatter(x, mask, s), x, mask, source)


@errors("masked_scatter")
def masked_scatter_errors():
    def call(lib, mask="bool", source=(6,), dtype="float32"):
        mask = lib.ones(2, 3, dtype=getattr(lib, mask))
        return lib.masked_scatter(lib.zeros(2, 3), mask, lib.zeros(source, dtype=getattr(lib, dtype)))

    return [
        lambda lib: call(lib, mask="int64"),
        lambda lib: call(lib, source=(5,)),
        lambda lib: call(lib, dtype="int64"),
    ]
