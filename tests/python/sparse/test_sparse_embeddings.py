"""Embeddings with sparse gradients, bounded norms and scaled gradients; optimizers that take them."""

import copy
import pickle

import numpy as np
import pytest
import torch
from sparse_samples import check, dense_pair

import ocl
from ocl import nn

INDICES = np.array([[1, 2, 1], [4, 1, 0]])
LIBRARIES = (ocl, torch)


def weights(rng, shape=(6, 3), dtype=np.float64):
    return dense_pair(rng, shape, dtype, requires_grad=True)


def loss_of(lib, rows):
    factors = lib.tensor(np.cos(np.arange(rows.numel())).reshape(tuple(rows.shape)), dtype=rows.dtype)
    return (rows * rows * factors).sum()


def both(rng, of, **options):
    """The weights after `of(lib, weight)`, and what it returned."""
    pairs = weights(rng, **options)
    results = [of(lib, weight) for lib, weight in zip(LIBRARIES, pairs, strict=True)]
    return pairs, results


def same(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("padding_idx", [None, 1, -2, 5])
@pytest.mark.parametrize("shape", [(2, 3), (6,), (), (0,)], ids=str)
def test_sparse_gradient_of_a_lookup(rng, padding_idx, shape):
    if shape == ():
        padding_idx = None  # PyTorch's backward fails for an index without dimensions and padding
    indices = INDICES.reshape(-1)[: int(np.prod(shape))].reshape(shape)

    def of(lib, weight):
        rows = lib.nn.functional.embedding(lib.tensor(indices), weight, padding_idx, sparse=True)
        loss_of(lib, rows).backward()
        return rows

    (a, b), (x, y) = both(rng, of)
    same(x, y)
    check(a.grad, b.grad)
    assert a.grad._indices().tolist() == b.grad._indices().tolist()


def test_gradients_add_up(rng):
    def look(lib, weight, indices):
        return loss_of(lib, lib.nn.functional.embedding(lib.tensor(indices), weight, sparse=True))

    def of(lib, weight):
        seen = []
        look(lib, weight, [1, 2, 1]).backward()
        look(lib, weight, [1, 4]).backward()
        seen.append(weight.grad.clone())
        (look(lib, weight, [0]) + look(lib, weight, [0, 5])).backward()
        seen.append(weight.grad.clone())
        (weight * 2).sum().backward()  # dense after sparse
        seen.append(weight.grad.clone())
        look(lib, weight, [3]).backward()  # sparse after dense
        seen.append(weight.grad.clone())
        weight.grad = None
        (look(lib, weight, [3, 3]) + (weight**2).sum()).backward()  # both in one pass
        seen.append(weight.grad.clone())
        weight.grad = None
        look(lib, weight, [3]).backward()
        seen.append(weight.grad.clone())
        return seen

    _, (ours, theirs) = both(rng, of)
    assert [g.is_sparse for g in ours] == [True, True, False, False, False, True]
    for a, b in zip(ours, theirs, strict=True):
        check(a, b)


def test_autograd_grad(rng):
    def of(lib, weight):
        rows = lib.nn.functional.embedding(lib.tensor([1, 2, 1]), weight, sparse=True)
        loss = loss_of(lib, rows)
        (sparse,) = lib.autograd.grad(loss, [weight], retain_graph=True)
        (mixed,) = lib.autograd.grad(loss + (weight**2).sum(), [weight])
        assert weight.grad is None
        loss_of(lib, lib.nn.functional.embedding(lib.tensor([1]), weight, sparse=True)).backward()
        (dense,) = lib.autograd.grad((weight**2).sum(), [weight])  # what has come before is not in it
        with pytest.raises(RuntimeError, match="not have been used"):
            lib.autograd.grad(lib.ones(2, requires_grad=True).sum(), [weight])
        unused = lib.autograd.grad(lib.ones(2, requires_grad=True).sum(), [weight], allow_unused=True)
        assert unused == (None,)
        return sparse, mixed, dense, weight.grad

    _, (ours, theirs) = both(rng, of)
    for a, b in zip(ours, theirs, strict=True):
        check(a, b)


def test_a_weight_that_is_no_leaf_gets_a_dense_gradient(rng):
    def of(lib, weight):
        loss_of(lib, lib.nn.functional.embedding(lib.tensor([1, 2, 1]), weight * 2, sparse=True)).backward()

    (a, b), _ = both(rng, of)
    assert not a.grad.is_sparse
    same(a.grad, b.grad.to_dense())


def test_a_weight_without_gradient(rng):
    weight = ocl.ones(3, 2)
    rows = nn.functional.embedding(ocl.tensor([1]), weight, sparse=True)
    assert not rows.requires_grad
    with ocl.no_grad():
        weight.requires_grad_()
        assert not nn.functional.embedding(ocl.tensor([1]), weight, sparse=True).requires_grad


def test_weights_come_and_go():
    """The note of a weight goes with it: another weight may have its id then."""
    from ocl.sparse import arriving

    before = len(arriving._watched)
    for _ in range(5):
        weight = ocl.ones(3, 2, requires_grad=True)
        nn.functional.embedding(ocl.tensor([1]), weight, sparse=True).sum().backward()
        assert weight.grad._values().tolist() == [[1, 1]]
        del weight
    assert len(arriving._watched) <= before + 1


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding_idx", [None, 1])
@pytest.mark.parametrize("kind", ["rows", "offsets", "last offset"])
@pytest.mark.parametrize("weighs", [False, True])
def test_sparse_gradient_of_bags(rng, mode, padding_idx, kind, weighs):
    if weighs and mode == "mean":
        return
    indices = INDICES if kind == "rows" else INDICES.reshape(-1)
    offsets = {"rows": None, "offsets": [0, 2, 2], "last offset": [0, 2, 2, 6]}[kind]
    samples = rng.random(indices.shape)

    def of(lib, weight):
        factors = lib.tensor(samples, requires_grad=True) if weighs else None
        bags = lib.nn.functional.embedding_bag(
            lib.tensor(indices),
            weight,
            None if offsets is None else lib.tensor(offsets),
            mode=mode,
            sparse=True,
            per_sample_weights=factors,
            include_last_offset=kind == "last offset",
            padding_idx=padding_idx,
        )
        loss_of(lib, bags).backward()
        return bags, factors

    (a, b), ((x, p), (y, q)) = both(rng, of)
    same(x, y)
    check(a.grad, b.grad)
    if weighs and padding_idx is None:  # PyTorch's has no gradient there
        same(p.grad, q.grad)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("bag", [False, True])
def test_max_norm(rng, norm_type, bag):
    def of(lib, weight):
        F = lib.nn.functional
        look = F.embedding_bag if bag else F.embedding
        rows = look(lib.tensor(INDICES), weight, max_norm=1.2, norm_type=norm_type)
        loss_of(lib, rows).backward()
        return rows

    (a, b), (x, y) = both(rng, of)
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)
    same(a.grad, b.grad) if not bag else None


