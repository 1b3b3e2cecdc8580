"""Cases of matrix products and einsum."""

import torch

from cases.harness import Case, cases, errors

WHOLE = ("int64", "int32", "uint8")


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
    sizes = {letter: draw.integer(1, 6) for letter in set(equation) if letter.isalpha()}
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
