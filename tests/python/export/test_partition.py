"""Programs of torch.export in parts, on devices and in PyTorch."""

import copy
import io

import numpy as np
import processes
import pytest
import torch
from exporting import Of, exported
from torch import nn
from torch.export import Dim

import ocl
from ocl.export import partition


@torch.library.custom_op("partition_tests::twist", mutates_args=())
def twist(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.sin(x) * factor


@twist.register_fake
def _(x, factor):
    return torch.empty_like(x)


def _keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


def _gradient(ctx, gradient):
    (x,) = ctx.saved_tensors
    return gradient * torch.cos(x) * ctx.factor, None


twist.register_autograd(_gradient, setup_context=_keep)


class Twisted(nn.Module):
    """An operator of a user's in the middle."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.last = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 5))

    def forward(self, x):
        return self.last(twist(self.first(x), 1.5))


class Spectrum(nn.Module):
    """Complex numbers in the middle."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.last = nn.Linear(9, 4)

    def forward(self, x):
        return self.last(torch.fft.rfft(torch.tanh(self.first(x))).abs())


class Tied(nn.Module):
    """One weight on both sides of an operator of a user's."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.scores = nn.Linear(8, 20, bias=False)
        self.scores.weight = self.words.weight

    def forward(self, tokens):
        return self.scores(twist(self.words(tokens) * 2.0, 0.5))


def drawn(make):
    torch.manual_seed(0)
    return make()


def places(module):
    return [part.place for part in module.report.parts]


def widened(value):
    return value.double() if value.is_floating_point() else value


def near(mine, theirs, exact):
    """Ours is within 4 times PyTorch's own distance from the truth, and some units in the last place."""
    assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
    bound = 4 * (theirs - exact).abs().max() + 1e-6 * exact.abs().max()
    assert (mine - exact).abs().max() <= bound


def trains_like_pytorch(net, module, *args):
    """Results, gradients and buffers of a step are PyTorch's. A module shares the tensors of its net."""
    net, exact_net = copy.deepcopy(net), copy.deepcopy(net).double()
    found = []
    for each, given in ((module, args), (net, args), (exact_net, [*map(widened, args)])):
        result = each(*given)
        result.square().mean().backward()
        gradients = {name: p.grad for name, p in each.named_parameters()}
        found.append((result.detach(), gradients, each.state_dict()))
    mine, theirs, exact = found
    near(mine[0], theirs[0], exact[0])
    assert {*mine[1]} == {*theirs[1]}
    assert {*mine[2]} == {*theirs[2]}
    for name, expected in exact[1].items():
        near(mine[1][name], theirs[1][name], expected)
    for name, expected in exact[2].items():
        near(mine[2][name], theirs[2][name], expected)


@pytest.mark.parametrize("training", [False, True])
def test_an_operator_of_a_users_stays_in_pytorch(training, device):
    net = drawn(Twisted).train(training)
    x = torch.randn(4, 3, 8, 8)
    module = partition(exported(net, x), device)
    between, written = [str(device), "PyTorch", str(device)], ["PyTorch"] if training else []
    assert places(module) == between + written
    refused = module.report.refusals[0]
    assert refused.operator == "partition_tests.twist.default" and refused.node.startswith("twist")
    assert refused.reason == "no such operator on devices"
    trains_like_pytorch(net, module, x)


def test_complex_numbers_stay_in_pytorch(device):
    net, x = drawn(Spectrum), torch.randn(3, 16)
    module = partition(exported(net, x))
    assert places(module) == [str(device), "PyTorch", str(device)]
    reasons = {each.operator: each.reason for each in module.report.refusals}
    assert reasons == {
        "aten._fft_r2c.default": "no such operator on devices",
        "aten.abs.default": "no tensors of the dtype torch.complex64",
    }
    trains_like_pytorch(net, module, x)


def test_a_net_that_the_device_can_run_is_one_part(device):
    net = drawn(lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)))
    x = torch.randn(2, 3, 8, 8)
    module = partition(exported(net, x), device)
    (part,) = module.report.parts
    assert (part.place, part.refusals, part.inputs, part.outputs) == (str(device), (), 5, 1)
    assert part.operators[:2] == ("aten.conv2d.default", "aten.relu.default")
    trains_like_pytorch(net, module, x)


