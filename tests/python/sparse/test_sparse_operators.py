"""Operators on sparse tensors against PyTorch's, of random shapes with duplicates, and their errors."""

import numpy as np
import pytest
import torch
from sparse_samples import MATRICES, SHAPES, check, dense_pair, pair

import ocl
from ocl.sparse.elementwise import ZERO_PRESERVING

hybrid = pytest.mark.parametrize("case", SHAPES, ids=str)


@hybrid
@pytest.mark.parametrize("is_coalesced", [False, True])
def test_sums_of_sparse_tensors(rng, case, is_coalesced):
    (a, _), (b, _) = pair(rng, case, is_coalesced=is_coalesced)
    (c, _), (d, _) = pair(rng, case, is_coalesced=True)
    for of in (
        lambda lib, x, y: x + y,
        lambda lib, x, y: x - y,
        lambda lib, x, y: lib.add(x, y, alpha=2.5),
        lambda lib, x, y: x.sub(y, alpha=-0.5),
        lambda lib, x, y: x.clone().add_(y),
        lambda lib, x, y: x + x,
    ):
        ours, theirs = of(ocl, a, c), of(torch, b, d)
        check(ours, theirs)
        assert ours.is_coalesced() == theirs.is_coalesced()


@hybrid
def test_sums_with_dense_tensors(rng, case):
    (a, _), (b, _) = pair(rng, case)
    x, y = dense_pair(rng, a.shape)
    check(x + a, y + b)
    check(x - a, y - b)
    check(ocl.add(x, a, alpha=-3), torch.add(y, b, alpha=-3))
    x1, y1 = x.clone(), y.clone()
    x1 += a
    y1 += b
    x1.sub_(a, alpha=0.5)
    y1.sub_(b, alpha=0.5)
    check(x1, y1)
    xt, yt = (t.clone().movedim(0, -1).contiguous().movedim(-1, 0) for t in (x, y))
    check(xt.add_(a), yt.add_(b))
    for lib, s, d in ((ocl, a, x), (torch, b, y)):
        for of in (lambda: s + d, lambda: s - d, lambda: s + 1, lambda: lib.add(s, 1)):  # noqa: B023
            with pytest.raises(RuntimeError, match="add"):
                of()
    with pytest.raises(TypeError):
        1 + a


@hybrid
def test_products(rng, case):
    (a, _), (b, _) = pair(rng, case)
    (c, _), (d, _) = pair(rng, case)
    x, y = dense_pair(rng, a.shape)
    shape = [1 if i % 2 else n for i, n in enumerate(a.shape)]
    row, row2 = dense_pair(rng, shape[1:] or [1])
    some, some2 = dense_pair(rng, shape)
    for of in (
        lambda lib, s, t, dense, r, m: s * 2.5,
        lambda lib, s, t, dense, r, m: 3 * s,
        lambda lib, s, t, dense, r, m: s * lib.tensor(2.0, dtype=lib.float64),
        lambda lib, s, t, dense, r, m: s * dense,
        lambda lib, s, t, dense, r, m: dense * s,
        lambda lib, s, t, dense, r, m: lib.mul(dense, s),
        lambda lib, s, t, dense, r, m: s * m,
        lambda lib, s, t, dense, r, m: s / 4,
        lambda lib, s, t, dense, r, m: s.div(lib.tensor(4.0, dtype=lib.float64)),
        lambda lib, s, t, dense, r, m: s // 2,
        lambda lib, s, t, dense, r, m: s**2,
        lambda lib, s, t, dense, r, m: lib.pow(s, 3),
        lambda lib, s, t, dense, r, m: -s,
        lambda lib, s, t, dense, r, m: s.clone().mul_(2).div_(3),
    ):
        check(of(ocl, a, c, x, row, some), of(torch, b, d, y, row2, some2))
    check(a.coalesce() * c.coalesce(), b.coalesce() * d.coalesce())
    check(a * c, b * d, is_pattern_same=False)
    check(a * a, b.coalesce() * b.coalesce())


