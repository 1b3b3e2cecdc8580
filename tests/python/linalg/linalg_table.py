"""The functions of ocl.linalg with inputs to compare them on, in both libraries.

Factors are unique but for signs, so that their cases give what no sign changes.
"""

from dataclasses import dataclass

import numpy as np

BATCHES = ((), (2,), (2, 3))
SIZES = (1, 2, 5, 33)
RECTANGLES = ((1, 3), (4, 1), (5, 3), (3, 5), (33, 20))


def general(rng, *shape):
    return rng.standard_normal(shape)


def regular(rng, *shape):
    """Singular values between 1 and 3, no two of them near each other."""
    u, s, vh = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
    return (u * spread(s.shape)) @ vh


def spread(shape):
    return np.linspace(3, 1, shape[-1])


def positive(rng, *shape):
    """Symmetric and positive-definite."""
    q = np.linalg.qr(rng.standard_normal(shape))[0]
    return (q * spread(shape)) @ q.swapaxes(-1, -2)


def symmetric(rng, *shape):
    """Eigenvalues between -3 and 3 at about equal distances, none at 0."""
    q = np.linalg.qr(rng.standard_normal(shape))[0]
    return (q * (np.linspace(-3, 2.8, shape[-1]) + 0.07)) @ q.swapaxes(-1, -2)


def triangular(rng, *shape):
    """Both triangles are full; either is far from singular."""
    return rng.uniform(-1, 1, shape) / shape[-1] + 2 * np.eye(shape[-1])