def test_nothing_runs_here_where_nothing_can():
    function = Of(lambda x: twist(twist(x, 1.0).reshape(3, 2).t(), 2.0))
    x = torch.randn(2, 3)
    module = partition(exported(function, x))
    assert places(module) == ["PyTorch"]
    reasons = {each.reason for each in module.report.refusals}
    assert reasons == {"no such operator on devices", "alone it computes nothing"}
    assert torch.equal(module(x), function(x))


def test_the_report_is_read_by_people():
    module = partition(exported(drawn(Spectrum), torch.randn(3, 16)), "ocl:0")
    assert str(module.report).splitlines() == [
        "ocl:0: 2 operators, 3 values in, 1 out: aten.linear.default, aten.tanh.default",
        "PyTorch: 2 operators, 1 value in, 1 out: aten._fft_r2c.default, aten.abs.default",
        "    aten._fft_r2c.default (node _fft_r2c): no such operator on devices",
        "    aten.abs.default (node abs_1): no tensors of the dtype torch.complex64",
        "ocl:0: 1 operator, 3 values in, 1 out: aten.linear.default",
    ]


def test_results_and_arguments_are_nested_as_before():
    def function(x, *, other):
        y = twist(x * 2, 1.0) + other["bias"]
        return {"sum": y.sum(), "pair": (y, [x - 1, x.shape[0]]), "none": None}

    x, other = torch.randn(2, 3), {"bias": torch.randn(3)}
    module = partition(exported(Of(function), x, kwargs={"other": other}))
    mine, theirs = module(x, other=other), function(x, other=other)
    assert {*mine} == {*theirs} and mine["none"] is None
    assert isinstance(mine["pair"][1], list) and mine["pair"][1][1] == 2
    torch.testing.assert_close(mine["pair"][1][0], theirs["pair"][1][0])
    torch.testing.assert_close((mine["sum"], mine["pair"][0]), (theirs["sum"], theirs["pair"][0]))
    with pytest.raises(AssertionError, match="Guard failed"):
        module(torch.randn(3, 3), other=other)


def test_tied_weights_stay_one():
    net = drawn(Tied)
    tokens = torch.randint(0, 20, (2, 6))
    module = partition(exported(net, tokens))
    assert len([*module.parameters()]) == 1
    trains_like_pytorch(net, module, tokens)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_sizes_may_change(size):
    def function(x):
        y = twist(torch.relu(x).reshape(x.shape[0] * 2, -1), 1.0)
        return y.reshape(x.shape) * x.shape[0], y.shape[0] + 1

    batch = Dim("batch", min=1, max=8)
    module = partition(exported(Of(function), torch.randn(4, 6), dynamic_shapes=(({0: batch},),)))
    x = torch.randn(size, 6)
    mine, theirs = module(x), function(x)
    torch.testing.assert_close(mine[0], theirs[0])
    assert mine[1] == theirs[1]


def test_arguments_are_written_to():
    def function(x):
        x.mul_(2)
        return twist(x, 1.0) + 1

    mine, theirs = torch.ones(3), torch.ones(3)
    module = partition(exported(Of(function), torch.ones(3)))
    torch.testing.assert_close(module(mine), function(theirs))
    assert torch.equal(mine, theirs) and mine[0] == 2


def test_steps_of_an_optimizer_are_seen():
    net, x = drawn(Spectrum), torch.randn(8, 16)
    module = partition(exported(copy.deepcopy(net), x))
    exact = copy.deepcopy(net).double()
    losses = []
    for each, given in ((module, x), (net, x), (exact, x.double())):
        optimizer = torch.optim.Adam(each.parameters(), lr=0.01)
        losses.append([])
        for _ in range(10):
            optimizer.zero_grad()
            loss = each(given).square().mean()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    mine, theirs, truth = map(np.array, losses)
    assert mine[-1] < mine[0] / 2
    assert np.abs(mine - truth).max() <= 4 * np.abs(theirs - truth).max() + 1e-6 * truth.max()


