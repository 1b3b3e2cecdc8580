"""Lazy modules beside PyTorch's: sizes, states, copies and errors."""

import copy
import pickle

import numpy as np
import pytest
import torch

import ocl
from ocl.nn.modules.lazy import LazyModuleMixin
from ocl.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

LAYERS = {
    "LazyLinear": [((5,), {}, (2, 3, 7)), ((5, False), {}, (7,))],
    "LazyConv1d": [((6, 3), {"padding": 1}, (2, 4, 9)), ((6, 3), {"bias": False}, (4, 9))],
    "LazyConv2d": [((6, 3), {"groups": 2, "stride": 2}, (2, 4, 9, 8)), ((6, (3, 1)), {}, (4, 9, 8))],
    "LazyConv3d": [((2, 2), {"dilation": 2}, (1, 3, 4, 5, 4))],
    "LazyConvTranspose1d": [((6, 3), {}, (2, 4, 9))],
    "LazyConvTranspose2d": [((6, 3), {"groups": 2, "stride": 2, "output_padding": 1}, (2, 4, 5, 4))],
    "LazyConvTranspose3d": [((2, 2), {"bias": False}, (1, 3, 4, 3, 4))],
    "LazyBatchNorm1d": [((), {}, (4, 3)), ((), {"affine": False}, (4, 3, 5))],
    "LazyBatchNorm2d": [((1e-3, 0.2), {}, (2, 3, 4, 4)), ((), {"track_running_stats": False}, (2, 3, 4, 4))],
    "LazyBatchNorm3d": [((), {}, (2, 3, 4, 4, 2))],
    "LazyInstanceNorm1d": [((), {}, (2, 3, 4))],
    "LazyInstanceNorm2d": [((), {}, (2, 3, 4, 4)), ((), {"affine": False}, (2, 3, 4, 4))],
    "LazyInstanceNorm3d": [((), {}, (2, 3, 4, 4, 2)), ((), {"track_running_stats": False}, (2, 3, 4, 4, 2))],
}
CASES = [(name, *case) for name, cases in LAYERS.items() for case in cases]


def made(lib, name, arguments, named):
    return getattr(lib.nn, name)(*arguments, **named)


@pytest.mark.parametrize(("name", "arguments", "named", "shape"), CASES)
def test_like_torch(name, arguments, named, shape):
    ours, theirs = (made(lib, name, arguments, named) for lib in (ocl, torch))
    assert repr(ours) == repr(theirs)
    assert [(n, is_lazy(p)) for n, p in ours.named_parameters()] == [
        (n, torch.nn.parameter.is_lazy(p)) for n, p in theirs.named_parameters()
    ]
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert ours.has_uninitialized_params() == theirs.has_uninitialized_params()
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    ours.train(False), theirs.train(False)
    theirs(torch.tensor(x)), ours(ocl.tensor(x))
    assert type(ours).__name__ == type(theirs).__name__ == name.removeprefix("Lazy")
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({n: ocl.tensor(t.numpy()) for n, t in theirs.state_dict().items()})
    ours.train(), theirs.train()
    inputs = ocl.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    results = [net(given) for net, given in zip((ours, theirs), inputs, strict=True)]
    np.testing.assert_allclose(results[0].detach().numpy(), results[1].detach().numpy(), rtol=1e-4, atol=1e-5)
    for result in results:
        (result * result * result).sum().backward()
    np.testing.assert_allclose(inputs[0].grad.numpy(), inputs[1].grad.numpy(), rtol=1e-3, atol=1e-4)
    for (n, p), (m, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert n == m and type(p) is ocl.nn.Parameter
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-3, atol=1e-3)


def test_parameters_are_drawn_as_those_of_the_layer():
    ocl.manual_seed(4)
    expected = ocl.nn.Linear(7, 5)
    ocl.manual_seed(4)
    lazy = ocl.nn.LazyLinear(5)
    lazy(ocl.ones(2, 7))
    assert lazy.weight.tolist() == expected.weight.tolist() and lazy.bias.tolist() == expected.bias.tolist()


