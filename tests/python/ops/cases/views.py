"""Views, and what takes tensors apart and joins them."""

from cases import Case, cases, errors


def any_tensor(draw, low=1, high=4, **options):
    """A tensor of floats mostly, since only they have gradients."""
    shape = draw.shape(low, high, largest=6, **options)
    return draw.floats(shape) if draw.chance(0.7) else draw.numbers(shape)


def factors(draw, n):
    """Two numbers whose product is n."""
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    first = draw.choice(divisors)
    return first, n // first


def scaled(view):
    """A view and arithmetic on it: the gradient arrives through something."""
    return view * 2


@cases("view")
def view(draw):
    x = draw.floats(draw.shape(1, 3, empty=False), layout="contiguous")
    n = x.array.size
    shape = draw.choice([(n,), (-1,), (1, n), factors(draw, n), (-1, factors(draw, n)[1])])
    if draw.chance(0.5):
        return Case(lambda lib, x: scaled(x.view(*shape)), x)
    return Case(lambda lib, x: scaled(x.view(shape)), x)


@errors("view")
def view_errors():
    return [
        lambda lib: lib.zeros(2, 3).view(4),
        lambda lib: lib.zeros(2, 3).view(-1, -1),
        lambda lib: lib.zeros(2, 3).view(-1, 4),
        lambda lib: lib.zeros(3, 4).t().view(12),
    ]


@cases("reshape")
def reshape(draw):
    x = any_tensor(draw, empty=False)
    n = x.array.size
    shape = draw.choice([(n,), (-1,), (1, n), factors(draw, n), (-1, factors(draw, n)[1])])
    if draw.chance(0.5):
        return Case(lambda lib, x: scaled(lib.reshape(x, shape)), x)
    return Case(lambda lib, x: scaled(x.reshape(*shape)), x)


@cases("flatten")
def flatten(draw):
    x = any_tensor(draw, 0)
    start, end = sorted((draw.integer(0, max(x.ndim - 1, 0)), draw.integer(0, max(x.ndim - 1, 0))))
    if draw.chance(0.5) and x.ndim:
        end -= x.ndim
    return Case(lambda lib, x: scaled(lib.flatten(x, start, end)), x)


@errors("flatten")
def flatten_errors():
    return [
        lambda lib: lib.flatten(lib.zeros(2, 3), 1, 0),
        lambda lib: lib.flatten(lib.zeros(2, 3), 0, 2),
    ]


@cases("transpose", "swapaxes")
def transpose(draw, name):
    x = any_tensor(draw, 0)
    first, second = draw.dim(x), draw.dim(x)
    return Case(lambda lib, x: scaled(getattr(lib, name)(x, first, second)), x)


@errors("transpose")
def transpose_errors():
    return [lambda lib: lib.transpose(lib.zeros(2, 3), 0, 2)]


@cases("permute")
def permute(draw):
    x = any_tensor(draw)
    dims = [int(d) - (x.ndim if draw.chance(0.3) else 0) for d in draw.rng.permutation(x.ndim)]
    return Case(lambda lib, x: scaled(lib.permute(x, dims)), x)


@errors("permute")
def permute_errors():
    return [
        lambda lib: lib.permute(lib.zeros(2, 3), (0,)),
        lambda lib: lib.permute(lib.zeros(2, 3), (0, 0)),
        lambda lib: lib.permute(lib.zeros(2, 3), (0, 2)),
    ]


@cases("t")
def t(draw):
    return Case(lambda lib, x: scaled(lib.t(x)), any_tensor(draw, 0, 2))


@errors("t")
def t_errors():
    return [lambda lib: lib.t(lib.zeros(2, 3, 4))]


@cases("squeeze")
def squeeze(draw):
    x = any_tensor(draw)
    choice = draw.integer(0, 2)
    if choice == 0:
        return Case(lambda lib, x: scaled(lib.squeeze(x)), x)
    dim = draw.dim(x) if choice == 1 else draw.dims(x)
    return Case(lambda lib, x: scaled(lib.squeeze(x, dim)), x)


@errors("squeeze")
def squeeze_errors():
    return [
        lambda lib: lib.squeeze(lib.zeros(2, 3), 2),
        lambda lib: lib.squeeze(lib.zeros(2, 1), (1, 1)),
    ]


@cases("unsqueeze")
def unsqueeze(draw):
    x = any_tensor(draw, 0, 3)
    dim = draw.dim(x.ndim + 1)
    return Case(lambda lib, x: scaled(lib.unsqueeze(x, dim)), x)