def test_products_by_rows(rng):
    (a, _), (b, _) = pair(rng, ((4, 5), (), 9))
    for shape in ((5,), (4, 1), (1, 5), (1,), ()):
        x, y = dense_pair(rng, shape)
        check(a * x, b.coalesce() * y)
    for x in (ocl.ones(4), ocl.ones(2, 4, 5), ocl.ones(3, 5)):
        with pytest.raises(ValueError, match="broadcasts"):
            a * x


@pytest.mark.parametrize("name", ZERO_PRESERVING)
@pytest.mark.parametrize("case", [SHAPES[0], SHAPES[4], SHAPES[1]], ids=str)
def test_functions_that_keep_zeros(rng, name, case):
    (a, _), (b, _) = pair(rng, case, dtype=np.float32)
    a, b = a * 0.2, b * 0.2
    of = getattr(ocl, name, None) or getattr(ocl.Tensor, name)
    check(of(a), getattr(torch, name)(b), rtol=1e-5)
    check(getattr(a, name)(), getattr(torch, name)(b), rtol=1e-5)
    if hasattr(torch.Tensor, f"{name}_") and name not in ("square", "arctan2"):
        ours, theirs = a.coalesce().clone(), b.coalesce().clone()
        check(getattr(ours, f"{name}_")(), getattr(theirs, f"{name}_")(), rtol=1e-5)


def test_functional_relu(rng):
    (a, _), (b, _) = pair(rng, ((4, 5), (), 9))
    check(ocl.nn.functional.relu(a), torch.relu(b))


@pytest.mark.parametrize("case", MATRICES, ids=str)
@pytest.mark.parametrize("columns", [3, 1, 0])
def test_matrix_products(rng, case, columns):
    (a, _), (b, _) = pair(rng, case)
    n, m = case[0]
    x, y = dense_pair(rng, (m, columns))
    left, left2 = dense_pair(rng, (columns, n))
    summand, summand2 = dense_pair(rng, (n, columns))
    v, w = dense_pair(rng, (m,))
    for of in (
        lambda lib, s, d, e, c, u: lib.mm(s, d),
        lambda lib, s, d, e, c, u: lib.spmm(s, d),
        lambda lib, s, d, e, c, u: lib.sparse.mm(s, d),
        lambda lib, s, d, e, c, u: s @ d,
        lambda lib, s, d, e, c, u: lib.matmul(s, d),
        lambda lib, s, d, e, c, u: s.mm(d),
        lambda lib, s, d, e, c, u: e @ s,
        lambda lib, s, d, e, c, u: lib.mm(e, s),
        lambda lib, s, d, e, c, u: lib.mv(s, u),
        lambda lib, s, d, e, c, u: s @ u,
        lambda lib, s, d, e, c, u: lib.addmm(c, s, d),
        lambda lib, s, d, e, c, u: lib.addmm(c, s, d, beta=0.5, alpha=-2),
        lambda lib, s, d, e, c, u: lib.sparse.addmm(c, s, d, beta=2, alpha=3),
        lambda lib, s, d, e, c, u: c.addmm(s, d),
        lambda lib, s, d, e, c, u: lib.nn.functional.linear(s, d.t()),
    ):
        check(of(ocl, a, x, left, summand, v), of(torch, b, y, left2, summand2, w))


@pytest.mark.parametrize("case", MATRICES, ids=str)
def test_products_of_two_sparse_matrices(rng, case):
    (a, _), (b, _) = pair(rng, case)
    (c, _), (d, _) = pair(rng, ((case[0][1], 6), (), 8 * (case[0][1] > 0)))
    for ours, theirs in ((a @ c, b @ d), (ocl.sparse.mm(a, a.t()), torch.sparse.mm(b, b.t()))):
        check(ours, theirs, is_pattern_same=False)
        assert ours.is_coalesced()


