"""Weights that are computed from other parameters: nn.utils.parametrize and the norms of weights."""

import copy
import pickle

import numpy as np
import pytest
import torch
import torch.nn.utils.parametrize

import ocl
from ocl import nn
from ocl.nn.utils import parametrize

LAYERS = {
    "Linear": (lambda n: n.Linear(4, 3), (2, 4)),
    "Conv2d": (lambda n: n.Conv2d(2, 4, 3), (2, 2, 5, 5)),
    "ConvTranspose2d": (lambda n: n.ConvTranspose2d(3, 2, 3), (2, 3, 5, 5)),
}
NORMS = {
    "new weight_norm": lambda n, m: n.utils.parametrizations.weight_norm(m),
    "new weight_norm of all": lambda n, m: n.utils.parametrizations.weight_norm(m, dim=None),
    "old weight_norm": lambda n, m: n.utils.weight_norm(m),
    "old weight_norm dim 1": lambda n, m: n.utils.weight_norm(m, dim=1),
    "new spectral_norm": lambda n, m: n.utils.parametrizations.spectral_norm(m),
    "old spectral_norm": lambda n, m: n.utils.spectral_norm(m, n_power_iterations=2),
}


def to_torch(state):
    return {name: torch.from_numpy(tensor.numpy().copy()) for name, tensor in state.items()}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("norm", NORMS)
def test_norms_train_like_pytorchs(layer, norm, rng):
    make, shape = LAYERS[layer]
    ours, theirs = NORMS[norm](nn, make(nn)), NORMS[norm](torch.nn, make(torch.nn))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(to_torch(ours.state_dict()))
    steps = ocl.optim.SGD(ours.parameters(), 0.05), torch.optim.SGD(theirs.parameters(), 0.05)
    for mode in (True, True, False):
        x = rng.standard_normal(shape).astype(np.float32)
        mine, other = ours.train(mode)(ocl.tensor(x)), theirs.train(mode)(torch.tensor(x))
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-5)
        mine.square().mean().backward()
        other.square().mean().backward()
        for step in steps:
            step.step()
            step.zero_grad()
    for name, tensor in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[name].numpy(), tensor.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm"])
def test_old_norms_are_removed(kind):
    x = ocl.ones(2, 4)
    layer = getattr(nn.utils, kind)(nn.Linear(4, 3))
    layer(x)
    expected = layer.eval()(x).detach().numpy()
    getattr(nn.utils, f"remove_{kind}")(layer)
    assert set(layer.state_dict()) == {"bias", "weight"}
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="not found"):
        getattr(nn.utils, f"remove_{kind}")(layer)


def symmetric(library):
    class Symmetric(library.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    return Symmetric()


def doubled(library):
    class Doubled(library.nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, x):
            return x / 2

    return Doubled()


@pytest.mark.parametrize("leave", [True, False])
def test_two_parametrizations_of_one_weight(leave):
    results = []
    values = np.arange(9, dtype=np.float32).reshape(3, 3)
    for library in (ocl, torch):
        tools = library.nn.utils.parametrize
        layer = library.nn.Linear(3, 3, bias=False)
        layer.weight.data.copy_(library.tensor(values))
        for make in (doubled, symmetric):
            assert tools.register_parametrization(layer, "weight", make(library)) is layer
        assert tools.is_parametrized(layer, "weight") and not tools.is_parametrized(layer, "bias")
        assert tools.type_before_parametrizations(layer) is library.nn.Linear
        names = [
            list(layer.state_dict()),
            [name for name, _ in layer.named_parameters()],
            type(layer).__name__,
        ]
        out = layer(library.ones(1, 3))
        out.sum().backward()
        grad = layer.parametrizations.weight.original.grad.numpy()
        tools.remove_parametrizations(layer, "weight", leave_parametrized=leave)
        assert type(layer) is library.nn.Linear and list(layer.state_dict()) == ["weight"]
        weight = layer.weight.detach().numpy()
        results.append(
            (names, out.detach().numpy(), grad, weight, layer(library.ones(1, 3)).detach().numpy())
        )
    mine, other = results
    assert mine[0] == other[0]
    for ours, theirs in zip(mine[1:], other[1:], strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_assignment_goes_through_right_inverse():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", doubled(ocl))
    layer.weight = ocl.full((2, 2), 6.0)
    assert layer.parametrizations.weight.original.tolist() == [[3, 3], [3, 3]]
    assert layer.weight.tolist() == [[6, 6], [6, 6]]


def test_cached_computes_once():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", symmetric(ocl))
    assert layer.weight is not layer.weight
    with parametrize.cached():
        assert layer.weight is layer.weight


def test_copies_are_apart_and_pickles_are_refused():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", symmetric(ocl))
    twin = copy.deepcopy(layer)
    twin.parametrizations.weight.original.data.zero_()
    assert twin.weight.abs().sum().item() == 0 and layer.weight.abs().sum().item() > 0
    assert twin(ocl.ones(1, 2)).tolist() == [twin.bias.tolist()]
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(layer)


def test_refusals():
    class Wide(nn.Module):
        def forward(self, x):
            return ocl.cat([x, x])

    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(layer, "w", doubled(ocl))
    with pytest.raises(ValueError, match="shape"):
        parametrize.register_parametrization(layer, "weight", Wide())
    with pytest.raises(ValueError, match="n_power_iterations"):
        nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=0)
    with pytest.raises(ValueError, match="does not have a parametrization"):
        parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer(ocl.ones(1, 2)).shape == (1, 2)


def test_vectors_of_parameters():
    layer = nn.Linear(3, 2)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (8,) and vector.requires_grad
    nn.utils.vector_to_parameters(ocl.arange(8.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1, 2], [3, 4, 5]] and layer.bias.tolist() == [6, 7]
    with pytest.raises(TypeError):
        nn.utils.vector_to_parameters([1.0], layer.parameters())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_folded_batch_norms(bias, transposed):
    conv = (nn.ConvTranspose2d if transposed else nn.Conv2d)(3, 4, 3, bias=bias)
    norm, x = nn.BatchNorm2d(4), ocl.randn(5, 3, 6, 6)
    norm(conv(x))
    with pytest.raises(AssertionError):
        nn.utils.fuse_conv_bn_eval(conv, norm)
    conv.eval(), norm.eval()
    fused = nn.utils.fuse_conv_bn_eval(conv, norm, transpose=transposed)
    np.testing.assert_allclose(
        fused(x).detach().numpy(), norm(conv(x)).detach().numpy(), rtol=1e-3, atol=1e-4
    )
