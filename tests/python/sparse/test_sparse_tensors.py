"""Sparse tensors as objects: how they are made, read, shown, copied and kept in files."""

import copy
import gc
import io
import pickle
import weakref

import numpy as np
import pytest
import torch
from sparse_samples import SHAPES, check, dense_pair, pair

import ocl
from ocl import nn

INDICES, VALUES = [[0, 1, 1, 0], [2, 0, 2, 2]], [1.0, 2.0, 3.0, 4.0]


def example(library=ocl, **options):
    return library.sparse_coo_tensor(library.tensor(INDICES), library.tensor(VALUES), (2, 3), **options)


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_parts_and_dense_form(rng, case):
    (ours, _), (theirs, _) = pair(rng, case)
    assert ours._indices().tolist() == theirs._indices().tolist()
    assert ours._values().tolist() == theirs._values().tolist()
    assert ours._nnz() == theirs._nnz() and ours.is_coalesced() == theirs.is_coalesced()
    check(ours, theirs)
    check(ours.to_dense(), theirs.to_dense())
    a, b = ours.coalesce(), theirs.coalesce()
    assert a.is_coalesced() and a._nnz() == b._nnz() and a.coalesce() is a
    assert a.indices().tolist() == b.indices().tolist()
    np.testing.assert_allclose(a.values().numpy(), b.values().numpy(), rtol=1e-12)
    check(ours.clone(), theirs)
    check(ours.to(ocl.float32), theirs.to(torch.float32), rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 5), (3,), (2, 3, 4), (0, 3), (), (3, 0)], ids=str)
def test_to_sparse(rng, shape):
    array = rng.standard_normal(shape) * (rng.random(shape) > 0.5)
    ours, theirs = ocl.tensor(array), torch.tensor(array)
    for count in (None, *range(1, len(shape) + 1)):
        arguments = () if count is None else (count,)
        a, b = ours.to_sparse(*arguments), theirs.to_sparse(*arguments)
        check(a, b)
        assert a._nnz() == b._nnz() and a.is_coalesced()
    assert ours.to_sparse_coo().is_sparse and ours.to_dense() is ours


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float16", "bool"])
def test_dtypes(dtype):
    values = [1, 0, 3, 1]
    ours, theirs = (
        lib.sparse_coo_tensor(INDICES, lib.tensor(values), (2, 3), dtype=getattr(lib, dtype))
        for lib in (ocl, torch)
    )
    check(ours.coalesce(), theirs.coalesce())
    assert ours.coalesce().values().tolist() == theirs.coalesce().values().tolist()
    check(ours.float(), theirs.float())
    check(ours.bool(), theirs.bool())


def test_arguments_of_the_constructor():
    for lib in (ocl, torch):
        t = lib.sparse_coo_tensor(INDICES, VALUES)
        assert tuple(t.shape) == (2, 3) and t.dtype == lib.float32 and t.device == lib.tensor(0).device
        assert lib.sparse_coo_tensor([[1], [2]], 2.0, (4, 5)).to_dense()[1, 2] == 2
        empty = lib.sparse_coo_tensor((2, 3))
        assert empty._nnz() == 0 and empty.is_coalesced() and empty.sparse_dim() == 2
        assert lib.sparse_coo_tensor(size=(2, 3), dtype=lib.int32).dtype == lib.int32
        assert lib.sparse_coo_tensor(INDICES, VALUES, (2, 3), is_coalesced=True).is_coalesced()
        int32 = lib.tensor([[0, 1]], dtype=lib.int32)
        assert lib.sparse_coo_tensor(int32, lib.ones(2), (2,))._indices().dtype == lib.int64
        leaf = lib.sparse_coo_tensor(INDICES, VALUES, (2, 3), requires_grad=True)
        assert leaf.requires_grad and leaf.is_leaf and leaf.grad is None
        hybrid = lib.sparse_coo_tensor(INDICES, lib.ones(4, 2))
        assert tuple(hybrid.shape) == (2, 3, 2) and hybrid.dense_dim() == 1
    given = ocl.ones(4)
    ocl.sparse_coo_tensor(INDICES, given, (2, 3), requires_grad=True)
    ocl.sparse_coo_tensor(INDICES, given, (2, 3)).requires_grad_()
    assert not given.requires_grad


