"""Dropout where it is no matter of chance; test_random.py looks at what random numbers are like."""

from cases import Case, cases, errors


@cases("dropout", "dropout2d")
def dropout(draw, name):
    x = draw.floats(draw.shape(2, 4))
    p, training = draw.choice(((0.0, True), (1.0, True), (0.4, False)))
    return Case(lambda lib, x: getattr(lib.nn.functional, name)(x * 2, p, training), x)


@errors("dropout", "dropout2d")
def dropout_errors(name):
    return [
        lambda lib: getattr(lib.nn.functional, name)(lib.zeros(2, 3), -0.1),
        lambda lib: getattr(lib.nn.functional, name)(lib.zeros(2, 3), 1.1),
    ]


@errors("multinomial")
def multinomial_errors():
    return [
        lambda lib: lib.multinomial(lib.ones(3), 4),
        lambda lib: lib.multinomial(lib.ones(3), 0),
        lambda lib: lib.multinomial(lib.ones(2, 2, 2), 1),
        lambda lib: lib.multinomial(lib.ones(3, dtype=lib.int64), 1),
        lambda lib: lib.multinomial(lib.zeros(3), 1),
        lambda lib: lib.multinomial(lib.tensor([1.0, -1.0]), 1),
        lambda lib: lib.multinomial(lib.tensor([1.0, float("nan")]), 1),
        lambda lib: lib.multinomial(lib.tensor([1.0, float("inf")]), 1),
    ]


@errors("normal")
def normal_errors():
    return [lambda lib: lib.normal(0.0, -1.0, (2,)), lambda lib: lib.normal(lib.zeros(2), -1.0)]


@errors("randperm")
def randperm_errors():
    return [lambda lib: lib.randperm(-1)]


@errors("randint")
def randint_errors():
    return [lambda lib: lib.randint(3, 3, (2,)), lambda lib: lib.randint(0, (2,))]


@errors("uniform_", "normal_", "bernoulli_", "exponential_", "random_")
def in_place_errors(name):
    wrong = {
        "uniform_": (1.0, 0.0),
        "normal_": (0.0, -1.0),
        "bernoulli_": (1.5,),
        "exponential_": (-1.0,),
        "random_": (5, 5),
    }
    return [
        lambda lib: getattr(lib.zeros(3), name)(*wrong[name]),
        lambda lib: getattr(lib.zeros(3, requires_grad=True), name)(),
        lambda lib: getattr(lib.zeros(1).expand(3), name)(),
    ]