def test_batched_products(rng):
    (a, _), (b, _) = pair(rng, ((3, 4, 5), (), 20))
    x, y = dense_pair(rng, (3, 5, 2))
    check(ocl.bmm(a, x), torch.bmm(b, y))
    check(a @ x, torch.bmm(b, y))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, s: lib.mm(s, lib.ones(4, 2)),
        lambda lib, s: lib.mm(s, lib.ones(3)),
        lambda lib, s: lib.mm(s, lib.ones(3, 2, dtype=lib.float64)),
        lambda lib, s: lib.addmm(lib.ones(5, 2), s, lib.ones(3, 2)),
        lambda lib, s: lib.mv(s, lib.ones(2)),
        lambda lib, s: s @ lib.ones(2, 3, 2),
        lambda lib, s: s / lib.ones(2, 3),
        lambda lib, s: 2 / s,
        lambda lib, s: s**0,
        lambda lib, s: s.index_select(1, lib.tensor([3])),
        lambda lib, s: s.index_select(2, lib.tensor([0])),
        lambda lib, s: s.narrow_copy(1, 2, 2),
        lambda lib, s: s.select(0, 2),
        lambda lib, s: s[0:1],
        lambda lib, s: s[lib.tensor([0])],
        lambda lib, s: lib.cat([s, lib.ones(2, 3)]),
        lambda lib, s: lib.cat([s, s.t()]),
        lambda lib, s: s + s.t(),
        lambda lib, s: s * s.t(),
        lambda lib, s: lib.ones(3, 2).sparse_mask(s),
        lambda lib, s: lib.ones(2, 3).to_sparse(3),
        lambda lib, s: lib.ones(2, 3).to_sparse(0),
        lambda lib, s: s.to_sparse(1),
        lambda lib, s: lib.sparse.softmax(s.int(), 1),
        lambda lib, s: s.norm(2, 0),
        lambda lib, s: lib.sparse.sum(s, (0, 0)),
        lambda lib, s: s.permute(0, 0),
        lambda lib, s: s.clone().add_(lib.ones(2, 3)),
        lambda lib, s: lib.ones(2, 3).copy_(s),
        lambda lib, s: s.int().coalesce().mul_(2.5),
    ],
)
def test_errors_are_those_of_pytorch(call):
    for lib in (torch, ocl):
        s = lib.sparse_coo_tensor([[0, 1, 0], [2, 0, 1]], [1.0, 2.0, 3.0], (2, 3)).coalesce()
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            call(lib, s)


@hybrid
def test_sums_over_dimensions(rng, case):
    (a, _), (b, _) = pair(rng, case)
    rank = a.ndim
    check(ocl.sum(a), torch.sum(b))
    check(a.sum(dtype=ocl.float32), b.sum(dtype=torch.float32), rtol=1e-6)
    for dim in range(rank):
        check(ocl.sparse.sum(a, dim), torch.sparse.sum(b, dim))
        check(a.sum(dim), b.sum(dim))
        check(a.sum(dim - rank), b.sum(dim))
    for dims in ([0, rank - 1], list(range(a.sparse_dim())), list(range(a.sparse_dim(), rank))):
        if dims and len(set(dims)) == len(dims):
            check(ocl.sparse.sum(a, dims), torch.sparse.sum(b, dims))
    check(a.norm(), b.norm())
    assert bool(a.any()) == bool((b.to_dense() != 0).any())


def test_sums_keep_dimensions_and_promote(rng):
    (a, _), (b, _) = pair(rng, ((4, 5), (2,), 9))
    for dim in (0, 1, 2, (0, 1)):
        ours = a.sum(dim, keepdim=True)
        np.testing.assert_allclose(ours.to_dense().numpy(), b.to_dense().sum(dim, keepdim=True), rtol=1e-12)
    (c, _), (d, _) = pair(rng, ((4, 5), (), 9), dtype=np.int32)
    check(ocl.sparse.sum(c), torch.sparse.sum(d))
    assert ocl.sparse.sum(c, 0).dtype == ocl.int64  # int32 in PyTorch, of a dense dimension an error
    np.testing.assert_array_equal(ocl.sparse.sum(c, 0).to_dense().numpy(), d.to_dense().sum(0))


@pytest.mark.parametrize("case", [c for c in SHAPES if 0 not in c[0] + c[1]], ids=str)
def test_softmax(rng, case):
    (a, _), (b, _) = pair(rng, case)
    for dim in range(a.ndim):
        check(ocl.sparse.softmax(a, dim), torch.sparse.softmax(b, dim))
        check(ocl.sparse.log_softmax(a, dim - a.ndim), torch.sparse.log_softmax(b, dim))
    check(ocl.sparse.softmax(a, 0, dtype=ocl.float32), torch.sparse.softmax(b, 0, dtype=torch.float32), 1e-6)