@pytest.mark.parametrize(
    "arguments",
    [
        ([[0, 1], [0, 1]], [1.0, 2.0, 3.0], (2, 3)),
        ([[0, 1], [0, 1]], [1.0, 2.0], (2, 3, 4)),
        ([0, 1], [1.0, 2.0], (2,)),
        ([[0, 1], [0, -1]], [1.0, 2.0]),
        ([[0, 1], [0, 1]], [[1.0, 2.0], [3.0, 4.0]], (2, 3, 3)),
        ([[0, 1], [0, 1]], [1.0, 2.0], (2, -3)),
        ([[0, 1], [0, 1]], 1.0, (2, 2)),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments):
    for lib in (ocl, torch):
        with pytest.raises(RuntimeError):
            lib.sparse_coo_tensor(*arguments)


@pytest.mark.parametrize("indices", [[[0, 5], [0, 1]], [[0, 1], [0, 3]], [[0, 1], [0, -1]]])
def test_indices_out_of_range(indices):
    with pytest.raises(IndexError, match="dim"):
        ocl.sparse_coo_tensor(indices, [1.0, 2.0], (2, 3), check_invariants=True)
    with pytest.raises(IndexError, match="index out of range"):
        ocl.sparse_coo_tensor(indices, [1.0, 2.0], (2, 3)).to_dense().tolist()
    with pytest.raises(IndexError, match="index out of range"):
        (ocl.sparse_coo_tensor(indices, [1.0, 2.0], (2, 3)) @ ocl.ones(3, 2)).tolist()


def test_elements_where_there_is_no_place_are_refused():
    with pytest.raises(ValueError, match="no place"):
        ocl.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 2.0], (2, 0))


def test_a_wrong_claim_of_order_is_found_with_the_check():
    with pytest.raises(ValueError, match="sorted"):
        ocl.sparse_coo_tensor(INDICES, VALUES, (2, 3), is_coalesced=True, check_invariants=True)


def test_uncoalesced_parts_are_refused():
    for read in (lambda t: t.values(), lambda t: t.indices()):
        for lib in (ocl, torch):
            with pytest.raises(RuntimeError, match="uncoalesced tensor, please call .coalesce"):
                read(example(lib))
    for name in ("values", "indices", "coalesce", "is_coalesced", "_nnz", "_values"):
        with pytest.raises(TypeError, match=name):
            getattr(ocl.ones(2), name)()


def test_layouts():
    t = example()
    assert t.layout is ocl.sparse_coo and t.is_sparse and isinstance(t, ocl.Tensor)
    dense = ocl.ones(2)
    assert dense.layout is ocl.strided and not dense.is_sparse and dense.dense_dim() == 1
    assert repr(t.layout) == "ocl.sparse_coo" and copy.deepcopy(t.layout) is t.layout
    assert pickle.loads(pickle.dumps(t.layout)) is t.layout
    with pytest.raises(TypeError, match="sparse_csr"):
        t.to_sparse_csr()
    with pytest.raises(TypeError, match="sparse_csr"):
        dense.to_sparse(layout=ocl.sparse_csr)


