"""Cases of matrix products and einsum."""

import torch

from cases.harness import DENSE, Case, cases, errors

WHOLE = ("int64", "int32", "int16", "int8", "uint8")


def size(draw):
    return 0 if draw.chance(0.05) else draw.choice([1, draw.integer(1, 9), draw.integer(10, 70)])


def operands(draw, *shapes):
    """Tensors of one dtype, mostly float32."""
    dtype = "float32" if draw.chance(0.8) else draw.choice(WHOLE)
    return [draw.numbers(shape, dtypes=(dtype,)) for shape in shapes]


@cases("mm")
def mm(draw):
    m, k, n = size(draw), size(draw), size(draw)
    return Case(lambda lib, a, b: lib.mm(a, b), *operands(draw, (m, k), (k, n)), unit="sums")


@cases("bmm")
def bmm(draw):
    b, m, k, n = draw.integer(0, 4), size(draw), size(draw), size(draw)
    return Case(lambda lib, x, y: lib.bmm(x, y), *operands(draw, (b, m, k), (b, k, n)), unit="sums")


@cases("matmul")
def matmul(draw):
    m, k, n = size(draw), size(draw), size(draw)
    batch = draw.shape(0, 3, 4)
    left = draw.choice([(k,), (m, k), (*draw.broadcastable(batch), m, k)])
    right = draw.choice([(k,), (k, n), (*draw.broadcastable(batch), k, n)])
    return Case(lambda lib, a, b: lib.matmul(a, b), *operands(draw, left, right), unit="sums")


@cases("linear")
def linear(draw):
    features, out = size(draw), size(draw)
    tensors = operands(draw, (*draw.shape(0, 3, 5), features), (out, features), (out,))
    if draw.chance(0.4):
        tensors.pop()
    return Case(lambda lib, *t: lib.nn.functional.linear(*t), *tensors, unit="sums")


def factors(draw, tensors):
    """Arguments beta and alpha, of the tensors' kind."""
    if tensors[0].is_floating:
        return {"beta": draw.choice([1, 0, draw.number()]), "alpha": draw.choice([1, draw.number()])}
    return {"beta": draw.integer(0, 3), "alpha": draw.integer(-2, 3)}


def added(name, arguments):
    return lambda lib, *tensors: getattr(lib, name)(*tensors, **arguments)


@cases("addmm")
def addmm(draw):
    m, k, n = size(draw), size(draw), size(draw)
    shape = draw.choice([(n,), (m, n), (1, n), (m, 1), ()])
    tensors = operands(draw, shape, (m, k), (k, n))
    return Case(added("addmm", factors(draw, tensors)), *tensors, unit="largest")


@cases("baddbmm")
def baddbmm(draw):
    b, m, k, n = draw.integer(1, 4), size(draw), size(draw), size(draw)
    shape = draw.choice([(n,), (b, m, n), (1, m, n), (b, 1, 1)])
    tensors = operands(draw, shape, (b, m, k), (b, k, n))
    return Case(added("baddbmm", factors(draw, tensors)), *tensors, unit="largest")


@cases("dot")
def dot(draw):
    n = draw.choice([size(draw), draw.integer(1000, 5000)])
    return Case(lambda lib, a, b: lib.dot(a, b), *operands(draw, (n,), (n,)), unit="sums")


@cases("outer")
def outer(draw):
    return Case(lambda lib, a, b: lib.outer(a, b), *operands(draw, (size(draw),), (size(draw),)))


@cases("trace")
def trace(draw):
    rows, columns = size(draw), size(draw)
    if torch.__version__ < (2, 13):  # whose gradient of tall matrices is wrong
        rows = min(rows, columns)
    x = draw.floats((rows, columns))
    return Case(lambda lib, x: lib.trace(x), x, unit="sums")


@errors("trace")
def trace_errors():
    return [lambda lib: lib.trace(lib.zeros(3)), lambda lib: lib.zeros(2, 2, 2).trace()]


EQUATIONS = (
    "ij,jk->ik",
    "ij,jk",
    "ij,kj->ki",
    "bij,bjk->bik",
    "bhid,bhjd->bhij",
    "i,i->",
    "i,j->ij",
    "ij->ji",
    "ij->",
    "ij->i",
    "ijk->kj",
    "ij,ij->ij",
    "ijkl,lm->mkji",
    "abc,cd,bd->a",
    "...ij,...jk->...ik",
    "...i,...i->...",
    "i...->...i",
    "...,i->...i",
    "bi,bj->ij",
    "ij,k->k",
    "Ab, bA -> A",
)
REPEATED = ("ii->i", "ii", "iij->ij", "iji,j->i", "bii,bij->bj")


