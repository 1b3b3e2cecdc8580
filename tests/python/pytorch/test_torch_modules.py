"""Modules that move between the CPU and ocl devices."""

import warnings

import pytest

torch = pytest.importorskip("torch")


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.outer = torch.nn.Linear(4, 4)
        self.outer.weight = self.inner.weight
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        return self.outer(self.inner(x)) * self.scale


@pytest.mark.parametrize("move", [lambda m: m.to("ocl"), lambda m: m.ocl(), lambda m: m.to("ocl:0")])
def test_shared_parameters_stay_shared(move):
    net = Tied()
    weight = net.inner.weight
    move(net)
    assert net.inner.weight is net.outer.weight is weight
    assert {t.device.type for t in (*net.parameters(), *net.buffers())} == {"ocl"}
    assert len(list(net.parameters())) == 3
    net.cpu()
    assert net.inner.weight is net.outer.weight is weight and weight.device.type == "cpu"


def test_an_optimizer_made_before_trains():
    net = Tied()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = net.inner.weight.detach().clone()
    net.to("ocl")
    net(torch.randn(3, 4).to("ocl")).pow(2).sum().backward()
    optimizer.step()
    assert not torch.equal(net.inner.weight.detach().cpu(), before)


def test_gradients_come_along():
    net = Tied()
    net(torch.randn(3, 4)).sum().backward()
    gradient = net.inner.weight.grad.clone()
    net.to("ocl")
    assert net.inner.weight.grad.device.type == "ocl"
    assert torch.equal(net.inner.weight.grad.cpu(), gradient)


def test_a_graph_that_is_alive_does_not_matter():
    net = Tied().to("ocl")
    weight = net.inner.weight
    loss = net(torch.randn(3, 4).to("ocl")).sum()
    net.cpu()
    assert {t.device.type for t in net.parameters()} == {"cpu"} and net.inner.weight is weight
    assert loss.item() == loss.item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64, torch.complex64])
def test_data_moves_both_ways(dtype):
    x = torch.ones(3, dtype=dtype)
    kept, version = x, x._version
    for device in ("ocl:0", "cpu", "ocl:0"):
        x.data = x.data.to(device)
        assert kept.device == x.data.device == torch.device(device) and x.tolist() == [1, 1, 1]
    assert x._version == version
    x.data = torch.zeros(2, 2, device="ocl:0")
    assert x.shape == (2, 2) and x.dtype == torch.float32


def test_data_of_parameters_moves_between_steps():
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([p], 0.1)
    for expected, device in ((0.8, "ocl:0"), (0.6, "cpu"), (0.4, "ocl:0")):
        p.grad = None
        p.data = p.data.to(device)
        (p * 2).sum().backward()
        assert p.grad.device == p.device == torch.device(device)
        optimizer.step()
        assert p.tolist() == pytest.approx([expected] * 3)


def test_data_of_another_kind_is_refused():
    dense = torch.ones(2, 2, device="ocl")
    for other in (torch.eye(2).to_sparse(), torch.empty(2, 2, device="meta")):
        for a, b in ((dense, other), (other, dense)):
            with pytest.raises(RuntimeError, match="incompatible tensor type"):
                a.detach().data = b


@pytest.mark.parametrize("setting", ["swap", "overwrite"])
def test_the_ways_of_pytorch_to_convert(setting):
    change = getattr(torch.__future__, f"set_{setting}_module_params_on_conversion")
    net = torch.nn.Linear(2, 2)
    weight = net.weight
    change(True)
    try:
        net.to("ocl")
    finally:
        change(False)
    assert net.weight.device.type == "ocl" and (net.weight is weight) == (setting == "swap")
    assert net(torch.ones(1, 2, device="ocl")).device.type == "ocl"


def test_parametrizations_move():
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

    net = torch.nn.Linear(2, 2)
    torch.nn.utils.parametrize.register_parametrization(net, "weight", Symmetric())
    torch.nn.utils.parametrizations.weight_norm(other := torch.nn.Linear(2, 2))
    for module in (net, other):
        kept = list(module.parameters())
        for device in ("ocl", "cpu"):
            module.to(device)
            module(torch.ones(1, 2, device=device)).sum().backward()
            assert {p.grad.device.type for p in module.parameters()} == {device}
        assert all(a is b for a, b in zip(kept, module.parameters(), strict=True))


def test_other_conversions_are_pytorchs_own():
    net = Tied()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.double().float().to("cpu")
        torch.nn.Sequential().to("ocl")
        with torch.device("meta"):
            empty = Tied()
        empty.to_empty(device="ocl")
    assert empty.inner.weight.device.type == "ocl"
    weight = net.inner.weight
    assert net.to_empty(device="ocl").inner.weight is weight and weight.device.type == "ocl"
    assert not torch.__future__.get_swap_module_params_on_conversion()


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_lazy_modules_move_before_they_know_their_sizes():
    net = torch.nn.Sequential(
        torch.nn.LazyConv2d(3, 3), torch.nn.LazyBatchNorm2d(), torch.nn.Flatten(), torch.nn.LazyLinear(2)
    )
    net.to("ocl:0")
    net(torch.ones(2, 3, 5, 5, device="ocl:0")).sum().backward()
    assert {t.device.type for t in (*net.parameters(), *net.buffers())} == {"ocl"}
    assert net[3].weight.shape == (2, 27) and net[3].weight.grad.device.type == "ocl"


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_lazy_modules_stay_lazy_elsewhere():
    lazy = torch.nn.LazyLinear(3).to("ocl:0").cpu().double()
    assert torch.nn.parameter.is_lazy(lazy.weight)
    y = lazy(torch.ones(2, 5, dtype=torch.float64))
    assert y.dtype == torch.float64 and y.device.type == "cpu"
