"""Sparse tensors whose indices and values lie on ocl devices; what computes with them runs on the CPU."""

import pytest

torch = pytest.importorskip("torch")

LAYOUTS = ["coo", "uncoalesced", "hybrid", "csr", "csc", "bsr", "bsc", "empty"]


def sparse(layout, dtype=torch.float32):
    dense = (torch.randn(4, 6) * (torch.rand(4, 6) > 0.5)).to(dtype)
    if layout == "coo":
        return dense.to_sparse()
    if layout == "uncoalesced":
        return torch.sparse_coo_tensor([[0, 1, 1, 3], [2, 0, 0, 5]], dense.flatten()[:4], (4, 6))
    if layout == "hybrid":
        return torch.sparse_coo_tensor([[0, 3, 3]], dense[:3], (4, 6))
    if layout == "empty":
        return torch.sparse_coo_tensor(size=(4, 6), dtype=dtype)
    blocks = (2, 3) if layout in ("bsr", "bsc") else None
    return dense.to_sparse(layout=getattr(torch, f"sparse_{layout}"), blocksize=blocks)


def parts(x):
    if x.layout is torch.sparse_coo:
        return [x._indices(), x._values()]
    if x.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [x.crow_indices(), x.col_indices(), x.values()]
    return [x.ccol_indices(), x.row_indices(), x.values()]


def assert_same(ours, theirs):
    assert ours.device.type == "ocl"
    assert (ours.layout, ours.shape, ours.dtype) == (theirs.layout, theirs.shape, theirs.dtype)
    if theirs.layout is torch.strided:
        torch.testing.assert_close(ours.detach().cpu(), theirs.detach())
        return
    if theirs.layout is torch.sparse_coo:
        assert ours.is_coalesced() == theirs.is_coalesced()
        assert ours.sparse_dim() == theirs.sparse_dim() and ours.dense_dim() == theirs.dense_dim()
    assert ours._nnz() == theirs._nnz()
    for a, b in zip(parts(ours.detach()), parts(theirs.detach()), strict=True):
        assert a.device.type == "ocl"
        torch.testing.assert_close(a.cpu(), b)


@pytest.fixture(autouse=True)
def silent(no_fallback, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64, torch.int8])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_they_move(layout, dtype):
    x = sparse(layout, dtype)
    there = x.to("ocl")
    assert_same(there, x)
    assert_same(there.clone(), x)
    back = there.cpu()
    for a, b in zip(parts(back), parts(x), strict=True):
        assert torch.equal(a, b)
    assert_same(torch.zeros_like(there), torch.zeros_like(x))
    assert_same(there.to_dense(), x.to_dense())


def test_they_are_made_of_tensors_of_the_device():
    indices, values = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    ours = torch.sparse_coo_tensor(indices.to("ocl"), values.to("ocl"), (2, 4))
    assert_same(ours, torch.sparse_coo_tensor(indices, values, (2, 4)))
    assert_same(ours.coalesce(), torch.sparse_coo_tensor(indices, values, (2, 4)).coalesce())
    assert_same(
        torch.sparse_coo_tensor(indices, values, device="ocl"), torch.sparse_coo_tensor(indices, values)
    )
    assert_same(torch.sparse_coo_tensor(size=(2, 3), device="ocl"), torch.sparse_coo_tensor(size=(2, 3)))
    rows, columns = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2])
    ours = torch.sparse_csr_tensor(rows.to("ocl"), columns.to("ocl"), values.to("ocl"), (2, 4))
    assert_same(ours, torch.sparse_csr_tensor(rows, columns, values, (2, 4)))
    assert ours.values().data_ptr() == ours.values().data_ptr()
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        torch.sparse_coo_tensor(
            torch.tensor([[0, 9], [0, 0]]).to("ocl"),
            values[:2].to("ocl"),
            (2, 4),
            check_invariants=True,
        )


def test_values_are_the_tensor_s_own():
    for layout in ("coo", "csr"):
        x = sparse(layout)
        there = x.to("ocl")
        for t in (x, there):
            t.values().mul_(2)
        assert_same(there, x)