def test_gradients_scaled_by_frequency(rng):
    def of(lib, weight):
        rows = lib.nn.functional.embedding(lib.tensor(INDICES), weight, 4, scale_grad_by_freq=True)
        loss_of(lib, rows).backward()
        return rows

    (a, b), (x, y) = both(rng, of)
    same(x, y)
    same(a.grad, b.grad)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_of_bags_scaled_by_frequency(rng, mode):
    """Divides once, as PyTorch's documentation says. PyTorch's CPU kernel divides a row that occurs n times
    by n twice.
    """
    (weight, _) = weights(rng)
    bags = nn.functional.embedding_bag(ocl.tensor(INDICES), weight, mode=mode, scale_grad_by_freq=True)
    bags.sum().backward()
    counts = np.bincount(INDICES.reshape(-1), minlength=6)
    expected = (counts > 0) * (1 if mode == "sum" else 1 / 3)
    np.testing.assert_allclose(weight.grad.numpy(), np.repeat(expected[:, None], 3, 1), rtol=1e-12)


def test_what_is_refused():
    weight, indices = ocl.ones(4, 2, requires_grad=True), ocl.tensor([[1, 2]])
    F = nn.functional
    with pytest.raises(RuntimeError, match="scale_grad_by_freq is not supported with sparse"):
        F.embedding(indices, weight, scale_grad_by_freq=True, sparse=True)
    with pytest.raises(ValueError, match="max mode does not support sparse weights"):
        F.embedding_bag(indices, weight, mode="max", sparse=True)
    with pytest.raises(ValueError, match="max mode does not support scaling"):
        F.embedding_bag(indices, weight, mode="max", scale_grad_by_freq=True)
    with pytest.raises(ValueError, match="padding_idx"):
        F.embedding(indices, weight, 4, sparse=True)
    with pytest.raises(IndexError, match="embedding: index out of range"):
        F.embedding(ocl.tensor([4]), weight, sparse=True).tolist()
    with pytest.raises(ValueError, match="2 dimensions"):
        F.embedding(indices, ocl.ones(3), sparse=True)
    with pytest.raises(TypeError, match="clip_grad_norm_.*ocl.sparse_coo"):
        F.embedding(indices, weight, sparse=True).sum().backward()
        nn.utils.clip_grad_norm_([weight], 1.0)