def low_rank(rng, *shape):
    rank = max(1, min(shape[-2:]) // 2)
    return rng.standard_normal((*shape[:-1], rank)) @ rng.standard_normal((*shape[:-2], rank, shape[-1]))


@dataclass
class Case:
    """``function(lib, *tensors)`` gives tensors that are compared; ``draw(rng)`` gives the arrays."""

    function: object
    draw: object
    double: bool = True


CASES = {}


def squares(name, kind, function, *others, sizes=SIZES, double=True):
    """A case a size and batch, of one square matrix and ``others``: numbers of columns, 0 for a vector."""
    for batch, n in zip((*BATCHES, (0,)), (*sizes[1:], 2), strict=False):
        add(name, kind, function, batch, (n, n), others, double)
    add(name, kind, function, (), (1, 1), others, double)
    add(name, kind, function, (2,), (0, 0), others, double)


def add(name, kind, function, batch, matrix, others, double=True):
    def draw(rng):
        more = [general(rng, *batch, matrix[0], *([k] if k else [])) for k in others]
        return [kind(rng, *batch, *matrix), *more]

    CASES[f"{name}-{'x'.join(map(str, (*batch, *matrix)))}"] = Case(function, draw, double)


def rectangles(name, kind, function, *others, shapes=RECTANGLES, empty=((0, 3), (3, 0)), double=True):
    for i, shape in enumerate(shapes):
        add(name, kind, function, BATCHES[i % 3] if shape[0] < 30 else (), shape, others, double)
    for shape in empty:
        add(name, kind, function, (2,), shape, others, double)
    add(name, kind, function, (0,), (2, 3), others, double)


def symmetrized(a):
    return (a + a.mT) / 2


def signed_qr(lib, a, mode="reduced"):
    q, r = lib.linalg.qr(a, mode)
    signs = lib.sign(lib.linalg.diagonal(r)).detach()
    k = signs.shape[-1]
    return q[..., :k] * signs.unsqueeze(-2), r[..., :k, :] * signs.unsqueeze(-1)


def invariants_of_svd(lib, a, full=False):
    u, s, vh = lib.linalg.svd(a, full)
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return s, u.square(), vh.square(), (u * s.sin().unsqueeze(-2)) @ vh


def invariants_of_eigh(lib, a, triangle="L"):
    values, vectors = lib.linalg.eigh(a, triangle)
    return values, vectors.square(), (vectors * values.sin().unsqueeze(-2)) @ vectors.mT


def condition(lib, a, order):
    """cond; by its formula in PyTorch, whose own has a gradient that fails for most orders."""
    if lib.__name__ == "ocl" or order in (2, -2) or a.shape[-1] == 0:
        return lib.linalg.cond(a, order)
    return lib.linalg.matrix_norm(a, order) * lib.linalg.matrix_norm(lib.linalg.inv(a), order)


squares("cholesky", positive, lambda lib, a: lib.linalg.cholesky(symmetrized(a)))
squares("cholesky-upper", positive, lambda lib, a: lib.linalg.cholesky(symmetrized(a), upper=True))
squares("cholesky_ex", positive, lambda lib, a: lib.linalg.cholesky_ex(a))
squares("inv", regular, lambda lib, a: lib.linalg.inv(a))
squares("inv_ex", regular, lambda lib, a: lib.linalg.inv_ex(a))
squares("solve", regular, lambda lib, a, b: lib.linalg.solve(a, b), 3)
squares("solve-vector", regular, lambda lib, a, b: lib.linalg.solve(a, b), 0)
squares("solve-right", regular, lambda lib, a, b: lib.linalg.solve(a, b.mT, left=False), 2)
squares("solve_ex", regular, lambda lib, a, b: lib.linalg.solve_ex(a, b), 1)
squares("det", regular, lambda lib, a: lib.linalg.det(a), sizes=(1, 2, 5, 7))
squares("slogdet", regular, lambda lib, a: lib.linalg.slogdet(a))
squares("logdet", positive, lambda lib, a: lib.logdet(a))
for upper in (True, False):
    for left in (True, False):
        for unit in (True, False):
            squares(
                f"solve_triangular-{upper}-{left}-{unit}",
                triangular,
                lambda lib, a, b, upper=upper, left=left, unit=unit: lib.linalg.solve_triangular(
                    a, b if left else b.mT, upper=upper, left=left, unitriangular=unit
                ),
                2,
                sizes=(1, 3, 4, 40),
            )
squares("lu_factor", regular, lambda lib, a: lib.linalg.lu_factor(a))
squares("lu_factor_ex", regular, lambda lib, a: lib.linalg.lu_factor_ex(a))
squares(
    "lu_solve",
    regular,
    lambda lib, a, b: (
        [lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b, adjoint=adjoint) for adjoint in (False, True)]
        + [
            lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b.mT, left=False, adjoint=adjoint)
            for adjoint in (False, True)
        ]
    ),
    3,
    sizes=(1, 2, 5, 20),
)
rectangles("lu", regular, lambda lib, a: lib.linalg.lu(a))
rectangles("lu_factor-rectangle", regular, lambda lib, a: lib.linalg.lu_factor(a))
squares("eigh", symmetric, lambda lib, a: invariants_of_eigh(lib, symmetrized(a)), sizes=(1, 2, 5, 12))
squares(
    "eigh-upper", symmetric, lambda lib, a: invariants_of_eigh(lib, symmetrized(a), "U"), sizes=(1, 3, 4, 6)
)
squares("eigvalsh", symmetric, lambda lib, a: lib.linalg.eigvalsh(symmetrized(a)))
squares("svd-square", regular, invariants_of_svd, sizes=(1, 2, 5, 12))
rectangles("svd", regular, invariants_of_svd, shapes=RECTANGLES[:4])
rectangles("svd-full", regular, lambda lib, a: invariants_of_svd(lib, a, True), shapes=RECTANGLES[:4])
rectangles("svdvals", regular, lambda lib, a: lib.linalg.svdvals(a))
squares("qr-square", regular, signed_qr)
rectangles("qr", regular, signed_qr)
rectangles(
    "qr-complete",
    regular,
    lambda lib, a: signed_qr(lib, a, "complete"),
    shapes=((1, 3), (3, 5), (4, 4)),
    empty=(),
)
rectangles("pinv", regular, lambda lib, a: lib.linalg.pinv(a))
rectangles("pinv-low-rank", low_rank, lambda lib, a: lib.linalg.pinv(a, rtol=1e-4), double=False)
squares("pinv-hermitian", symmetric, lambda lib, a: lib.linalg.pinv(symmetrized(a), hermitian=True))
rectangles("matrix_rank", low_rank, lambda lib, a: lib.linalg.matrix_rank(a))
squares("matrix_rank-hermitian", symmetric, lambda lib, a: lib.linalg.matrix_rank(a, hermitian=True))
rectangles("lstsq", regular, lambda lib, a, b: lib.linalg.lstsq(a, b)[0], 2)
rectangles(
    "lstsq-gelsd",
    regular,
    lambda lib, a, b: lib.linalg.lstsq(a, b, driver="gelsd"),
    2,
    shapes=((5, 3), (3, 5), (6, 4), (33, 20)),
)
rectangles(
    "lstsq-gels",
    regular,
    lambda lib, a, b: lib.linalg.lstsq(a, b, driver="gels"),
    1,
    shapes=((5, 3), (7, 2)),
    empty=(),
)
for order in ("fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf")):
    rectangles(
        f"matrix_norm-{order}",
        regular,
        lambda lib, a, order=order: (
            lib.linalg.matrix_norm(a, order),
            lib.linalg.norm(a, order, dim=(-1, -2), keepdim=True),
        ),
        shapes=RECTANGLES[:4],
        empty=() if order in (-2, -1, -float("inf")) else ((0, 3), (3, 0)),
    )
    squares(
        f"cond-{order}",
        regular,
        lambda lib, a, order=order: condition(lib, a, order),
        sizes=(1, 2, 5, 6),
    )
