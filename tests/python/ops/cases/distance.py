"""Cases of distances and angles between vectors."""

from math import inf

from cases.harness import DENSE, Case, cases, errors

ORDERS = (2.0, 2.0, 1.0, 1.5, 3.0, inf)


def two(draw, a, b, p=2.0):
    """Tensors of these shapes; where only the largest difference counts, no two are equal."""
    layout = draw.choice(DENSE) if p == inf else None
    return draw.floats(a, layout=layout), draw.floats(b, layout=layout)


@cases("pairwise_distance")
def pairwise_distance(draw):
    p = draw.choice(ORDERS)
    shape = (*draw.shape(0, 2), draw.size())
    options = {"p": p, "keepdim": draw.choice([False, True])} if draw.chance(0.8) else {}
    if draw.chance(0.3):
        options["eps"] = draw.choice([1e-3, 0.1])
    other = (*draw.broadcastable(shape[:-1]), shape[-1]) if draw.chance(0.3) else shape
    a, b = two(draw, shape, other, p)
    return Case(lambda lib, a, b: lib.nn.functional.pairwise_distance(a, b, **options), a, b, unit="largest")


@errors("pairwise_distance")
def pairwise_distance_errors():
    return [lambda lib: lib.nn.functional.pairwise_distance(lib.zeros(2, 3), lib.zeros(2, 4))]


@cases("cosine_similarity")
def cosine_similarity(draw):
    shape = draw.shape(1, 4)
    other = draw.broadcastable(shape) if draw.chance(0.3) else shape
    options = {"dim": draw.dim(len(shape))}
    if len(shape) > 1 and draw.chance(0.2):
        options = {}
    if draw.chance(0.3):
        options["eps"] = draw.choice([1e-3, 3.0])
    return Case(
        lambda lib, a, b: lib.nn.functional.cosine_similarity(a, b, **options),
        *two(draw, shape, other),
        unit="largest",
        gradcheck="eps" not in options,  # the gradient of what is below eps is that of what is not
    )


@errors("cosine_similarity")
def cosine_similarity_errors():
    return [
        lambda lib: lib.nn.functional.cosine_similarity(lib.zeros(2, 3), lib.zeros(2, 4)),
        lambda lib: lib.nn.functional.cosine_similarity(lib.zeros(2, 3), lib.zeros(2, 3), 2),
        lambda lib: lib.nn.functional.cosine_similarity(
            lib.zeros(2, 3, dtype=lib.int64), lib.zeros(2, 3, dtype=lib.int64)
        ),
    ]


@cases("cdist")
def cdist(draw):
    p = draw.choice(ORDERS)
    options = {"p": p} if draw.chance(0.8) or p != 2 else {}
    by_product = p == 2 and draw.chance(0.6)
    rows, others = (
        draw.integer(26, 40) if by_product and draw.chance(0.7) else draw.size() for _ in range(2)
    )
    if by_product and max(rows, others) < 26:
        options["compute_mode"] = "use_mm_for_euclid_dist"
    elif p == 2 and draw.chance(0.3):
        options["compute_mode"] = "donot_use_mm_for_euclid_dist"
    if draw.chance(0.1):
        rows = 0
    columns = draw.integer(3, 9) if by_product else draw.choice([0, *range(1, 9)])
    batch = draw.shape(0, 2, 3)
    return Case(
        lambda lib, a, b: lib.cdist(a, b, **options),
        *two(draw, (*draw.broadcastable(batch), rows, columns), (*batch, others, columns), p),
        unit="largest",
    )


@errors("cdist")
def cdist_errors():
    return [
        lambda lib: lib.cdist(lib.zeros(2, 3), lib.zeros(2, 4)),
        lambda lib: lib.cdist(lib.zeros(3), lib.zeros(2, 3)),
        lambda lib: lib.cdist(lib.zeros(2, 3), lib.zeros(2, 3), p=-1.0),
        lambda lib: lib.cdist(lib.zeros(2, 3), lib.zeros(2, 3), compute_mode="exactly"),
        lambda lib: lib.cdist(lib.zeros(2, 3, dtype=lib.int64), lib.zeros(2, 3, dtype=lib.int64)),
        lambda lib: lib.cdist(lib.zeros(2, 2, 3), lib.zeros(3, 2, 3)),
    ]


@cases("pdist")
def pdist(draw):
    p = draw.choice(ORDERS)
    options = {"p": p} if draw.chance(0.8) or p != 2 else {}
    shape = (draw.choice([0, 1, 2, 3, draw.integer(4, 20)]), draw.integer(1, 9))
    x = draw.floats(shape, layout=draw.choice(DENSE))  # rows that are equal have no gradient
    return Case(
        lambda lib, x: lib.nn.functional.pdist(x, **options),
        x,
        unit="largest",
        backward=shape[0] > 1,  # PyTorch's divides by zero there
    )


@errors("pdist")
def pdist_errors():
    return [
        lambda lib: lib.nn.functional.pdist(lib.zeros(3)),
        lambda lib: lib.nn.functional.pdist(lib.zeros(2, 2, 2)),
        lambda lib: lib.nn.functional.pdist(lib.zeros(2, 2), -1.0),
    ]
