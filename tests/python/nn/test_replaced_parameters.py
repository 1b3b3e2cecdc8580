"""Parameters that were taken away: the layer computes with what stands under their names."""

import copy
import pickle

import numpy as np
import pytest
import torch

import ocl
from ocl import nn

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


CASES = {
    "Linear": (lambda n: n.Linear(4, 3), floats(2, 4)),
    "Conv1d": (lambda n: n.Conv1d(4, 3, 2), floats(2, 4, 7)),
    "Conv2d": (lambda n: n.Conv2d(4, 6, 3, groups=2, padding=1), floats(2, 4, 7, 5)),
    "Conv3d": (lambda n: n.Conv3d(2, 3, 2), floats(1, 2, 4, 4, 3)),
    "ConvTranspose1d": (lambda n: n.ConvTranspose1d(4, 3, 2), floats(2, 4, 7)),
    "ConvTranspose2d": (lambda n: n.ConvTranspose2d(4, 3, 2, stride=2), floats(2, 4, 3, 5)),
    "ConvTranspose3d": (lambda n: n.ConvTranspose3d(2, 3, 2), floats(1, 2, 3, 3, 3)),
    "Embedding": (lambda n: n.Embedding(10, 3), np.array([[1, 2], [3, 9]])),
    "BatchNorm1d": (lambda n: n.BatchNorm1d(4), floats(5, 4)),
    "BatchNorm2d": (lambda n: n.BatchNorm2d(4), floats(5, 4, 2, 3)),
    "GroupNorm": (lambda n: n.GroupNorm(2, 4), floats(5, 4, 2, 3)),
    "LayerNorm": (lambda n: n.LayerNorm(4), floats(5, 4)),
    "InstanceNorm2d": (lambda n: n.InstanceNorm2d(4, affine=True), floats(5, 4, 3, 3)),
    "Bilinear": (lambda n: n.Bilinear(4, 3, 2), floats(5, 4), floats(5, 3)),
    "LSTM": (lambda n: n.LSTM(4, 3, 2), floats(5, 2, 4)),
    "GRU": (lambda n: n.GRU(4, 3, bidirectional=True), floats(5, 2, 4)),
    "RNN": (lambda n: n.RNN(4, 3), floats(5, 2, 4)),
    "LSTMCell": (lambda n: n.LSTMCell(4, 3), floats(2, 4)),
}


def replace(module, library):
    """Every parameter goes, and twice another parameter stands under its name."""
    for number, name in enumerate(list(module._parameters)):
        parameter = module._parameters[name]
        if number % 2:
            delattr(module, name)
        else:
            module._parameters.pop(name)
        module.register_parameter(name + "_half", library.nn.Parameter(parameter.data))
        setattr(module, name, getattr(module, name + "_half") * 2)


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_pytorchs(case):
    make, *inputs = CASES[case]
    ours, theirs = make(nn), make(torch.nn)
    theirs.load_state_dict({k: torch.from_numpy(v.numpy().copy()) for k, v in ours.state_dict().items()})
    replace(ours, ocl)
    replace(theirs, torch)
    mine = first(ours(*map(ocl.tensor, inputs)))
    other = first(theirs(*map(torch.tensor, inputs)))
    np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-5)
    mine.square().sum().backward()
    other.square().sum().backward()
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    assert dict(ours.named_buffers()).keys() == dict(theirs.named_buffers()).keys()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-3, atol=1e-4)


class Sub(nn.Linear):
    def forward(self, x):
        return super().forward(x) + 1


@pytest.mark.parametrize("kind", [Sub, nn.Linear])
def test_within_containers_and_in_copies(kind):
    layer, x = kind(3, 2), ocl.ones(1, 3)
    expected = layer(x).detach().numpy()
    weight = layer.weight
    del layer.weight
    layer.weight = weight.detach() * 1
    for call in (layer, nn.Sequential(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        np.testing.assert_allclose(call(x).detach().numpy(), expected, rtol=1e-6)
    other = copy.deepcopy(layer)
    other.weight = other.weight * 0
    assert not np.allclose(other(x).detach().numpy(), expected)
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-6)


def test_a_parameter_comes_back():
    layer, x = nn.Linear(3, 2), ocl.ones(1, 3)
    weight = layer.weight
    del layer.weight
    with pytest.raises(AttributeError, match="weight"):
        layer(x)
    layer.weight = nn.Parameter(weight.data * 2)
    expected = 2 * weight.detach().numpy().sum(1) + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy()[0], expected, rtol=1e-5)
    assert list(layer.state_dict()) == ["bias", "weight"]


def test_an_error_leaves_nothing_registered():
    layer = nn.Linear(3, 2)
    del layer.weight
    layer.weight = ocl.ones(5, 5)
    with pytest.raises(RuntimeError):
        layer(ocl.ones(1, 3))
    assert list(layer.state_dict()) == ["bias"]
