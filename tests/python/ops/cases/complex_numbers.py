"""Cases of complex numbers. Inputs and results are the parts, real numbers."""

from cases.harness import DENSE, Case, cases, errors


def parts(draw, rank=(0, 3)):
    """The real and the imaginary parts, of shapes that broadcast."""
    shape = draw.shape(*rank)
    other = draw.broadcastable(shape) if draw.chance(0.3) else shape
    return draw.floats(shape), draw.floats(other)


def pairs(lib, z):
    # Flat and times 1, since PyTorch refuses gradients of these views that do not lie as complex numbers do.
    return lib.view_as_real(z.resolve_conj()).flatten() * 1


@cases("complex")
def complex_(draw):
    return Case(lambda lib, a, b: pairs(lib, lib.complex(a, b)), *parts(draw))


@cases("polar")
def polar(draw):
    size = draw.floats(draw.shape(0, 3), 0.1)  # PyTorch turns the gradient's sign where it is negative
    angle = draw.floats(draw.broadcastable(size.shape) if draw.chance(0.3) else size.shape)
    return Case(lambda lib, a, b: pairs(lib, lib.polar(a, b)), size, angle, unit="largest")


@cases("conj")
def conj(draw):
    return Case(lambda lib, a, b: pairs(lib, lib.conj(lib.complex(a, b))), *parts(draw))


@cases("real", "imag")
def part(draw, name):
    return Case(lambda lib, a, b: getattr(lib, name)(lib.complex(a, b)), *parts(draw))


@cases("view_as_real")
def view_as_real(draw):
    return Case(lambda lib, a, b: pairs(lib, lib.complex(a, b)), *parts(draw))


@cases("view_as_complex")
def view_as_complex(draw):
    x = draw.floats((*draw.shape(0, 3, empty=False), 2), layout="contiguous")
    return Case(lambda lib, a: pairs(lib, lib.view_as_complex(a.contiguous())), x)


@cases("vdot")
def vdot(draw):
    n = draw.size()
    inputs = [draw.floats((n,), layout=draw.choice(DENSE)) for _ in range(4)]
    return Case(
        lambda lib, a, b, c, d: pairs(lib, lib.vdot(lib.complex(a, b), lib.complex(c, d))),
        *inputs,
        unit="sums",
    )


@errors("complex", "polar")
def complex_errors(name):
    return [
        lambda lib: getattr(lib, name)(lib.zeros(2), lib.zeros(2, dtype=lib.float64)),
        lambda lib: getattr(lib, name)(lib.zeros(2), lib.zeros(3)),
        lambda lib: getattr(lib, name)(lib.zeros(2, dtype=lib.int64), lib.zeros(2, dtype=lib.int64)),
    ]


@errors("view_as_real", "imag")
def of_real_numbers(name):
    return [lambda lib: getattr(lib, name)(lib.zeros(2))]


@errors("view_as_complex")
def view_as_complex_errors():
    return [
        lambda lib: lib.view_as_complex(lib.zeros(3)),
        lambda lib: lib.view_as_complex(lib.zeros(())),
        lambda lib: lib.view_as_complex(lib.zeros(2, 3).T),
        lambda lib: lib.view_as_complex(lib.zeros(2, dtype=lib.int64)),
    ]


@errors("vdot")
def vdot_errors():
    return [
        lambda lib: lib.vdot(lib.zeros(2), lib.zeros(3)),
        lambda lib: lib.vdot(lib.zeros(2, 2), lib.zeros(2, 2)),
    ]