@errors("unsqueeze")
def unsqueeze_errors():
    return [lambda lib: lib.unsqueeze(lib.zeros(2, 3), 3)]


@cases("expand")
def expand(draw):
    shape = draw.shape(1, 3, largest=5)
    x = draw.floats(draw.broadcastable(shape))
    missing = len(shape) - x.ndim
    target = [-1 if i >= missing and draw.chance(0.3) else s for i, s in enumerate(shape)]
    target = [x.shape[i - missing] if s == -1 and i >= missing else s for i, s in enumerate(target)]
    return Case(lambda lib, x: scaled(x.expand(*target)), x, unit="sums")


@errors("expand")
def expand_errors():
    return [
        lambda lib: lib.zeros(2, 3).expand(3),
        lambda lib: lib.zeros(2, 3).expand(2, 4),
        lambda lib: lib.zeros(2, 3).expand(-1, 2, 3),
    ]


@cases("expand_as")
def expand_as(draw):
    shape = draw.shape(1, 3, largest=5)
    x, other = draw.floats(draw.broadcastable(shape)), draw.floats(shape)
    return Case(lambda lib, x, other: x.expand_as(other) * other, x, other, unit="sums")


@cases("view_as")
def view_as(draw):
    shape = draw.shape(1, 3, largest=5)
    x, other = draw.floats((int(draw.floats(shape).array.size),), layout="contiguous"), draw.floats(shape)
    return Case(lambda lib, x, other: x.view_as(other) * other, x, other)


@cases("narrow")
def narrow(draw):
    x = any_tensor(draw)
    dim = draw.dim(x)
    size = x.shape[dim]
    start = draw.integer(0, size)
    length = draw.integer(0, size - start)
    if draw.chance(0.3) and start < size:
        start -= size
    return Case(lambda lib, x: scaled(lib.narrow(x, dim, start, length)), x)


@errors("narrow")
def narrow_errors():
    return [
        lambda lib: lib.narrow(lib.zeros(3), 0, 1, 3),
        lambda lib: lib.narrow(lib.zeros(3), 0, 0, -1),
        lambda lib: lib.narrow(lib.zeros(3), 1, 0, 1),
    ]


@cases("select")
def select(draw):
    x = any_tensor(draw, empty=False)
    dim = draw.dim(x)
    index = draw.integer(-x.shape[dim], x.shape[dim] - 1)
    return Case(lambda lib, x: scaled(lib.select(x, dim, index)), x)


@errors("select")
def select_errors():
    return [
        lambda lib: lib.select(lib.zeros(3), 0, 3),
        lambda lib: lib.select(lib.zeros(3), 0, -4),
        lambda lib: lib.select(lib.zeros(()), 0, 0),
    ]


@cases("unflatten")
def unflatten(draw):
    x = any_tensor(draw, empty=False)
    dim = draw.dim(x)
    first, second = factors(draw, x.shape[dim])
    sizes = draw.choice([(first, second), (-1, second), (first, -1), (x.shape[dim],), (1, first, second)])
    if draw.chance(0.5):
        return Case(lambda lib, x: scaled(lib.unflatten(x, dim, sizes)), x)
    return Case(lambda lib, x: scaled(x.unflatten(dim, sizes)), x)


@errors("unflatten")
def unflatten_errors():
    return [
        lambda lib: lib.unflatten(lib.zeros(2, 6), 1, (4, 2)),
        lambda lib: lib.unflatten(lib.zeros(2, 6), 2, (4, 2)),
        lambda lib: lib.unflatten(lib.zeros(2, 6), 1, (-1, -1)),
        lambda lib: lib.unflatten(lib.zeros(2, 6), 1, ()),
    ]


@cases("movedim")
def movedim(draw):
    x = any_tensor(draw)
    if draw.chance(0.4):
        source, destination = draw.dim(x), draw.dim(x)
    else:
        source = draw.dims(x)
        destination = tuple(int(d) for d in draw.rng.permutation(x.ndim)[: len(source)])
    return Case(lambda lib, x: scaled(lib.movedim(x, source, destination)), x)


@errors("movedim")
def movedim_errors():
    return [
        lambda lib: lib.movedim(lib.zeros(2, 3, 4), (0, 1), (0,)),
        lambda lib: lib.movedim(lib.zeros(2, 3, 4), (0, 0), (0, 1)),
        lambda lib: lib.movedim(lib.zeros(2, 3, 4), 0, 3),
    ]