def test_writes_are_seen():
    net, array = drawn(Spectrum), np.ones((2, 16), np.float32)
    x = torch.from_numpy(array)
    module = partition(exported(copy.deepcopy(net), x))
    with torch.no_grad():
        module(x)
        array += 1  # of an argument, which PyTorch does not count
        torch.testing.assert_close(module(x), net(x))
        for each in (net, module):
            each.get_parameter("first.weight").mul_(2)
        torch.testing.assert_close(module(x), net(x))
        tripled = {name: value * 3 for name, value in net.state_dict().items()}
        for each in (net, module):
            each.load_state_dict(tripled)
    with torch.inference_mode():
        torch.testing.assert_close(module(x), net(x))


def test_gradients_stop_where_pytorchs_stop():
    def function(x, y):
        with torch.no_grad():
            fixed = torch.exp(x)
        return twist(fixed * y, 1.0) + y.detach() * x

    module = partition(exported(Of(function), torch.randn(3), torch.randn(3)))
    drawn_pair = [torch.randn(3), torch.randn(3)]
    found = []
    for each in (module, function):
        x, y = (value.clone().requires_grad_() for value in drawn_pair)
        each(x, y).sum().backward()
        found.append((x.grad, y.grad))
    torch.testing.assert_close(*found)
    x = drawn_pair[0].clone().requires_grad_()
    module(x, drawn_pair[1]).sum().backward()
    torch.testing.assert_close(x.grad, found[0][0])
    with torch.no_grad():
        assert not module(x, x).requires_grad


def test_gradients_are_taken_once():
    module = partition(exported(drawn(Spectrum), torch.randn(3, 16)))
    loss = module(torch.randn(3, 16)).sum()
    loss.backward(retain_graph=True)
    first = module.get_parameter("first.weight").grad.clone()
    loss.backward()
    torch.testing.assert_close(module.get_parameter("first.weight").grad, 2 * first)
    alone = partition(exported(Of(torch.exp), torch.randn(3)))
    x = torch.randn(3, requires_grad=True)
    result = alone(x)
    result.backward(torch.ones(3))
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        result.backward(torch.ones(3))
    with pytest.raises(RuntimeError, match="create_graph=True is refused"):
        torch.autograd.grad(alone(x).sum(), x, create_graph=True)


def test_inner_graphs_are_parts_as_a_whole(device):
    def supported(x):
        return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))

    def refused(x):
        return torch.cond(x.sum() > 0, lambda a: twist(a, 1.0), lambda a: a * 2, (x * 3,)) + 1

    x = torch.ones(3)
    module = partition(exported(Of(supported), x))
    assert places(module) == [str(device)]
    assert torch.equal(module(x), supported(x)) and torch.equal(module(-x), supported(-x))
    module = partition(exported(Of(refused), x))
    assert places(module) == [str(device), "PyTorch", str(device)]
    (reason,) = module.report.refusals
    assert reason.operator == "higher_order.cond"
    assert reason.reason == "partition_tests.twist.default within: no such operator on devices"
    for each in (x, -x):
        torch.testing.assert_close(module(each), refused(each))


def test_a_device_without_float64_leaves_it_to_pytorch(monkeypatch, device):
    properties = ocl.get_device_properties(device) | {"fp64": False}
    monkeypatch.setattr(ocl, "get_device_properties", lambda _: properties)
    module = partition(exported(Of(lambda x: (torch.exp(x) * 2).float() + 1), torch.ones(3).double()))
    assert places(module) == ["PyTorch", str(device)]
    assert {each.reason for each in module.report.refusals} == {"the device has no float64"}
    torch.testing.assert_close(module(torch.ones(3).double()), (torch.ones(3).exp() * 2) + 1)


def test_integers_of_two_bytes_without_a_sign_stay_in_pytorch():
    module = partition(exported(Of(lambda x: x.to(torch.uint16).to(torch.float32) + 1), torch.ones(3)))
    assert {each.reason for each in module.report.refusals} == {"no tensors of the dtype torch.uint16"}
    assert torch.equal(module(torch.full((3,), 7.0)), torch.full((3,), 8.0))


