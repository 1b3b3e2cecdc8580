"""nn.utils.prune beside PyTorch's: masks, weights, gradients, removal and errors."""

import copy
import pickle

import numpy as np
import pytest
import torch
import torch.nn.utils.prune

import ocl
import ocl.nn.utils.prune

WEIGHT = np.random.default_rng(3).permutation(48).reshape(6, 8).astype(np.float32) / 10 - 2.05


def layer(lib):
    made = lib.nn.Linear(8, 6)
    made.load_state_dict({"weight": lib.tensor(WEIGHT), "bias": lib.tensor(np.arange(6, dtype=np.float32))})
    return made


def pruned(prunes):
    """State, result and gradients after `prunes(library's prune, layer, library)`, of both libraries."""
    found = []
    for lib in (torch, ocl):
        net = layer(lib)
        prunes(lib.nn.utils.prune, net, lib)
        x = lib.tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8))
        result = net(x)
        (result * result).sum().backward()
        state = {name: t.numpy() for name, t in sorted(net.state_dict().items())}
        gradients = {name: p.grad.numpy() for name, p in sorted(net.named_parameters())}
        found.append((state, result.detach().numpy(), gradients, lib.nn.utils.prune.is_pruned(net)))
    return found


PRUNES = {
    "identity": lambda prune, net, lib: prune.identity(net, "weight"),
    "l1": lambda prune, net, lib: prune.l1_unstructured(net, "weight", 7),
    "l1 part": lambda prune, net, lib: prune.l1_unstructured(net, "weight", amount=0.3),
    "l1 none": lambda prune, net, lib: prune.l1_unstructured(net, "weight", 0),
    "l1 all": lambda prune, net, lib: prune.l1_unstructured(net, "weight", 1.0),
    "l1 of scores": lambda prune, net, lib: prune.l1_unstructured(
        net, "weight", 9, importance_scores=lib.tensor(WEIGHT[::-1].copy())
    ),
    "bias": lambda prune, net, lib: prune.l1_unstructured(net, "bias", 2),
    "l2 rows": lambda prune, net, lib: prune.ln_structured(net, "weight", 2, n=2, dim=0),
    "l1 columns": lambda prune, net, lib: prune.ln_structured(net, "weight", 0.5, n=1, dim=-1),
    "inf": lambda prune, net, lib: prune.ln_structured(net, "weight", 1, n=float("inf"), dim=1),
    "mask": lambda prune, net, lib: prune.custom_from_mask(net, "weight", lib.tensor(WEIGHT > 0)),
    "twice": lambda prune, net, lib: (
        prune.l1_unstructured(net, "weight", 9),
        prune.l1_unstructured(net, "weight", 0.5),
    ),
    "rows, then elements": lambda prune, net, lib: (
        prune.ln_structured(net, "weight", 2, n=2, dim=0),
        prune.l1_unstructured(net, "weight", 5),
        prune.ln_structured(net, "weight", 1, n=2, dim=0),
        prune.custom_from_mask(net, "weight", lib.tensor(WEIGHT < 1)),
    ),
    "removed": lambda prune, net, lib: (
        prune.l1_unstructured(net, "weight", 9),
        prune.remove(net, "weight"),
    ),
    "global": lambda prune, net, lib: prune.global_unstructured(
        [(net, "weight"), (net, "bias")], prune.L1Unstructured, amount=11
    ),
    "global with scores": lambda prune, net, lib: prune.global_unstructured(
        ((net, "weight"), (net, "bias")),
        prune.L1Unstructured,
        importance_scores={(net, "bias"): lib.tensor(np.linspace(0, 0.5, 6, dtype=np.float32))},
        amount=0.25,
    ),
}


@pytest.mark.parametrize("name", PRUNES)
def test_like_torch(name):
    expected, got = pruned(PRUNES[name])
    assert got[3] is expected[3]
    for ours, theirs in ((got[0], expected[0]), (got[2], expected[2])):
        assert list(ours) == list(theirs)
        for key in ours:
            np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-5, atol=1e-5, err_msg=key)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("part", [5, 0.5])