@cases("diagonal")
def diagonal(draw):
    x = any_tensor(draw, 2)
    first, second = (int(d) for d in draw.rng.permutation(x.ndim)[:2])
    offset = draw.integer(-4, 4)
    if draw.chance(0.5):
        second -= x.ndim
    return Case(lambda lib, x: scaled(lib.diagonal(x, offset, first, second)), x)


@errors("diagonal")
def diagonal_errors():
    return [
        lambda lib: lib.diagonal(lib.zeros(2, 3), 0, 0, 0),
        lambda lib: lib.diagonal(lib.zeros(2), 0, 0, 1),
    ]


@cases("as_strided")
def as_strided(draw):
    """Windows that overlap, elements shown again and again, and elements left out."""
    n = draw.integer(8, 30)
    x = draw.floats((n,), layout="contiguous")
    rank = draw.integer(0, 3)
    size = [draw.integer(1, 3) for _ in range(rank)]
    stride = [draw.integer(0, 3) for _ in range(rank)]
    reach = sum((s - 1) * t for s, t in zip(size, stride, strict=True))
    if reach >= n:
        size, stride, reach = [n // 2, 2], [1, 1], n // 2
    offset = draw.integer(0, n - reach - 1)
    if draw.chance(0.1) and size:
        size[0] = 0
    return Case(lambda lib, x: scaled(lib.as_strided(x, size, stride, offset)), x, unit="sums")


@errors("as_strided")
def as_strided_errors():
    return [
        lambda lib: lib.as_strided(lib.zeros(4), (2, 2), (1,)),
        lambda lib: lib.as_strided(lib.zeros(4), (2,), (-1,)),
        lambda lib: lib.as_strided(lib.zeros(4), (1000, 1000), (1000, 1)),
        lambda lib: lib.as_strided(lib.zeros(4), (2,), (1,), -1),
    ]


@cases("split")
def split(draw):
    x = any_tensor(draw)
    dim = draw.dim(x)
    size = x.shape[dim]
    if draw.chance(0.5):
        step = draw.integer(1, max(size, 1) + 1)
        return Case(lambda lib, x: [p * (i + 1) for i, p in enumerate(lib.split(x, step, dim))], x)
    cut = draw.integer(0, size)
    sizes = draw.choice([[cut, size - cut], [size], [0, cut, size - cut]])
    return Case(lambda lib, x: lib.split(x, sizes, dim=dim), x)


@errors("split")
def split_errors():
    return [
        lambda lib: lib.split(lib.zeros(4), [1, 2]),
        lambda lib: lib.split(lib.zeros(4), [3, 2]),
        lambda lib: lib.split(lib.zeros(4), 0),
        lambda lib: lib.split(lib.zeros(4), -1),
        lambda lib: lib.split(lib.zeros(4), 2, 1),
    ]


@cases("chunk")
def chunk(draw):
    x = any_tensor(draw)
    dim, chunks = draw.dim(x), draw.integer(1, 5)
    last_only = draw.chance(0.3)  # the other parts have no gradient
    return Case(lambda lib, x: lib.chunk(x, chunks, dim)[-1 if last_only else 0 :], x)


@errors("chunk")
def chunk_errors():
    return [lambda lib: lib.chunk(lib.zeros(4), 0), lambda lib: lib.chunk(lib.zeros(()), 1)]


@cases("unbind")
def unbind(draw):
    x = any_tensor(draw, empty=False)
    dim = draw.dim(x)
    return Case(lambda lib, x: [p * (i + 1) for i, p in enumerate(lib.unbind(x, dim))], x)


@errors("unbind")
def unbind_errors():
    return [lambda lib: lib.unbind(lib.zeros(())), lambda lib: lib.unbind(lib.zeros(2), 1)]


@cases("contiguous")
def contiguous(draw):
    return Case(lambda lib, x: scaled(x.contiguous()), any_tensor(draw, 0))


@cases("clone")
def clone(draw):
    return Case(lambda lib, x: scaled(lib.clone(x)), any_tensor(draw, 0))


@cases("cat")
def cat(draw):
    shape = draw.shape(1, 4, largest=5)
    dim = draw.dim(len(shape))
    parts = []
    for _ in range(draw.integer(1, 4)):
        sizes = list(shape)
        sizes[dim] = draw.integer(0, 5)
        parts.append(draw.floats(sizes) if draw.chance(0.7) else draw.numbers(sizes))
    if draw.chance(0.2):
        parts.insert(draw.integer(0, len(parts)), draw.floats((0,), layout="contiguous"))
    return Case(lambda lib, *parts: lib.cat(parts, dim), *parts)


@errors("cat")
def cat_errors():
    return [
        lambda lib: lib.cat([]),
        lambda lib: lib.cat([lib.zeros(2, 3), lib.zeros(2, 4)]),
        lambda lib: lib.cat([lib.zeros(2, 3), lib.zeros(2)]),
        lambda lib: lib.cat([lib.zeros(2), lib.zeros(2)], 1),
        lambda lib: lib.cat([lib.zeros(()), lib.zeros(())]),
    ]


@cases("stack")
def stack(draw):
    shape = draw.shape(0, 3, largest=5)
    dim = draw.dim(len(shape) + 1)
    parts = [draw.floats(shape) for _ in range(draw.integer(1, 4))]
    return Case(lambda lib, *parts: lib.stack(parts, dim), *parts)


@errors("stack")
def stack_errors():
    return [
        lambda lib: lib.stack([]),
        lambda lib: lib.stack([lib.zeros(2), lib.zeros(3)]),
        lambda lib: lib.stack([lib.zeros(2), lib.zeros(2)], 2),
    ]


@cases("repeat_interleave")
def repeat_interleave(draw):
    x = any_tensor(draw, 0, 3)
    if x.ndim == 0 or 0 in x.shape or draw.chance(0.4):
        times = draw.integer(0, 3)
        dim = draw.dim(x.ndim) if x.ndim and draw.chance(0.6) else None
        return Case(lambda lib, x: x.repeat_interleave(times, dim), x, unit="sums")
    dim = draw.dim(x.ndim)
    counts = [draw.integer(0, 3) for _ in range(x.shape[dim])]
    return Case(lambda lib, x: lib.repeat_interleave(x, lib.tensor(counts), dim=dim), x, unit="sums")


@errors("repeat_interleave")
def repeat_interleave_errors():
    return [
        lambda lib: lib.zeros(2, 3).repeat_interleave(-1),
        lambda lib: lib.zeros(2, 3).repeat_interleave(lib.tensor([1, 2, 3]), 0),
        lambda lib: lib.zeros(2).repeat_interleave(lib.tensor([1, -2])),
        lambda lib: lib.zeros(2).repeat_interleave(lib.tensor([1.0, 2.0])),
        lambda lib: lib.zeros(2, 3).repeat_interleave(2, 2),
    ]


@cases("meshgrid")
def meshgrid(draw):
    vectors = [draw.floats(draw.shape(0, 1, largest=5)) for _ in range(draw.integer(1, 4))]
    indexing = draw.choice(["ij", "xy"])
    if draw.chance(0.5):
        return Case(lambda lib, *v: lib.meshgrid(list(v), indexing=indexing), *vectors, unit="sums")
    return Case(lambda lib, *v: lib.meshgrid(*v, indexing=indexing), *vectors, unit="sums")


@errors("meshgrid")
def meshgrid_errors():
    return [
        lambda lib: lib.meshgrid([], indexing="ij"),
        lambda lib: lib.meshgrid(lib.zeros(2), lib.zeros(2, 2), indexing="ij"),
        lambda lib: lib.meshgrid(lib.zeros(2), lib.zeros(2), indexing="yx"),
        lambda lib: lib.meshgrid(lib.zeros(2), lib.zeros(2, dtype=lib.int64), indexing="ij"),
    ]


@cases("repeat")
def repeat(draw):
    x = any_tensor(draw, 0, 3)
    times = [draw.integer(0 if draw.chance(0.1) else 1, 3) for _ in range(x.ndim + draw.integer(0, 2))]
    if not times:
        times = [2]
    return Case(lambda lib, x: x.repeat(*times), x, unit="sums")


@errors("repeat")
def repeat_errors():
    return [lambda lib: lib.zeros(2, 3).repeat(2), lambda lib: lib.zeros(2).repeat(-1)]


@cases("tile")
def tile(draw):
    x = any_tensor(draw, 0, 3)
    times = tuple(draw.integer(1, 3) for _ in range(draw.integer(1, 4)))
    return Case(lambda lib, x: lib.tile(x, times), x, unit="sums")


@cases("flip")
def flip(draw):
    x = any_tensor(draw, 1)
    dims = draw.dims(x)
    return Case(lambda lib, x: lib.flip(x, dims), x)


@errors("flip")
def flip_errors():
    return [
        lambda lib: lib.flip(lib.zeros(2, 3), (0, 0)),
        lambda lib: lib.flip(lib.zeros(2, 3), (2,)),
    ]


@cases("roll")
def roll(draw):
    x = any_tensor(draw, 1)
    if draw.chance(0.3):
        shift = draw.integer(-9, 9)
        return Case(lambda lib, x: lib.roll(x, shift), x)
    dims = draw.dims(x)
    shifts = tuple(draw.integer(-9, 9) for _ in dims)
    return Case(lambda lib, x: lib.roll(x, shifts, dims), x)


@errors("roll")
def roll_errors():
    return [
        lambda lib: lib.roll(lib.zeros(2, 3), (1, 1)),
        lambda lib: lib.roll(lib.zeros(2, 3), (1, 1), (0,)),
        lambda lib: lib.roll(lib.zeros(2, 3), 1, 2),
    ]


@cases("unfold_dimension")
def unfold_dimension(draw):
    x = any_tensor(draw, 0)
    dim = draw.dim(x)
    size = draw.integer(0, x.shape[dim] if x.ndim else 1)
    step = draw.choice([1, 1, 2, 3, 9])
    return Case(lambda lib, x: scaled(x.unfold(dim, size, step)), x, unit="sums")


@errors("unfold_dimension")
def unfold_dimension_errors():
    return [
        lambda lib: lib.zeros(2, 3).unfold(2, 1, 1),
        lambda lib: lib.zeros(2, 3).unfold(1, 4, 1),
        lambda lib: lib.zeros(2, 3).unfold(1, -1, 1),
        lambda lib: lib.zeros(2, 3).unfold(1, 2, 0),
    ]


@cases("hstack", "vstack", "dstack", "column_stack")
def stacks(draw, name):
    shape = draw.shape(0, 3, largest=5)
    return Case(
        lambda lib, *parts: getattr(lib, name)(parts),
        *(draw.floats(shape) for _ in range(draw.integer(1, 4))),
    )


@errors("hstack", "vstack", "dstack", "column_stack")
def stacks_errors(name):
    return [
        lambda lib: getattr(lib, name)([]),
        lambda lib: getattr(lib, name)([lib.zeros(2, 3, 4), lib.zeros(3, 2, 5)]),
    ]


@cases("block_diag")
def block_diag(draw):
    parts = [
        draw.numbers(draw.shape(0, 2, 4, empty=False), dtypes=("float32", "float32", "int64"))
        for _ in range(draw.integer(1, 4))
    ]
    return Case(lambda lib, *parts: lib.block_diag(*parts), *parts)


@errors("block_diag")
def block_diag_errors():
    return [lambda lib: lib.block_diag(lib.zeros(2, 3, 4))]


@cases("cartesian_prod")
def cartesian_prod(draw):
    parts = [draw.floats((draw.integer(0, 5),)) for _ in range(draw.integer(1, 3))]
    return Case(lambda lib, *parts: lib.cartesian_prod(*parts), *parts)


@errors("cartesian_prod")
def cartesian_prod_errors():
    return [lambda lib: lib.cartesian_prod(lib.zeros(2), lib.zeros(2, 2))]


@cases("combinations")
def combinations(draw):
    x, r, again = draw.floats((draw.integer(0, 6),)), draw.integer(0, 3), draw.chance(0.5)
    return Case(lambda lib, x: lib.combinations(x, r, again), x, backward=r > 0, gradcheck=r > 0)


@errors("combinations")
def combinations_errors():
    return [lambda lib: lib.combinations(lib.zeros(2, 2)), lambda lib: lib.combinations(lib.zeros(2), -1)]


@cases("fliplr", "flipud")
def flips(draw, name):
    return Case(
        lambda lib, x: getattr(lib, name)(x), draw.floats(draw.shape(2 if name == "fliplr" else 1, 4))
    )


@errors("fliplr", "flipud")
def flips_errors(name):
    return [lambda lib: getattr(lib, name)(lib.zeros(3) if name == "fliplr" else lib.tensor(1.0))]


@cases("rot90")
def rot90(draw):
    x = draw.floats(draw.shape(2, 4))
    dims, k = [int(d) for d in draw.rng.permutation(x.ndim)[:2]], draw.integer(-5, 5)
    return Case(lambda lib, x: lib.rot90(x, k, dims), x)


@errors("rot90")
def rot90_errors():
    return [
        lambda lib: lib.rot90(lib.zeros(3)),
        lambda lib: lib.rot90(lib.zeros(3, 2), 1, [0]),
        lambda lib: lib.rot90(lib.zeros(3, 2), 1, [0, 0]),
        lambda lib: lib.rot90(lib.zeros(3, 2), 1, [0, 2]),
    ]
