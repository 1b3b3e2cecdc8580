"""Activations that are no rows of the pointwise table."""

from cases.harness import Case, cases, errors


@cases("prelu")
def prelu(draw):
    x = draw.floats(draw.shape(0, 4))
    channels = x.shape[1] if x.ndim >= 2 else 1
    weight = draw.floats((channels if draw.chance(0.6) and x.ndim else 1,), layout="contiguous")
    return Case(lambda lib, x, weight: lib.nn.functional.prelu(x, weight), x, weight, unit="sums")


@cases("glu")
def glu(draw):
    shape = list(draw.shape(1, 4))
    dim = draw.integer(-len(shape), len(shape) - 1)
    shape[dim] = 2 * draw.integer(0, 5)
    x = draw.floats(tuple(shape))
    if draw.chance(0.3):
        x = draw.floats((3, 4))
        return Case(lambda lib, x: lib.nn.functional.glu(x), x)
    return Case(lambda lib, x: lib.nn.functional.glu(x, dim), x)


@errors("glu")
def glu_errors():
    return [lambda lib: lib.nn.functional.glu(lib.zeros(2, 4), 2)]


@cases("rrelu")
def rrelu(draw):
    """Not training: what is random stands in test_random.py."""
    x = draw.floats(draw.shape(0, 4))
    options = {"lower": 0.2, "upper": draw.choice([0.2, 0.75])} if draw.chance(0.7) else {}
    return Case(lambda lib, x: lib.nn.functional.rrelu(x, **options), x)


@errors("rrelu")
def rrelu_errors():
    return [lambda lib: lib.nn.functional.rrelu(lib.zeros(2), 0.5, 0.25, True)]