rectangles(
    "norm", general, lambda lib, a: (lib.linalg.norm(a), lib.linalg.norm(a, 3, dim=-1)), shapes=((4, 3),)
)
rectangles("cond", regular, lambda lib, a: lib.linalg.cond(a))
squares("matrix_exp", general, lambda lib, a: lib.linalg.matrix_exp(a), sizes=(1, 2, 5, 9))
squares("matrix_exp-small", general, lambda lib, a: lib.linalg.matrix_exp(a * 0.01), sizes=(1, 2, 5, 33))
for power in (0, 1, 2, 3, 5, -1, -3):
    squares(
        f"matrix_power-{power}",
        regular,
        lambda lib, a, power=power: lib.linalg.matrix_power(a, power),
        sizes=(1, 2, 3, 5),
    )
squares(
    "householder_product",
    general,
    lambda lib, a, t: lib.linalg.householder_product(
        a[..., :-1] if a.shape[-1] > 1 else a, t[..., : a.shape[-1] // 2]
    ),
    0,
    sizes=(1, 2, 5, 9),
)
squares("cholesky_solve", triangular, lambda lib, a, b: lib.cholesky_solve(b, a.tril()), 2)
squares("cholesky_solve-upper", triangular, lambda lib, a, b: lib.cholesky_solve(b, a.triu(), True), 2)
squares("cholesky_inverse", triangular, lambda lib, a: lib.cholesky_inverse(a.tril()))
squares("cholesky_inverse-upper", triangular, lambda lib, a: lib.cholesky_inverse(a.triu(), upper=True))
squares(
    "vander", general, lambda lib, a: (lib.linalg.vander(a, N=4), lib.linalg.diagonal(a)), sizes=(1, 2, 3, 4)
)
squares("vecdot", general, lambda lib, a, b: lib.linalg.vecdot(a, b.unsqueeze(-2)), 0, sizes=(1, 2, 3, 4))


def multi_dot(lib, *tensors):
    return lib.linalg.multi_dot(tensors)


for shapes in (
    ((3, 4), (4, 2)),
    ((3, 4), (4, 2), (2, 5)),
    ((3,), (3, 4), (4, 2), (2, 5), (5,)),
    ((10, 2), (2, 30), (30, 3), (3, 1), (1, 7)),
    ((3,), (3,)),
    ((3, 0), (0, 4), (4, 2)),
):
    CASES[f"multi_dot-{shapes}"] = Case(
        multi_dot, lambda rng, shapes=shapes: [general(rng, *shape) for shape in shapes]
    )
CASES["tensorinv"] = Case(
    lambda lib, a: lib.linalg.tensorinv(a, ind=2), lambda rng: [regular(rng, 6, 6).reshape(2, 3, 6)]
)
CASES["tensorsolve"] = Case(
    lambda lib, a, b: lib.linalg.tensorsolve(a, b),
    lambda rng: [regular(rng, 6, 6).reshape(2, 3, 6), general(rng, 2, 3)],
)
CASES["tensorsolve-dims"] = Case(
    lambda lib, a, b: lib.linalg.tensorsolve(a, b, dims=(0,)),
    lambda rng: [regular(rng, 6, 6).reshape(3, 2, 3, 2), general(rng, 2, 3)],
)
CASES["cross"] = Case(
    lambda lib, a, b: (lib.linalg.cross(a, b), lib.linalg.cross(a[:1], b)),
    lambda rng: [general(rng, 4, 3), general(rng, 4, 3)],
)
CASES["broadcast"] = Case(
    lambda lib, a, b: (
        lib.linalg.solve(a, b),
        lib.linalg.solve_triangular(a, b, upper=True),
        lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b),
        lib.linalg.lstsq(a, b)[0]
        if lib.__name__ == "ocl"
        else lib.linalg.lstsq(a.expand(2, 3, 4, 4), b.expand(2, 3, 4, 2))[0],
    ),
    lambda rng: [triangular(rng, 3, 4, 4), general(rng, 2, 1, 4, 2)],
)