OPERATORS = {
    "dense": lambda x, d: x.to_dense(),
    "sum": lambda x, d: x.sum(),
    "mm": lambda x, d: x @ d.t(),
    "mv": lambda x, d: x @ d[0],
    "plus itself": lambda x, d: x + x,
    "times a number": lambda x, d: x * 3,
    "negative": lambda x, d: -x,
    "sqrt of abs": lambda x, d: x.abs().sqrt(),
    "times dense": lambda x, d: x * d,
    "zero": lambda x, d: x.clone().zero_(),
    "in place": lambda x, d: x.clone().mul_(2),
    "transposed": lambda x, d: x.t(),
    "to coo": lambda x, d: x.to_sparse(),
    "to csr": lambda x, d: x.to_sparse_csr(),
    "other dtype": lambda x, d: x.to(torch.float64),
}


@pytest.mark.parametrize("layout", ["coo", "uncoalesced", "csr"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, layout):
    x, d = sparse(layout), torch.randn(4, 6)
    assert_same(OPERATORS[name](x.to("ocl"), d.to("ocl")), OPERATORS[name](x, d))


def test_coo_alone():
    x, d = sparse("uncoalesced"), torch.randn(4, 6)
    there, on = x.to("ocl"), d.to("ocl")
    for function in (
        lambda x, d: x.coalesce(),
        lambda x, d: torch.cat([x, x]),
        lambda x, d: d + x,
        lambda x, d: d.clone().add_(x, alpha=2),
        lambda x, d: d.sparse_mask(x.coalesce()),
        lambda x, d: torch.sparse.sum(x, 0),
        lambda x, d: torch.sparse.softmax(x, 1),
        lambda x, d: torch.sparse.addmm(d[:, :4], x, d.t()),
        lambda x, d: x.index_select(0, torch.tensor([1, 0], device=x.device)),
        lambda x, d: x.clone().sparse_resize_((5, 7), 2, 0),
        lambda x, d: x.unsqueeze(0),
        lambda x, d: x.clone().add_(x),
    ):
        assert_same(function(there, on), function(x, d))


def test_gradients():
    x, d = sparse("coo"), torch.randn(6, 3)
    theirs = (x.clone().requires_grad_(), d.clone().requires_grad_())
    ours = tuple(t.detach().to("ocl").requires_grad_() for t in (x, d))
    for a, b in (theirs, ours):
        torch.sparse.mm(a, b).sin().sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a.grad, b.grad)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_gradients_of_reduced_products(reduce):
    x, d = sparse("csr"), torch.randn(6, 3)
    theirs = (x.clone().requires_grad_(), d.clone().requires_grad_())
    ours = tuple(t.detach().to("ocl").requires_grad_() for t in (x, d))
    for a, b in (theirs, ours):
        torch.sparse.mm(a, b, reduce).sin().sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a.grad, b.grad)


def test_an_embedding_with_sparse_gradients():
    theirs = torch.nn.Embedding(10, 3, sparse=True)
    ours = torch.nn.Embedding(10, 3, sparse=True)
    ours.load_state_dict(theirs.state_dict())
    ours.to("ocl")
    index = torch.tensor([1, 4, 4, 9])
    for net, device in ((theirs, "cpu"), (ours, "ocl")):
        optimizer = torch.optim.SparseAdam(net.parameters(), 0.1)
        for _ in range(2):
            optimizer.zero_grad()
            net(index.to(device)).square().sum().backward()
            optimizer.step()
    assert ours.weight.grad.is_sparse
    torch.testing.assert_close(ours.weight.detach().cpu(), theirs.weight.detach())


def test_saved_ones_come_back(tmp_path):
    for layout in ("coo", "csr"):
        x = sparse(layout)
        torch.save(x.to("ocl"), tmp_path / "x")
        assert_same(torch.load(tmp_path / "x"), x)


def test_they_count_as_fallbacks(monkeypatch):
    x = sparse("coo").to("ocl")
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    with pytest.raises(NotImplementedError, match="mul.* has no kernel for ocl devices"):
        x * 2
    with pytest.raises(RuntimeError, match="expected|layout|sparse|strided"):
        x.as_strided((2,), (1,))