def test_a_net_learns_its_sizes_and_trains():
    net = ocl.nn.Sequential(
        ocl.nn.LazyConv2d(4, 3), ocl.nn.LazyBatchNorm2d(), ocl.nn.Flatten(), ocl.nn.LazyLinear(2)
    )
    net.to(ocl.float64)
    net(ocl.ones(2, 3, 5, 5, dtype=ocl.float64))
    assert [tuple(p.shape) for p in net.parameters()] == [(4, 3, 3, 3), (4,), (4,), (4,), (2, 36), (2,)]
    assert all(p.dtype == ocl.float64 for p in net.parameters())
    optimizer = ocl.optim.SGD(net.parameters(), lr=0.1)
    net(ocl.randn(2, 3, 5, 5, dtype=ocl.float64)).square().sum().backward()
    optimizer.step()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_learn_their_own_sizes(copied):
    net = ocl.nn.Sequential(ocl.nn.LazyLinear(3), ocl.nn.LazyBatchNorm1d())
    other = copied(net)
    assert other(ocl.ones(2, 4)).shape == (2, 3) and net(ocl.ones(2, 6)).shape == (2, 3)
    assert other[0].in_features == 4 and net[0].in_features == 6
    again = copied(other)
    assert again(ocl.ones(2, 4)).shape == (2, 3)


def test_states():
    for lib in (torch, ocl):
        full, lazy, fresh = lib.nn.Linear(4, 3), lib.nn.LazyLinear(3), lib.nn.LazyLinear(3)
        lazy.load_state_dict(full.state_dict())
        assert not lazy.has_uninitialized_params()
        assert lazy.weight.tolist() == full.weight.tolist()
        assert lazy(lib.ones(2, 4)).tolist() == full(lib.ones(2, 4)).tolist()
        assert type(lazy) is lib.nn.Linear and lazy.in_features == 4
        state = fresh.state_dict()
        assert type(state["weight"]).__name__ == "UninitializedParameter"
        lib.nn.LazyLinear(3).load_state_dict(state)
        with pytest.raises(RuntimeError):
            full.load_state_dict(state)


def test_a_tensor_without_a_shape():
    for kind in (UninitializedParameter, UninitializedBuffer):
        tensor = kind(dtype=ocl.float16)
        with pytest.raises(RuntimeError, match="Can't access the shape"):
            tensor.shape  # noqa: B018
        assert repr(tensor) == f"<{kind.__name__}>" and is_lazy(copy.deepcopy(tensor))
        assert pickle.loads(pickle.dumps(tensor)).dtype == ocl.float16
        tensor.materialize((2, 3))
        assert tensor.shape == (2, 3) and tensor.dtype == ocl.float16 and not is_lazy(tensor)
    assert isinstance(UninitializedParameter(), ocl.nn.Parameter) and UninitializedParameter().requires_grad


class Scale(LazyModuleMixin, ocl.nn.Module):
    """A lazy module of a program's own."""

    def __init__(self):
        super().__init__()
        self.scale = UninitializedParameter()

    def initialize_parameters(self, x):
        if self.has_uninitialized_params():
            self.scale.materialize(x.shape[-1:])
            with ocl.no_grad():
                self.scale.fill_(2)

    def forward(self, x):
        return x * self.scale


def test_a_class_of_the_programs_own():
    net = Scale()
    assert net(ocl.ones(2, 3)).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert net(ocl.ones(1, 3)).tolist() == [[2, 2, 2]] and type(net) is Scale


def test_errors():
    for lib in (torch, ocl):
        with pytest.raises(RuntimeError, match="Expected 3D"):
            lib.nn.LazyConv2d(2, 3)(lib.ones(5, 5))
        with pytest.raises(ValueError, match="divisible by groups"):
            lib.nn.LazyConv2d(4, 3, groups=2)(lib.ones(1, 3, 5, 5))
    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Bare"):
        type("Bare", (LazyModuleMixin, ocl.nn.Module), {})()(1)