@cases("einsum")
def einsum(draw):
    equation = draw.choice(REPEATED if draw.chance(0.2) else EQUATIONS)
    sizes = {letter: draw.integer(1, 6) for letter in sorted(set(equation)) if letter.isalpha()}
    batch = draw.shape(0, 2, 4, empty=False)
    shapes = []
    for subscripts in equation.split("->")[0].replace(" ", "").split(","):
        before, dots, after = subscripts.partition("...")
        covered = draw.broadcastable(batch) if dots else ()
        shapes.append((*(sizes[c] for c in before), *covered, *(sizes[c] for c in after)))
    dtype = (
        "float32" if draw.chance(0.8) else "int64"
    )  # PyTorch adds narrower integers up in int64 or not, as it goes
    tensors = [draw.numbers(shape, dtypes=(dtype,)) for shape in shapes]
    return Case(lambda lib, *t: lib.einsum(equation, *t), *tensors, unit="sums")


@errors("mm", "bmm", "matmul", "addmm", "dot", "einsum")
def bad_operands(name):
    def called(*shapes, before=()):
        return lambda lib: getattr(lib, name)(*before, *(lib.zeros(*shape) for shape in shapes))

    return {
        "mm": [called((2, 3), (2, 3)), called((2,), (2, 2))],
        "bmm": [called((2, 3, 4), (3, 4, 5)), called((2, 3, 4), (2, 3, 4)), called((2, 3), (3, 2))],
        "matmul": [called((2, 3), (2, 3)), called((2, 2, 3), (3, 3, 4)), called((3,), (2,))],
        "addmm": [
            called((2, 2), (2, 3), (2, 3)),
            called((3, 3), (2, 3), (3, 2)),
            called((2, 2), (3,), (3, 2)),
        ],
        "dot": [called((2,), (3,)), called((2, 2), (2, 2))],
        "einsum": [
            called((2, 3), before=("ijk",)),
            called((2, 3), (3, 2), before=("ij->ij",)),
            called((2, 3), before=("ij->ik",)),
            called((2, 3), before=("ii",)),
            called((2, 3), (4, 5), before=("ij,jk",)),
            called((2, 3), before=("i1->i",)),
            called((2, 3), before=("ij->ii",)),
        ],
    }[name]


@errors("linear")
def bad_linear():
    return [
        lambda lib: lib.nn.functional.linear(lib.zeros(2, 3), lib.zeros(4, 5)),
        lambda lib: lib.mm(lib.zeros(2, 2), lib.zeros(2, 2, dtype=lib.int64)),
    ]


@cases("bilinear")
def bilinear(draw):
    batch = draw.shape(0, 2)
    outputs, firsts, seconds = (draw.size() for _ in range(3))
    inputs = [draw.floats((*batch, firsts)), draw.floats((*batch, seconds))]
    inputs.append(draw.floats((outputs, firsts, seconds)))
    if draw.chance(0.6):
        inputs.append(draw.floats((outputs,)))
    return Case(lambda lib, *given: lib.nn.functional.bilinear(*given), *inputs, unit="sums")


@errors("bilinear")
def bilinear_errors():
    def of(*shapes):
        return lambda lib: lib.nn.functional.bilinear(*(lib.zeros(*shape) for shape in shapes))

    return [
        of((2, 3), (2, 4), (5, 3, 3)),
        of((2, 3), (2, 4), (5, 4, 4)),
        of((2, 3), (3, 4), (5, 3, 4)),
        of((2, 3), (1, 2, 4), (5, 3, 4)),
        of((2, 3), (2, 4), (5, 3, 4), (4,)),
    ]


@cases("mv")
def mv(draw):
    m, k = size(draw), size(draw)
    return Case(lambda lib, a, b: lib.mv(a, b), *operands(draw, (m, k), (k,)), unit="sums")


@cases("addmv")
def addmv(draw):
    m, k = size(draw), size(draw)
    tensors = operands(draw, draw.choice([(m,), (1,), ()]), (m, k), (k,))
    return Case(added("addmv", factors(draw, tensors)), *tensors, unit="largest")


@cases("addr")
def addr(draw):
    m, n = size(draw), size(draw)
    shapes = draw.choice([(m, n), (n,), (m, 1), ()]), (m,), (n,)
    if draw.chance(0.2):
        beta = draw.choice([0, 1])
        return Case(lambda lib, *t: lib.addr(*t, beta=beta), *map(draw.booleans, shapes))
    tensors = operands(draw, *shapes)
    return Case(added("addr", factors(draw, tensors)), *tensors, unit="largest")


@cases("addbmm")
def addbmm(draw):
    b, m, k, n = draw.integer(1, 4), size(draw), size(draw), size(draw)
    tensors = operands(draw, draw.choice([(m, n), (n,), (m, 1), ()]), (b, m, k), (b, k, n))
    return Case(added("addbmm", factors(draw, tensors)), *tensors, unit="largest")