def test_16_bits_cross():
    net, x = drawn(Spectrum).first.bfloat16(), torch.randn(2, 16).bfloat16()
    module = partition(exported(Of(lambda x: twist(net(x), 1.0) * 2), x))
    mine, theirs = module(x), twist(net(x), 1.0) * 2
    assert mine.dtype == torch.bfloat16
    torch.testing.assert_close(mine, theirs)


def layers():
    return nn.Sequential(nn.Linear(100, 100), nn.Linear(100, 100), nn.Linear(100, 100))


def test_what_does_not_fit_into_memory_stays_in_pytorch(device):
    net, x = drawn(layers), torch.randn(1, 100)
    module = partition(exported(net, x), memory=100_000)  # of 3 layers with 40 kB each
    assert places(module) == [str(device), "PyTorch"]
    assert [len(part.operators) for part in module.report.parts] == [2, 1]
    (refused,) = module.report.refusals
    assert refused.reason == "with it 122.0 kB of memory are in use, of 100.0 kB"
    torch.testing.assert_close(module(x), net(x))
    assert places(partition(exported(net, x), memory=0)) == ["PyTorch"]


def test_a_tensor_beyond_the_greatest_allocation_stays_in_pytorch(monkeypatch, device):
    properties = ocl.get_device_properties(device) | {"max_allocation": 30_000}
    monkeypatch.setattr(ocl, "get_device_properties", lambda _: properties)
    module = partition(exported(nn.Sequential(nn.Linear(50, 100), nn.Linear(100, 100)), torch.randn(1, 50)))
    assert places(module) == [str(device), "PyTorch"]
    (refused,) = module.report.refusals
    assert refused.reason == "a tensor of 40.0 kB, and the device allocates at most 30.0 kB"


TWO_DEVICES = """
import torch
import ocl
net = torch.nn.Sequential(*(torch.nn.Linear(100, 100) for _ in range(3)), torch.nn.Hardtanh())
x = torch.randn(1, 100)
program = torch.export.export(net, (x,))
module = ocl.export.partition(program, ["ocl:0", "ocl:1"], memory=100_000)
assert [part.place for part in module.report.parts] == ["ocl:0", "ocl:1"], module.report
assert [part.device for part in module.children() if hasattr(part, "operators")] == [
    ocl.device("ocl:0"), ocl.device("ocl:1")
]
moved = module.report.refusals
assert [each.operator for each in moved][:1] == ["aten.linear.default"], moved
torch.testing.assert_close(module(x), net(x))
module(x).sum().backward()
net(x).sum().backward()
torch.testing.assert_close(module.get_parameter("0.weight").grad, net[0].weight.grad)
module = ocl.export.partition(program, ["ocl:0", "ocl:1"], memory=50_000)
assert [part.place for part in module.report.parts] == ["ocl:0", "ocl:1", "PyTorch"], module.report
assert "ocl:0: the memory is full" in module.report.refusals[-1].reason, module.report
assert "ocl:1: the memory is full" in module.report.refusals[-1].reason, module.report
torch.testing.assert_close(module(x), net(x))
print("done")
"""


def test_another_device_takes_what_the_first_cannot():
    assert processes.run(TWO_DEVICES, POCL_DEVICES="pthread pthread")[0] == "done\n"


def test_copies_and_modes():
    net, x = drawn(Spectrum).eval(), torch.randn(3, 16)
    module = partition(exported(net, x))
    again = copy.deepcopy(module)
    with torch.no_grad():
        again.get_parameter("first.weight").zero_()
    torch.testing.assert_close(module(x), net(x))
    assert not torch.allclose(again(x), net(x))
    assert again.report == module.report
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    assert {*module.state_dict()} == {*net.state_dict()}
    for change in (module.train, module.eval):
        with pytest.raises(NotImplementedError):
            change()


def test_what_is_refused():
    program = exported(nn.Linear(2, 2), torch.ones(1, 2))
    with pytest.raises(TypeError, match="partition: expected a torch.export.ExportedProgram, got Linear"):
        partition(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="partition: at least one device expected"):
        partition(program, [])
    with pytest.raises(ValueError, match="partition: memory: a number of bytes expected, got -1"):
        partition(program, memory=-1)
