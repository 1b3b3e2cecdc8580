"""Cases of the softmax family."""

import numpy as np

from cases.harness import Case, Input, cases, errors


@cases("softmax", "log_softmax", "softmin")
def softmax(draw, name):
    shape = draw.shape(0, 4)
    if draw.chance(0.2):
        shape = draw.choice([(3, 300), (300, 3), (2, 40, 20)])
    x = draw.floats(shape, *draw.choice([(-3, 3), (-50, 50), (-1e4, 1e4)]))
    if draw.chance(0.15) and x.array.size > 1:
        array = x.array.copy()
        array.flat[0] = -np.inf
        x = Input(array)
    dim = draw.dim(x)
    return Case(
        lambda lib, x: getattr(lib.nn.functional, name)(x, dim),
        x,
        unit="largest",
        gradcheck=np.ptp(x.array) < 7 if x.array.size else False,
    )


@errors("softmax", "log_softmax", "softmin")
def softmax_errors(name):
    def call(*shape, dim, **options):
        return lambda lib: getattr(lib.nn.functional, name)(lib.zeros(*shape, **options), dim)

    return [call(2, 3, dim=2), call(2, 3, dim=-3)]