@cases("tensordot")
def tensordot(draw):
    a, b = (
        [draw.integer(1, 4) for _ in range(draw.integer(1, 3))],
        [draw.integer(1, 4) for _ in range(draw.integer(1, 3))],
    )
    count = draw.integer(0, min(len(a), len(b)))
    if draw.chance(0.4):
        b[:count] = a[len(a) - count :]
        return Case(
            lambda lib, x, y: lib.tensordot(x, y, count), *operands(draw, tuple(a), tuple(b)), unit="sums"
        )
    of_a, of_b = ([int(d) for d in draw.rng.permutation(len(t))[:count]] for t in (a, b))
    for i, j in zip(of_a, of_b, strict=True):
        b[j] = a[i]
    return Case(
        lambda lib, x, y: lib.tensordot(x, y, dims=(of_a, of_b)),
        *operands(draw, tuple(a), tuple(b)),
        unit="sums",
    )


@cases("inner")
def inner(draw):
    k = size(draw)
    shapes = draw.choice([((k,), (k,)), ((3, k), (k,)), ((2, 3, k), (4, k)), ((), (k,)), ((2, k), ())])
    return Case(lambda lib, a, b: lib.inner(a, b), *operands(draw, *shapes), unit="sums")


@cases("kron")
def kron(draw):
    # PyTorch refuses layouts that it cannot view otherwise.
    a, b = (draw.floats(draw.shape(0, 3, 4), layout="contiguous") for _ in range(2))
    return Case(lambda lib, x, y: lib.kron(x, y), a, b)


@cases("cross")
def cross(draw):
    shape = list(draw.shape(1, 3, 5, empty=False))
    dim = draw.dim(len(shape))
    shape[dim] = 3
    other = [1 if draw.chance(0.2) and d != dim % len(shape) else s for d, s in enumerate(shape)]
    tensors = operands(draw, tuple(shape), tuple(other))
    if shape.index(3) == dim % len(shape) and draw.chance(0.5):
        return Case(lambda lib, a, b: lib.cross(a, b), *tensors, unit="largest")
    return Case(lambda lib, a, b: lib.cross(a, b, dim=dim), *tensors, unit="largest")


@cases("renorm")
def renorm(draw):
    x = draw.floats(
        tuple(draw.integer(2, 6) for _ in range(draw.integer(2, 4))), 0.2, 3.0, draw.choice(DENSE)
    )
    p, dim, most = draw.choice([1, 2, 0.5, 3.0]), draw.dim(x), draw.choice([0.5, 2, 1000])
    return Case(lambda lib, x: lib.renorm(x, p, dim, most), x, unit="largest")


@errors("renorm")
def renorm_errors():
    return [
        lambda lib: lib.renorm(lib.zeros(3), 2, 0, 1),
        lambda lib: lib.renorm(lib.zeros(2, 3), -1, 0, 1),
        lambda lib: lib.renorm(lib.zeros(2, 3), 2, 2, 1),
        lambda lib: lib.renorm(lib.zeros(2, 3), 2, 0, -1),
        lambda lib: lib.renorm(lib.zeros(2, 3, dtype=lib.int64), 2, 0, 1),
    ]


@errors("cross")
def cross_errors():
    return [
        lambda lib: lib.cross(lib.zeros(2), lib.zeros(2)),
        lambda lib: lib.cross(lib.zeros(3, 2), lib.zeros(3, 2), dim=1),
        lambda lib: lib.cross(lib.zeros(3, 2), lib.zeros(3)),
    ]


@errors("mv", "addmv", "addr", "addbmm")
def added_errors(name):
    shapes = {
        "mv": [((2, 3), (2,)), ((3,), (3,))],
        "addmv": [((2,), (2, 3), (2,)), ((3,), (2, 3), (3,))],
        "addr": [((2, 3), (2, 1), (3,)), ((4, 3), (2,), (3,))],
        "addbmm": [
            ((2, 2), (1, 2, 3), (1, 2, 2)),
            ((3, 3), (1, 2, 3), (1, 3, 2)),
            ((2, 2), (1, 2, 2), (2, 2, 2)),
        ],
    }[name]
    return [lambda lib, s=s: getattr(lib, name)(*(lib.zeros(shape) for shape in s)) for s in shapes]


@errors("tensordot")
def tensordot_errors():
    return [
        lambda lib: lib.tensordot(lib.zeros(2, 3), lib.zeros(2, 3), 1),
        lambda lib: lib.tensordot(lib.zeros(2, 3), lib.zeros(3, 2), -1),
        lambda lib: lib.tensordot(lib.zeros(2, 3), lib.zeros(3, 2), ([0, 1], [0])),
        lambda lib: lib.tensordot(lib.zeros(2, 2), lib.zeros(2, 2), ([0, 0], [0, 1])),
    ]


@errors("inner")
def inner_errors():
    return [lambda lib: lib.inner(lib.zeros(2, 3), lib.zeros(2))]
