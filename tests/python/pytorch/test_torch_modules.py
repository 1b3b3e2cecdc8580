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


def test_a_graph_that_is_alive_is_told():
    net = Tied().to("ocl")
    loss = net(torch.randn(3, 4).to("ocl")).sum()
    with pytest.warns(UserWarning, match="gets new parameters"):
        net.cpu()
    assert {t.device.type for t in net.parameters()} == {"cpu"}
    assert loss.item() == loss.item()


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