@pytest.mark.parametrize("dense", [(), (2,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_repr(rng, dense, dtype):
    (ours, _), (theirs, _) = pair(rng, ((2, 3), dense, 4), dtype=getattr(np, dtype))
    shown = repr(ours).replace(f", device='{ours.device}'", "").replace("ocl.", "torch.")
    assert shown == repr(theirs)
    assert "requires_grad=True" in repr(ours.requires_grad_())
    assert "grad_fn=" in repr(ours * 2)


def test_without_elements_it_is_shown_too():
    assert "nnz=0" in repr(ocl.sparse_coo_tensor((2, 3)))


def test_copies_and_pickles():
    for t in (example(), example().coalesce(), example(requires_grad=True)):
        for other in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert other.is_coalesced() == t.is_coalesced() and other.requires_grad == t.requires_grad
            assert other._indices().tolist() == t._indices().tolist()
            assert other._values().tolist() == t._values().tolist()
    t = example()
    both = copy.deepcopy([t, t])
    assert both[0] is both[1] and both[0] is not t
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(example(requires_grad=True) * 2)


def test_files(tmp_path):
    t, path = example(), tmp_path / "sparse.safetensors"
    content = {"a": [t, 3, None], "b": t.coalesce(), "again": t, "dense": ocl.ones(2)}
    ocl.save(content, path)
    read = ocl.load(path)
    assert read["a"][1:] == [3, None] and read["dense"].tolist() == [1, 1]
    assert not read["a"][0].is_coalesced() and read["b"].is_coalesced()
    for name in ("b", "again"):
        assert read[name].to_dense().tolist() == t.to_dense().tolist()
    ocl.save(ocl.sparse_coo_tensor((3, 0)), path)
    assert tuple(ocl.load(path).shape) == (3, 0)


@pytest.mark.parametrize("new", [True, False])
def test_files_of_pytorch(tmp_path, rng, new):
    theirs = [pair(rng, case)[1][0] for case in SHAPES]
    torch.save(
        {"all": theirs, "sorted": example(torch).coalesce()},
        tmp_path / "t.pt",
        _use_new_zipfile_serialization=new,
    )
    read = ocl.load(tmp_path / "t.pt")
    for a, b in zip(read["all"], theirs, strict=True):
        check(a, b)
    assert read["sorted"].is_coalesced()


def test_broken_files_of_pytorch_are_refused(tmp_path):
    bad = torch.sparse_coo_tensor([[0, 9]], [1.0, 2.0], (2,), check_invariants=False)
    torch.save(bad, tmp_path / "bad.pt")
    with pytest.raises(IndexError, match="index out of range"):
        ocl.load(tmp_path / "bad.pt").to_dense().tolist()
    torch.save(torch.eye(3).to_sparse_csr(), tmp_path / "csr.pt")
    with pytest.raises(ocl.serialization.UnpicklingError):
        ocl.load(tmp_path / "csr.pt")


class _Graph(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.layer = nn.Linear(3, 2)


def test_a_buffer_of_a_module():
    module = _Graph(example().coalesce())
    state = module.state_dict()
    assert state["adjacency"].is_sparse and list(state) == ["adjacency", "layer.weight", "layer.bias"]
    other = _Graph(ocl.sparse_coo_tensor((2, 3)))
    file = io.BytesIO()
    ocl.save(state, file)
    file.seek(0)
    other.load_state_dict(ocl.load(file))
    assert other.adjacency.to_dense().tolist() == example().to_dense().tolist()
    assert other.layer.weight.tolist() == module.layer.weight.tolist()
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), module.to("ocl:0")):
        assert copied.adjacency.to_dense().tolist() == example().to_dense().tolist()
    with pytest.raises(ValueError, match="expected a sparse tensor"):
        other.load_state_dict({**state, "adjacency": ocl.ones(2, 3)})
    nested = nn.Sequential(module)
    assert nested.state_dict()["0.adjacency"].is_sparse
    nested.load_state_dict(nested.state_dict())


def test_a_parameter_is_refused():
    with pytest.raises(TypeError, match="no parameters of layout"):
        nn.Parameter(example())


def test_objects_live_and_go():
    t = example()
    held = weakref.ref(t)
    leaf = ocl.zeros(2, 3, requires_grad=True)
    leaf.grad = t
    del t
    gc.collect()
    assert leaf.grad is held() and leaf.grad._nnz() == 4
    leaf.grad = None
    gc.collect()
    assert held() is None


REFUSED_METHODS = {
    "reshape": (6,), "view": (6,), "exp": (), "cos": (), "softmax": (1,), "max": (), "mean": (),
    "cumsum": (0,), "clamp": (0,), "numpy": (), "tolist": (), "item": (), "fill_": (1,), "squeeze": (),
    "masked_fill": (None, 1), "backward": (), "gather": (0, None), "__eq__": (1,), "__lt__": (1,),
    "__bool__": (), "__setitem__": (0, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_METHODS)
def test_methods_without_a_meaning_name_themselves_and_the_layout(name):
    with pytest.raises(NotImplementedError, match=f"{name}.*ocl.sparse_coo") as raised:
        getattr(example(), name)(*REFUSED_METHODS[name])
    assert isinstance(raised.value, TypeError)


REFUSED_FUNCTIONS = {
    "exp": lambda t, d: ocl.exp(t),
    "softmax": lambda t, d: ocl.softmax(t, 1),
    "where": lambda t, d: ocl.where(d > 0, t, d),
    "maximum": lambda t, d: ocl.maximum(d, t),
    "conv2d": lambda t, d: ocl.conv2d(ocl.ones(1, 2, 3, 3), t.unsqueeze(0).unsqueeze(3)),
    "linear": lambda t, d: nn.Linear(3, 2)(t),
    "embedding": lambda t, d: ocl.embedding(ocl.tensor([0]), t),
    "ones_like": lambda t, d: ocl.ones_like(t),
}


@pytest.mark.parametrize("name", REFUSED_FUNCTIONS)
def test_functions_without_a_meaning_never_compute(name):
    with pytest.raises(RuntimeError, match=name):
        REFUSED_FUNCTIONS[name](example(), ocl.ones(2, 3))


def test_a_view_by_a_function_without_a_meaning_is_of_no_use():
    view = ocl.reshape(example(), (6,))
    for use in (lambda: view.to_dense(), lambda: view * 2, lambda: repr(view), lambda: ocl.exp(view)):
        with pytest.raises(RuntimeError, match="reshape|made of a sparse tensor|exp"):
            use()


def test_shapes_only():
    with ocl.shapes_only():
        t = ocl.sparse_coo_tensor(ocl.zeros(2, 4, dtype=ocl.int64), ocl.ones(4), (2, 3))
        assert tuple((t @ ocl.ones(3, 5)).shape) == (2, 5)


def test_old_names():
    t = ocl.sparse.FloatTensor(ocl.tensor(INDICES), ocl.tensor(VALUES), ocl.Size((2, 3)))
    assert isinstance(t, ocl.sparse.FloatTensor) and not isinstance(t, ocl.sparse.DoubleTensor)
    assert ocl.sparse.DoubleTensor(2, 3).dtype == ocl.float64
    assert t.type() == "ocl.sparse.FloatTensor"
    with pytest.raises(TypeError, match="expected values of"):
        ocl.sparse.DoubleTensor(ocl.tensor(INDICES), ocl.tensor(VALUES), (2, 3))


def test_numpy_gives_way(rng):
    ours, _ = dense_pair(rng, (2, 3))
    with pytest.raises(TypeError):
        ours.numpy() * example()
    with pytest.raises(TypeError, match="__array__"):
        np.asarray(example())
