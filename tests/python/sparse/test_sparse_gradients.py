"""Gradients of sparse tensors: to their values, to dense operands, and as sparse gradients of leaves."""

import numpy as np
import pytest
import torch
from sparse_samples import MATRICES, SHAPES, check, dense_pair, pair

import ocl

hybrid = pytest.mark.parametrize("case", SHAPES, ids=str)


def weighted(lib, tensor):
    """A loss of which every element counts apart."""
    dense = tensor.to_dense()
    factors = np.cos(np.arange(dense.numel())).reshape(tuple(dense.shape))
    return (dense * dense * lib.tensor(factors)).sum()


# Functions of a sparse tensor and a dense one of its shape. PyTorch's are given the dense form: for most it
# has no gradients of sparse ones.
FUNCTIONS = {
    "to_dense": lambda lib, s, d: s,
    "coalesce": lambda lib, s, d: s.coalesce() if s.is_sparse else s,
    "times number": lambda lib, s, d: s * 2.5,
    "times dense": lambda lib, s, d: s * d,
    "dense plus": lambda lib, s, d: d + s,
    "dense minus": lambda lib, s, d: lib.sub(d, s, alpha=2),
    "plus": lambda lib, s, d: s + (s.coalesce() if s.is_sparse else s) * 2,
    "divided": lambda lib, s, d: s / 3,
    "negative": lambda lib, s, d: -s,
    "sum": lambda lib, s, d: lib.sparse.sum(s) if s.is_sparse else s.sum(),
    "sum of first": lambda lib, s, d: lib.sparse.sum(s, 0) if s.is_sparse else s.sum(0),
    "squared": lambda lib, s, d: s.square() if s.is_sparse else s * s,
    "sine": lambda lib, s, d: s.sin(),
    "power": lambda lib, s, d: s**3,
    "unsqueezed": lambda lib, s, d: s.unsqueeze(0),
    "joined": lambda lib, s, d: lib.cat([s, s * 2], 0),
    "selected": lambda lib, s, d: s.index_select(0, lib.tensor([0, 0])) if s.shape[0] else s,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@hybrid
def test_gradients_are_those_of_the_dense_form(rng, name, case):
    (a, values), (b, values2) = pair(rng, case, requires_grad=True)
    x, y = dense_pair(rng, a.shape, requires_grad=True)
    weighted(ocl, FUNCTIONS[name](ocl, a, x)).backward()
    weighted(torch, FUNCTIONS[name](torch, b.to_dense(), y)).backward()
    np.testing.assert_allclose(values.grad.numpy(), values2.grad.numpy(), rtol=1e-10, atol=1e-12)
    if y.grad is not None:
        found = np.zeros(y.shape) if x.grad is None else x.grad.to_dense().numpy()
        np.testing.assert_allclose(found, y.grad.numpy(), rtol=1e-10, atol=1e-12)


PRODUCTS = {
    "mm": lambda lib, s, d, e: lib.sparse.mm(s, d) if s.is_sparse else s @ d,
    "@": lambda lib, s, d, e: s @ d,
    "dense @": lambda lib, s, d, e: e @ s,
    "transposed": lambda lib, s, d, e: s.t() @ e.t(),
    "mv": lambda lib, s, d, e: lib.mv(s, d[:, 0]),
    "addmm": lambda lib, s, d, e: lib.addmm(e.t() @ lib.ones(3, 3, dtype=lib.float64), s, d, beta=2, alpha=3),
    "gram": lambda lib, s, d, e: s @ s.t(),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("case", MATRICES, ids=str)
def test_gradients_of_products(rng, name, case):
    (a, values), (b, values2) = pair(rng, case, requires_grad=True)
    n, m = case[0]
    operands = [dense_pair(rng, shape, requires_grad=True) for shape in ((m, 3), (3, n))]
    weighted(ocl, PRODUCTS[name](ocl, a, *(o for o, _ in operands))).backward()
    weighted(torch, PRODUCTS[name](torch, b.to_dense(), *(t for _, t in operands))).backward()
    for ours, theirs in ((values, values2), *operands):
        if theirs.grad is not None:
            found = ours.grad.numpy() if ours.grad is not None else np.zeros(theirs.shape)
            np.testing.assert_allclose(found, theirs.grad.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("is_log", [False, True])
def test_gradients_of_softmax(rng, is_log):
    for case in (((4, 5), (), 9), ((3, 2), (2, 3), 8), ((1, 7), (), 20)):
        for dim in range(len(case[0] + case[1])):
            (a, values), (b, values2) = pair(rng, case, requires_grad=True)
            name = "log_softmax" if is_log else "softmax"
            for lib, s in ((ocl, a), (torch, b)):
                weighted(lib, getattr(lib.sparse, name)(s, dim)).backward()
            np.testing.assert_allclose(values.grad.numpy(), values2.grad.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("is_coalesced", [False, True])
def test_gradients_of_a_sparse_leaf(rng, is_coalesced):
    (a, _), (b, _) = pair(rng, ((4, 5), (), 9), is_coalesced=is_coalesced)
    x, y = dense_pair(rng, (5, 3), requires_grad=True)
    for of in (
        lambda lib, s, d: (s.to_dense() ** 2).sum(),
        lambda lib, s, d: (lib.sparse.mm(s, d) ** 2).sum(),
        lambda lib, s, d: lib.sparse.sum(s * 2),
    ):
        ours, theirs = a.detach().requires_grad_(), b.detach().requires_grad_()
        of(ocl, ours, x).backward()
        of(torch, theirs, y).backward()
        check(ours.grad, theirs.grad)
        assert not a.requires_grad and ours.is_leaf
        ours.grad = None
        assert ours.grad is None
    leaf = a.detach().requires_grad_()
    with pytest.raises(RuntimeError, match="in-place"):
        leaf.mul_(2)
    with ocl.no_grad():
        leaf.mul_(2)
    assert leaf.requires_grad and leaf.is_leaf


def test_gradients_through_dense_to_sparse(rng):
    array = rng.standard_normal((4, 5)) * (rng.random((4, 5)) > 0.5)
    found = []
    for lib in (ocl, torch):
        x = lib.tensor(array, requires_grad=True)
        mask = lib.sparse_coo_tensor([[0, 1, 3], [4, 2, 0]], [1.0, 1.0, 1.0], (4, 5)).coalesce()
        (x.to_sparse().to_dense() ** 3).sum().backward()
        first, x.grad = x.grad.numpy(), None
        (x.sparse_mask(mask).to_dense() ** 2).sum().backward()
        found.append((first, x.grad.to_dense().numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_numeric_gradients_twice():
    indices = ocl.tensor([[0, 2, 1, 2, 0], [1, 0, 3, 0, 1]])

    def product(values, dense):
        return ocl.sparse.mm(ocl.sparse_coo_tensor(indices, values, (3, 4)), dense)

    def softmax(values):
        return ocl.sparse.softmax(ocl.sparse_coo_tensor(indices, values, (3, 4)), 1).to_dense()

    rng = np.random.default_rng(3)
    values = ocl.tensor(rng.standard_normal(5), requires_grad=True)
    dense = ocl.tensor(rng.standard_normal((4, 2)), requires_grad=True)
    assert ocl.autograd.gradcheck(product, (values, dense))
    assert ocl.autograd.gradgradcheck(product, (values, dense))
    assert ocl.autograd.gradcheck(softmax, (values,))


def test_history():
    values = ocl.ones(3, requires_grad=True)
    s = ocl.sparse_coo_tensor([[0, 1, 1]], values, (2,))
    assert s.requires_grad and not s.detach().requires_grad
    assert (s * 2).grad_fn is not None and not (s * 2).is_leaf
    assert not s._values().requires_grad and s.coalesce().values().requires_grad
    with ocl.no_grad():
        assert not (s * 2).requires_grad
    other = s * 2
    other.retain_grad()
    other.to_dense().sum().backward()
    assert other.retains_grad and other.grad.is_sparse
    assert values.grad.tolist() == [2, 2, 2]