def test_softmax_of_far_apart_rows(rng):
    """More rows than elements: the rows are numbered anew."""
    indices = np.stack([rng.integers(0, 10**6, 50), rng.integers(0, 5, 50)])
    indices[0, 10:20] = indices[0, 0]
    values = rng.standard_normal(50) * 100
    results = [
        lib.sparse.softmax(lib.sparse_coo_tensor(indices, lib.tensor(values), (10**6, 5)), 1).coalesce()
        for lib in (ocl, torch)
    ]
    np.testing.assert_allclose(results[0].values().numpy(), results[1].values().numpy(), rtol=1e-10)


@hybrid
def test_other_orders_of_dimensions(rng, case):
    (a, _), (b, _) = pair(rng, case)
    count = a.sparse_dim()
    order = [*reversed(range(count)), *reversed(range(count, a.ndim))]
    check(a.permute(order), b.permute(order))
    if count == 2:
        check(a.transpose(0, 1), b.transpose(0, 1))
        if a.ndim == 2:
            check(a.t(), b.t())
            check(a.T, b.T)
            check(a.clone().t_(), b.clone().t_())
    for dim in range(a.ndim + 1):
        check(a.unsqueeze(dim), b.unsqueeze(dim))
    if 0 < count < a.ndim:
        with pytest.raises(ValueError, match="dense"):
            a.transpose(0, -1)


@hybrid
def test_parts(rng, case):
    (a, _), (b, _) = pair(rng, case)
    for dim in range(a.ndim):
        size = a.shape[dim]
        index = rng.integers(0, size, 6) if size else np.zeros(0, dtype=np.int64)
        check(a.index_select(dim, ocl.tensor(index)), b.index_select(dim, torch.tensor(index)))
        if size:
            check(a.select(dim, -1), b.select(dim, -1))
            check(a.narrow_copy(dim, 1, size - 1), b.narrow_copy(dim, 1, size - 1))
    if a.shape[0]:
        check(a[0], b[0])
        check(a[..., 0], b[..., 0]) if a.shape[-1] else None
        assert len(list(a)) == a.shape[0] == len(a)


@hybrid
def test_joined(rng, case):
    (a, _), (b, _) = pair(rng, case)
    (c, _), (d, _) = pair(rng, case)
    for dim in range(a.ndim):
        check(ocl.cat([a, c, a], dim), torch.cat([b, d, b], dim))
    check(ocl.stack([a, c]), torch.stack([b, d]))
    check(ocl.zeros_like(a), torch.zeros_like(b))
    check(a.clone().zero_(), b.clone().zero_())
    check(ocl.zeros_like(a).copy_(c), d)
    assert ocl.is_same_size(a, c)


@hybrid
def test_masks(rng, case):
    (a, _), (b, _) = pair(rng, case)
    (c, _), (d, _) = pair(rng, case, is_coalesced=True)
    x, y = dense_pair(rng, a.shape)
    check(x.sparse_mask(c), y.sparse_mask(d))
    assert x.sparse_mask(a)._nnz() == y.sparse_mask(b)._nnz()
    check(a.sparse_mask(c), b.sparse_mask(d))


def test_promotion():
    for first, second in (("int64", "float32"), ("float32", "float64"), ("int32", "int64")):
        ours, theirs = (
            [
                lib.sparse_coo_tensor([[0, 1]], lib.tensor([1, 2], dtype=getattr(lib, d)), (3,)).coalesce()
                for d in (first, second)
            ]
            for lib in (ocl, torch)
        )
        check(ours[0] + ours[1], theirs[0] + theirs[1])
        check(ours[0] * ours[1], theirs[0] * theirs[1])
        check(ours[0] * 2.5, theirs[0] * 2.5)
        check(ours[0] / 2, theirs[0] / 2)
        check(ocl.cat(ours), torch.cat(theirs))