OPTIONS = [
    {},
    {"padding_idx": 1, "sparse": True},
    {"max_norm": 2.0, "norm_type": 1.0},
    {"scale_grad_by_freq": True, "padding_idx": -1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_layers(options, name):
    ours, theirs = (getattr(lib.nn, name)(5, 3, **options) for lib in LIBRARIES)
    assert repr(ours) == repr(theirs)
    for key in ("max_norm", "norm_type", "scale_grad_by_freq", "sparse", "padding_idx"):
        assert getattr(ours, key) == getattr(theirs, key)
    for copied in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert repr(copied) == repr(ours) and isinstance(copied, getattr(nn, name))
        assert copied.weight.tolist() == ours.weight.tolist()
    theirs.load_state_dict({"weight": torch.tensor(ours.weight.detach().numpy())})
    results = [layer(lib.tensor(INDICES)) for lib, layer in zip(LIBRARIES, (ours, theirs), strict=True)]
    np.testing.assert_allclose(results[0].detach().numpy(), results[1].detach().numpy(), rtol=1e-5, atol=1e-6)
    for result in results:
        result.sum().backward()
    assert ours.weight.grad.is_sparse == theirs.weight.grad.is_sparse == bool(options.get("sparse"))


@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_layers_of_given_rows(name):
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    for lib in LIBRARIES:
        layer = getattr(lib.nn, name).from_pretrained(lib.tensor(rows), sparse=True)
        assert not layer.weight.requires_grad and layer.sparse and tuple(layer.weight.shape) == (4, 3)
        layer = getattr(lib.nn, name).from_pretrained(lib.tensor(rows), freeze=False, max_norm=1.0)
        assert layer.weight.requires_grad and layer.max_norm == 1.0
        layer = getattr(lib.nn, name)(4, 3, _weight=lib.tensor(rows))
        assert layer.weight.tolist() == rows.tolist()
        with pytest.raises((RuntimeError, AssertionError)):
            getattr(lib.nn, name)(5, 3, _weight=lib.tensor(rows))
        with pytest.raises((ValueError, AssertionError)):
            getattr(lib.nn, name).from_pretrained(lib.ones(3))


def test_layers_of_cpp_are_of_the_class_too():
    net = ocl.models.gpt2(n_layer=1, n_embd=8, n_head=2, vocab_size=11, n_positions=4)
    embeddings = [m for m in net.modules() if isinstance(m, nn.Embedding)]
    assert len(embeddings) == 2 and not isinstance(nn.Linear(2, 2), nn.Embedding)


# --- optimizers

STEPS = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.8, "dampening": 0.1},
            {"maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1}, {"maximize": True}, {"initial_accumulator_value": 0.5}],
    "SparseAdam": [{}, {"betas": (0.8, 0.95)}, {"maximize": True}, {"eps": 1e-3}],
}  # fmt: skip
CASES = [(name, options) for name, all_options in STEPS.items() for options in all_options]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_steps_are_those_of_pytorch(rng, name, options):
    start, others = rng.standard_normal((8, 3)), rng.standard_normal((3, 2))
    batches = [rng.integers(0, 8, 6) for _ in range(6)]
    ends = []
    for lib in LIBRARIES:
        layer = lib.nn.Embedding(8, 3, sparse=True, _weight=lib.tensor(start))
        dense = lib.nn.Parameter(lib.tensor(others))
        params = [layer.weight] if name == "SparseAdam" else [layer.weight, dense]
        optimizer = getattr(lib.optim, name)(params, lr=0.1, **options)
        for batch in batches:
            optimizer.zero_grad()
            loss = ((layer(lib.tensor(batch)) @ dense) ** 2).sum()
            loss.backward()
            optimizer.step()
        state = {k: v for k, v in optimizer.state[layer.weight].items() if k != "step"}
        ends.append((layer.weight.detach(), dense.detach(), state))
    for ours, theirs in zip(ends[0][:2], ends[1][:2], strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-11)
    assert set(ends[0][2]) == set(ends[1][2])
    for key, value in ends[1][2].items():
        check(ends[0][2][key], value, rtol=1e-9)


@pytest.mark.parametrize(
    "name", "Adam AdamW RMSprop Adadelta Adamax NAdam RAdam Rprop ASGD Adafactor Muon LBFGS".split()
)
def test_other_optimizers_refuse(name):
    layer = nn.Embedding(4, 3, sparse=True)
    before = layer.weight.tolist()
    optimizer = getattr(ocl.optim, name)(layer.parameters(), lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = layer(ocl.tensor([1, 2])).square().sum()
        loss.backward()
        return loss

    closure()
    advice = ", please consider SparseAdam instead" if name in ("Adam", "AdamW") else ""
    with pytest.raises(RuntimeError, match=f"does not support sparse gradients{advice}"):
        optimizer.step(closure)
    assert layer.weight.tolist() == before


def test_decay_is_refused():
    for name in ("SGD", "Adagrad"):
        layer = nn.Embedding(4, 3, sparse=True)
        optimizer = getattr(ocl.optim, name)(layer.parameters(), lr=0.1, weight_decay=0.1)
        layer(ocl.tensor([1])).sum().backward()
        with pytest.raises(RuntimeError, match="weight_decay option is not compatible with sparse gradients"):
            optimizer.step()


def test_sparse_adam_refuses():
    weight = nn.Parameter(ocl.ones(3, 2))
    for options in ({"lr": -1}, {"lr": 0.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -0.1)}):
        for lib, p in ((ocl, weight), (torch, torch.nn.Parameter(torch.ones(3, 2)))):
            with pytest.raises(ValueError):
                lib.optim.SparseAdam([p], **options)
    with pytest.raises(ValueError, match="Sparse params at indices"):
        ocl.optim.SparseAdam([ocl.sparse_coo_tensor((3, 2))])
    optimizer = ocl.optim.SparseAdam([weight])
    weight.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients, please consider Adam"):
        optimizer.step()


@pytest.mark.parametrize(
    ("name", "options"), [("SparseAdam", {}), ("SGD", {"momentum": 0.9}), ("Adagrad", {})]
)
def test_training_goes_on_from_a_file(rng, tmp_path, name, options):
    make = getattr(ocl.optim, name)

    def trained(steps, layer, optimizer):
        for i in steps:
            optimizer.zero_grad()
            layer(ocl.tensor([i % 5, 2, 2])).square().sum().backward()
            optimizer.step()
        return layer.weight.tolist()

    start = ocl.tensor(rng.standard_normal((5, 3)).astype(np.float32))
    whole = nn.Embedding(5, 3, sparse=True, _weight=start.clone())
    expected = trained(range(6), whole, make(whole.parameters(), lr=0.1, **options))
    first = nn.Embedding(5, 3, sparse=True, _weight=start.clone())
    optimizer = make(first.parameters(), lr=0.1, **options)
    trained(range(3), first, optimizer)
    ocl.save(optimizer.state_dict(), tmp_path / "state")
    other = make(first.parameters(), lr=0.5, **options)
    other.load_state_dict(ocl.load(tmp_path / "state"))
    assert trained(range(3, 6), first, other) == expected


def test_a_graph_is_walked_twice_and_recorded(rng):
    def of(lib, weight):
        loss = loss_of(lib, lib.nn.functional.embedding(lib.tensor([1, 2, 1]), weight, sparse=True))
        loss.backward(retain_graph=True)
        loss.backward()
        twice, weight.grad = weight.grad.coalesce(), None
        loss = loss_of(lib, lib.nn.functional.embedding(lib.tensor([1, 2, 1]), weight, sparse=True))
        loss.backward(create_graph=True)
        assert weight.grad.requires_grad
        found, weight.grad = weight.grad.detach(), None
        return twice, found

    _, (ours, theirs) = both(rng, of)
    for a, b in zip(ours, theirs, strict=True):
        check(a, b)


def test_zero_grad():
    layer = nn.Embedding(4, 3, sparse=True)
    optimizer = ocl.optim.SparseAdam(layer.parameters())
    layer(ocl.tensor([1])).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert layer.weight.grad.is_sparse and layer.weight.grad._nnz() == 0
    optimizer.step()
    optimizer.zero_grad()
    assert layer.weight.grad is None


def test_scaled_gradients():
    layer = nn.Embedding(4, 3, sparse=True)
    before = layer.weight.detach().clone()
    optimizer, scaler = ocl.optim.SGD(layer.parameters(), lr=1.0), ocl.GradScaler(init_scale=8.0)
    scaler.scale(layer(ocl.tensor([1, 2, 1])).sum()).backward()
    assert layer.weight.grad._values()[0, 0] == 8
    scaler.step(optimizer)
    scaler.update()
    change = (before - layer.weight.detach()).numpy()
    np.testing.assert_allclose(change, np.array([[0], [2], [1], [0]]) * np.ones(3), atol=1e-6)
    optimizer.zero_grad()
    scaler.scale(layer(ocl.tensor([1])).sum() * float("inf")).backward()
    after = layer.weight.tolist()
    scaler.step(optimizer)
    assert layer.weight.tolist() == after
