"""ocl.func.functional_call against torch.func.functional_call, in float64."""

import numpy as np
import pytest
import torch
import torch.func
from nests import assert_nests_close, on_both
from support import has_float64

import ocl

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")


MODULES = {
    "linear": (lambda nn: nn.Linear(3, 4), (2, 3)),
    "convolution": (lambda nn: nn.Conv2d(2, 4, 3, padding=1, groups=2), (2, 2, 4, 5)),
    "batch norm": (lambda nn: nn.BatchNorm2d(3), (4, 3, 2, 2)),
    "batch norm that evaluates": (lambda nn: nn.BatchNorm1d(3).eval(), (4, 3)),
    "sequential": (
        lambda nn: nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 2)),
        (6, 3),
    ),
    "nested": (
        lambda nn: nn.Sequential(nn.Sequential(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2)), nn.ReLU()),
        (2, 1, 3, 3),
    ),
    "lstm": (lambda nn: nn.LSTM(3, 4, num_layers=2, bidirectional=True), (5, 2, 3)),
    "transformer": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 2, 4)),
    "prelu": (lambda nn: nn.Sequential(nn.LayerNorm(3), nn.PReLU(3)), (4, 3)),
}


def pair_of(make, rng):
    """A module in both libraries, and other values for its parameters and buffers."""
    theirs, mine = make(torch.nn).double(), make(ocl.nn).double()
    mine.load_state_dict({name: ocl.tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    parameters = {n: rng.standard_normal(tuple(p.shape)) for n, p in theirs.named_parameters()}
    buffers = {
        n: rng.uniform(0.5, 1.5, tuple(b.shape)) if b.dtype == torch.float64 else np.array(7)
        for n, b in theirs.named_buffers()
    }
    return {torch: theirs, ocl: mine}, parameters, buffers


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("name", MODULES)
def test_modules(name, rng):
    """Results, gradients of what the given tensors were made of, and buffers; the module is as it was."""
    make, shape = MODULES[name]
    modules, parameters, buffers = pair_of(make, rng)

    def run(lib, x, parameters, buffers):
        module = modules[lib]
        tensors = [*module.named_parameters(), *module.named_buffers()]
        values = [(n, t.detach().clone()) for n, t in tensors]
        starts = [p.requires_grad_() for p in parameters.values()]
        fast = {name: p * 0.5 for name, p in parameters.items()}  # no leaves
        result = first(lib.func.functional_call(module, (fast, buffers), x))
        slopes = lib.autograd.grad(result.square().sum(), starts)
        after = [*module.named_parameters(), *module.named_buffers()]
        assert [n for n, _ in after] == [n for n, _ in tensors]
        assert all(a is b for (_, a), (_, b) in zip(after, tensors, strict=True))
        assert all((a == b).all().item() for (_, a), (_, b) in zip(after, values, strict=True))
        assert all(p.grad is None and isinstance(p, lib.nn.Parameter) for p in module.parameters())
        assert not any(isinstance(p, lib.nn.Parameter) for p in fast.values())
        return result, slopes, buffers

    expected, actual = on_both(run, rng.standard_normal(shape), parameters, buffers)
    assert_nests_close(actual, expected)


@pytest.mark.parametrize("name", MODULES)
def test_gradients_by_transforms(name, rng):
    make, shape = MODULES[name]
    modules, parameters, buffers = pair_of(make, rng)

    def run(lib, x, parameters, buffers):
        def loss(weights, x, buffers):
            return first(lib.func.functional_call(modules[lib], (weights, buffers), (x,))).square().sum()

        return lib.func.grad(loss, argnums=(0, 1))(parameters, x, buffers), buffers

    expected, actual = on_both(run, rng.standard_normal(shape), parameters, buffers)
    assert_nests_close(actual, expected)


@pytest.mark.parametrize("transforms", [True, False])
def test_inner_loop_of_second_order(transforms, rng):
    """Two inner steps of MAML, by transforms or by autograd.grad, and the gradient through both."""
    make = MODULES["sequential"][0]
    modules, _, _ = pair_of(make, rng)
    arrays = [rng.standard_normal(shape) for shape in ((6, 3), (6, 2), (5, 3), (5, 2))]

    def run(lib, x, y, x_after, y_after):
        module = modules[lib]
        buffers = {name: b.clone() for name, b in module.named_buffers()}

        def loss(weights, x, y, buffers):
            found = lib.func.functional_call(module, (weights, buffers), x)
            return (found - y).square().mean()

        def slopes(weights):
            if transforms:
                return lib.func.grad(loss)(weights, x, y, buffers)
            found = lib.autograd.grad(loss(weights, x, y, buffers), list(weights.values()), create_graph=True)
            return dict(zip(weights, found, strict=True))

        fast = start = dict(module.named_parameters())
        for _ in range(2):
            steps = slopes(fast)
            fast = {name: w - 0.3 * steps[name] for name, w in fast.items()}
        after = loss(fast, x_after, y_after, buffers)
        return after, lib.autograd.grad(after, list(start.values())), buffers

    expected, actual = on_both(run, *arrays)
    assert_nests_close(actual, expected)


def test_gradient_of_an_inner_loop(rng):
    """The inner loop by transforms alone."""
    modules, parameters, _ = pair_of(
        lambda nn: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), rng
    )
    arrays = [rng.standard_normal(shape) for shape in ((6, 3), (6, 2))]

    def run(lib, parameters, x, y):
        def loss(weights):
            return (lib.func.functional_call(modules[lib], weights, x) - y).square().mean()

        def after(weights):
            for _ in range(2):
                steps = lib.func.grad(loss)(weights)
                weights = {name: w - 0.2 * steps[name] for name, w in weights.items()}
            return loss(weights)

        return lib.func.grad_and_value(after)(parameters)

    expected, actual = on_both(run, parameters, *arrays)
    assert_nests_close(actual, expected)


def blocks():
    """A module of the user's in both libraries."""

    def make(lib):
        class Block(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = lib.nn.Linear(3, 3)
                self.scale = lib.nn.Parameter(lib.ones(3))
                self.shift = lib.zeros(3)
                self.register_buffer("calls", lib.zeros(()), persistent=False)

            def forward(self, x, *, times=1):
                self.calls = self.calls + 1
                return self.linear(x) * self.scale * times + self.shift

        return Block()

    mine, theirs = make(ocl), make(torch)
    with torch.no_grad():
        theirs.linear.weight.copy_(torch.arange(9.0).reshape(3, 3))
        theirs.linear.bias.fill_(0.5)
    mine.load_state_dict({name: ocl.tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    return {torch: theirs, ocl: mine}


def float32(values):
    return np.array(values, dtype=np.float32)


def test_modules_of_the_users():
    """Attributes count too, buffers that are assigned come back in the dict, names that are not there go."""
    modules = blocks()

    def run(lib, x, scale, shift):
        module = modules[lib]
        plain = module.shift
        given = {"scale": scale, "shift": shift, "calls": lib.ones(()) * 4, "other": scale}
        result = lib.func.functional_call(module, given, x, {"times": 2})
        assert module.shift is plain and module.calls.item() == 0 and not hasattr(module, "other")
        assert isinstance(module.scale, lib.nn.Parameter) and "shift" not in dict(module.named_parameters())
        assert "calls" not in module.state_dict()
        return result, given

    expected, actual = on_both(run, float32([[1, 2, 3]]), float32([1, 0, 2]), float32([5, 6, 7]))
    assert_nests_close(actual, expected)


def test_a_parameter_in_the_place_of_an_attribute():
    module = blocks()[ocl]
    plain = module.shift
    ocl.func.functional_call(module, {"shift": ocl.nn.Parameter(ocl.ones(3))}, ocl.ones(3))
    assert module.shift is plain and "shift" not in dict(module.named_parameters())


def test_arguments():
    modules = blocks()

    def run(lib, x):
        call = lib.func.functional_call
        return (
            call(modules[lib], {}, x),
            call(modules[lib], [{}, {}], (x,), {"times": 3}),
            call(modules[lib], {"scale": x[0]}, kwargs={"x": x}),
        )

    expected, actual = on_both(run, float32([[1, 2, 3]]))
    assert_nests_close(actual, expected)


def test_a_module_that_raises_has_its_tensors_again():
    module = ocl.nn.Sequential(ocl.nn.Linear(3, 2), ocl.nn.BatchNorm1d(2))
    before = [*module.parameters(), *module.buffers()]
    given = {name: t * 1 for name, t in [*module.named_parameters(), *module.named_buffers()]}
    with pytest.raises(ValueError):
        ocl.func.functional_call(module, given, ocl.ones(2, 5))
    for bad in ({"0.weight": 3.0}, {"0.bias": ocl.ones(2), "7.weight": ocl.ones(1)}):
        with pytest.raises((TypeError, AttributeError)):
            ocl.func.functional_call(module, bad, ocl.ones(2, 3))
    after = [*module.parameters(), *module.buffers()]
    assert all(a is b for a, b in zip(after, before, strict=True))


def tied(lib):
    net = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Linear(2, 2), lib.nn.Linear(2, 2))
    net[1].weight = net[0].weight
    net[2] = net[0]
    with lib.no_grad():
        for parameter in net.parameters():
            parameter.fill_(0.5)
    return net


@pytest.mark.parametrize("tie_weights", [True, False])
@pytest.mark.parametrize("names", [["0.weight"], ["1.weight"], ["0.weight", "1.weight", "2.weight"]])
def test_shared_parameters(names, tie_weights):
    def run(lib, x, weight):
        net = tied(lib)
        before = list(net.parameters())
        given = dict.fromkeys(names, weight)
        result = lib.func.functional_call(net, given, x, tie_weights=tie_weights)
        if lib is ocl:  # PyTorch leaves the replacement in a layer that stands in two places
            assert all(a is b for a, b in zip(net.parameters(), before, strict=True))
            assert net[1].weight is net[0].weight is net[2].weight
        return result

    expected, actual = on_both(run, float32([[1, 2]]), float32([[1, 2], [3, 4]]))
    assert_nests_close(actual, expected)


REFUSED = {
    "no dict": lambda lib, net: lib.func.functional_call(net, 3, lib.ones(1, 2)),
    "a list of no dicts": lambda lib, net: lib.func.functional_call(net, [{}, 3], lib.ones(1, 2)),
    "a name twice": lambda lib, net: lib.func.functional_call(
        net, ({"0.bias": lib.ones(2)}, {"0.bias": lib.ones(2)}), lib.ones(1, 2)
    ),
    "different tensors for one": lambda lib, net: lib.func.functional_call(
        net,
        {"0.weight": lib.ones(2, 2), "1.weight": lib.ones(2, 2), "2.weight": lib.ones(2, 2)},
        lib.ones(1, 2),
    ),
    "missing": lambda lib, net: lib.func.functional_call(
        net, {"1.bias": lib.ones(2)}, lib.ones(1, 2), strict=True
    ),
    "missing and unexpected": lambda lib, net: lib.func.functional_call(
        net, {"1.bias": lib.ones(2), "other": lib.ones(2)}, lib.ones(1, 2), strict=True
    ),
    "a submodule that is not there": lambda lib, net: lib.func.functional_call(
        net, {"7.bias": lib.ones(2)}, lib.ones(1, 2)
    ),
    "an attribute that is no tensor": lambda lib, net: lib.func.functional_call(
        net, {"0.in_features": lib.ones(2)}, lib.ones(1, 2)
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_pytorch_refuses(case):
    errors = []
    for lib in (torch, ocl):
        with pytest.raises((ValueError, RuntimeError, AttributeError, TypeError)) as raised:
            REFUSED[case](lib, tied(lib))
        errors.append(raised)
    assert errors[1].type is errors[0].type
    assert str(errors[1].value).replace("ocl.", "torch.") == str(errors[0].value)