def test_at_random(part):
    net = layer(ocl)
    ocl.nn.utils.prune.random_unstructured(net, "weight", part)
    assert net.weight_mask.sum().item() == 48 - (part if part == 5 else 24)
    net = layer(ocl)
    ocl.nn.utils.prune.random_structured(net, "weight", 2, dim=1)
    assert sorted(net.weight_mask.sum(0).tolist()) == [0, 0, 6, 6, 6, 6, 6, 6]


def test_training_moves_the_original_alone():
    net = layer(ocl)
    ocl.nn.utils.prune.l1_unstructured(net, "weight", 20)
    optimizer = ocl.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(ocl.ones(2, 8)).square().sum().backward()
        optimizer.step()
    net(ocl.ones(2, 8))
    assert (net.weight == 0).sum().item() == 20
    assert [name for name, _ in net.named_parameters()] == ["bias", "weight_orig"]


def test_prune_of_a_tensor():
    for lib in (torch, ocl):
        method = lib.nn.utils.prune.L1Unstructured(3)
        given = lib.tensor([1.0, -5.0, 0.5, 2.0])
        assert method.prune(given).tolist() == [0, -5, 0, 0]
        assert method.prune(given, importance_scores=lib.tensor([9.0, 1.0, 2.0, 3.0])).tolist() == [
            1,
            0,
            0,
            0,
        ]


def test_a_copy_is_pruned_and_can_be_rid_of_it():
    net = layer(ocl)
    with ocl.no_grad():
        ocl.nn.utils.prune.l1_unstructured(net, "weight", 9)
        for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            assert ocl.nn.utils.prune.is_pruned(other)
            other.weight_orig.fill_(1)
            other(ocl.ones(1, 8))
            assert other.weight.sum().item() == 39
            ocl.nn.utils.prune.remove(other, "weight")
            assert isinstance(other.weight, ocl.nn.Parameter)
            other.weight.fill_(2)
            assert other(ocl.ones(1, 8)).tolist() == [[16, 17, 18, 19, 20, 21]]
        assert ocl.nn.utils.prune.is_pruned(net) and net.weight.sum().item() != 39


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda prune, net: prune.l1_unstructured(net, "weight", 49), ValueError),
        (lambda prune, net: prune.l1_unstructured(net, "weight", -1), ValueError),
        (lambda prune, net: prune.l1_unstructured(net, "weight", 1.5), ValueError),
        (lambda prune, net: prune.l1_unstructured(net, "weight", "many"), TypeError),
        (lambda prune, net: prune.ln_structured(net, "bias", 1, 2, 0), ValueError),
        (lambda prune, net: prune.ln_structured(net, "weight", 1, 2, 2), IndexError),
        (lambda prune, net: prune.remove(net, "weight"), ValueError),
        (lambda prune, net: prune.global_unstructured(3, prune.L1Unstructured, amount=1), TypeError),
        (
            lambda prune, net: prune.global_unstructured(
                [(net, "weight")], prune.LnStructured, amount=1, n=2
            ),
            TypeError,
        ),
        (
            lambda prune, net: prune.global_unstructured(
                [(net, "weight")], prune.L1Unstructured, [], amount=1
            ),
            TypeError,
        ),
        (lambda prune, net: prune.PruningContainer().add_pruning_method(3), TypeError),
        (lambda prune, net: prune.l1_unstructured(net, "bias", 1, net.weight), AssertionError),
        (lambda prune, net: prune.custom_from_mask(net, "weight", net.bias), AssertionError),
    ],
)
def test_errors(call, error):
    for lib in (torch, ocl):
        net = layer(lib)
        with pytest.raises(error):
            call(lib.nn.utils.prune, net)
        assert [name for name, _ in sorted(net.named_parameters())] == ["bias", "weight"]
