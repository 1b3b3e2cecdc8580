"""Tensors made from numbers, and comparisons of whole tensors."""

from cases import Case, cases, errors

NAMES = ("float32", "int64", "int32", "int16", "int8", "uint8", "bool")


@cases("zeros", "ones")
def filled(draw, name):
    shape, dtype = draw.shape(), draw.choice((None, *NAMES))
    kind = {} if dtype is None else {"dtype": dtype}
    in_one_piece = draw.chance(0.5)

    def make(lib):
        options = {key: getattr(lib, value) for key, value in kind.items()}
        return (
            getattr(lib, name)(shape, **options)
            if in_one_piece or not shape
            else getattr(lib, name)(*shape, **options)
        )

    return Case(make)


@errors("zeros")
def zeros_errors():
    return [lambda lib: lib.zeros(2, -1), lambda lib: lib.zeros("2")]


@cases("empty")
def empty(draw):
    shape, dtype = draw.shape(), draw.choice(NAMES)
    return Case(lambda lib: lib.empty(shape, dtype=getattr(lib, dtype)).zero_())


@cases("full")
def full(draw):
    shape, dtype = draw.shape(), draw.choice((None, *NAMES))
    value = draw.choice((0, 1, 7, 2.5, -1.25, True, False))
    if dtype == "uint8":
        value = abs(value)
    return Case(lambda lib: lib.full(shape, value, dtype=dtype and getattr(lib, dtype)))


@cases("zeros_like", "ones_like", "empty_like")
def filled_like(draw, name):
    x, dtype = draw.numbers(draw.shape()), draw.choice((None, *NAMES))
    clear = 0 if name == "empty_like" else 1

    def make(lib, x):
        made = getattr(lib, name)(x, dtype=dtype and getattr(lib, dtype))
        return made if clear else made.zero_()

    return Case(make, x)


@cases("full_like")
def full_like(draw):
    x, dtype = draw.numbers(draw.shape()), draw.choice((None, *NAMES))
    value = draw.choice((0, 1, 7, 2.5, True))
    return Case(lambda lib, x: lib.full_like(x, value, dtype=dtype and getattr(lib, dtype)), x)


@cases("arange")
def arange(draw):
    dtype = draw.choice((None, None, "float32", "int64", "int32"))
    if draw.chance(0.4):
        start, end, step = draw.integer(-50, 50), draw.integer(-50, 50), draw.integer(1, 7)
    else:
        start, end, step = draw.number(-50, 50), draw.number(-50, 50), draw.number(0.01, 3)
        if dtype in ("int64", "int32"):
            dtype = None
    if end < start:
        step = -step
    form = draw.integer(0, 2)

    def make(lib):
        kind = {"dtype": getattr(lib, dtype)} if dtype else {}
        if form == 0:
            return lib.arange(abs(end), **kind)
        if form == 1 and end > start:
            return lib.arange(start, end, **kind)
        return lib.arange(start, end, step, **kind)

    return Case(make)


@errors("arange")
def arange_errors():
    return [
        lambda lib: lib.arange(0, 5, 0),
        lambda lib: lib.arange(0, 5, -1),
        lambda lib: lib.arange(5, 0),
        lambda lib: lib.arange(0, float("inf")),
    ]


@cases("linspace")
def linspace(draw):
    steps = draw.choice((0, 1, 2, 3, draw.integer(4, 300)))
    if draw.chance(0.2):
        start, end = draw.integer(-20, 20), draw.integer(-20, 20)
        return Case(lambda lib: lib.linspace(start, end, steps, dtype=lib.int64))
    start, end = draw.number(-9, 9), draw.number(-9, 9)
    return Case(lambda lib: lib.linspace(start, end, steps), unit="largest")


@errors("linspace")
def linspace_errors():
    return [lambda lib: lib.linspace(0, 1, -1)]


@cases("eye")
def eye(draw):
    n, m, dtype = draw.integer(0, 9), draw.choice((None, draw.integer(0, 9))), draw.choice(NAMES)
    if m is None:
        return Case(lambda lib: lib.eye(n, dtype=getattr(lib, dtype)))
    return Case(lambda lib: lib.eye(n, m, dtype=getattr(lib, dtype)))


@errors("eye")
def eye_errors():
    return [lambda lib: lib.eye(-1), lambda lib: lib.eye(2, -1)]


def near_pair(draw):
    """Two tensors that broadcast; some elements equal, some close, some infinite or NaN."""
    shape = draw.shape(empty=True)
    x = draw.floats(shape, layout="contiguous")
    y = draw.floats(shape, layout="contiguous")
    pick = draw.rng.integers(0, 6, shape)
    y.array[pick <= 1] = x.array[pick <= 1]
    y.array[pick == 2] = x.array[pick == 2] * 1.001
    for k, value in ((4, float("nan")), (5, float("inf"))):
        x.array[pick == k] = value
        y.array[pick == k] = value
    return x, y


@cases("isclose")
def isclose(draw):
    x, y = near_pair(draw)
    rtol, atol = draw.choice(((1e-5, 1e-8), (1e-2, 0.0), (0.0, 1e-2), (0.0, 0.0), (0.1, 0.1)))
    equal_nan = draw.chance(0.5)
    return Case(lambda lib, x, y: lib.isclose(x, y, rtol, atol, equal_nan), x, y, backward=False)


@errors("isclose")
def isclose_errors():
    return [
        lambda lib: lib.isclose(lib.zeros(2), lib.zeros(2, dtype=lib.int64)),
        lambda lib: lib.isclose(lib.zeros(2), lib.zeros(2), rtol=-1.0),
        lambda lib: lib.isclose(lib.zeros(2), lib.zeros(3)),
    ]


@cases("allclose")
def allclose(draw):
    x, y = near_pair(draw)
    if draw.chance(0.5):
        y = x
    tolerance = draw.choice((1e-5, 0.1, 100.0))
    return Case(
        lambda lib, x, y: lib.tensor(lib.allclose(x, y, atol=tolerance, equal_nan=True)), x, y, backward=False
    )


@cases("equal")
def equal(draw):
    x = draw.numbers(draw.shape())
    y = x if draw.chance(0.5) else draw.numbers(draw.shape())
    return Case(lambda lib, x, y: lib.tensor(lib.equal(x, y)), x, y, backward=False)
