"""Batch norm, the addition and the activation after it run as one operator where that changes nothing."""

import numpy as np
import pytest

import ocl
from ocl import nn

FUSED = "batch_norm_activation"


def operators_of(call):
    with ocl.profiler.record_calls() as recorded:
        result = call()
    return result, [c.name for c in recorded.calls if c.kind == "operator"]


def images(rng, channels=4):
    return ocl.tensor(rng.uniform(-2, 3, (3, channels, 5, 6)).astype(np.float32), requires_grad=True)


def results(net, x):
    """The output and all gradients of a step."""
    net.zero_grad()
    x.grad = None
    y = net(x)
    (y * y).sum().backward()
    return [y.detach().numpy(), x.grad.numpy(), *(p.grad.numpy() for p in net.parameters())]


def assert_equal(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, e)


def watched(net):
    """That net with a hook on each norm, which keeps its modules apart."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d | nn.BatchNorm1d):
            module.register_forward_hook(lambda *_: None)
    return net


@pytest.mark.parametrize("activation", [nn.SiLU, nn.Sigmoid, nn.Hardswish])
def test_a_sequential_gives_the_same_numbers(activation, rng):
    net = nn.Sequential(nn.BatchNorm2d(4), activation(), nn.BatchNorm2d(4), activation())
    x = images(rng)
    ours, names = operators_of(lambda: results(net, x))
    assert names.count(FUSED) == 2
    apart, names = operators_of(lambda: results(watched(net), x))
    assert FUSED not in names
    for a, e in zip(ours, apart, strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-6 * max(1, abs(e).max()))


@pytest.mark.parametrize("activation", [nn.SiLU, nn.ReLU])
def test_rows_of_channels(activation, rng):
    net = nn.Sequential(nn.BatchNorm1d(19), activation())
    x = ocl.tensor(rng.uniform(-2, 3, (130, 19)).astype(np.float32), requires_grad=True)
    ours, names = operators_of(lambda: results(net, x))
    assert names.count(FUSED) == 1
    for a, e in zip(ours, results(watched(net), x), strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=2e-6 * max(1, abs(e).max()))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.ReLU6])
def test_a_sequential_gives_the_same_bits(activation, training, rng):
    net = nn.Sequential(nn.BatchNorm2d(4), activation(inplace=True), nn.BatchNorm2d(4), activation())
    for p in net.parameters():
        p.data.copy_(ocl.tensor(rng.uniform(0.5, 4, p.shape).astype(np.float32)))
    net.train(training)
    state = {name: t.clone() for name, t in net.state_dict().items()}
    x = images(rng)
    ours, names = operators_of(lambda: results(net, x))
    assert names.count(FUSED) == 2
    after = [t.numpy() for t in net.state_dict().values()]
    net.load_state_dict(state)
    apart, names = operators_of(lambda: results(watched(net), x))
    assert FUSED not in names
    assert_equal(ours, apart)
    assert_equal(after, [t.numpy() for t in net.state_dict().values()])


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_blocks_of_resnets_give_the_same_bits(name, rng):
    ocl.manual_seed(0)
    block = getattr(ocl.models, name)().layer2[0]
    block.train()
    x = images(rng, 64 if name == "resnet18" else 256)
    ours, names = operators_of(lambda: results(block, x))
    assert names.count(FUSED) == (2 if name == "resnet18" else 3)
    apart, names = operators_of(lambda: results(watched(block), x))
    assert FUSED not in names
    assert_equal(ours, apart)


class Doubled(nn.ReLU):
    def forward(self, x):
        return super().forward(x) * 2


class Shifted(nn.BatchNorm2d):
    def forward(self, x):
        return super().forward(x) + 1


def test_classes_of_the_users_own_are_called(rng):
    x = images(rng)
    for net in (nn.Sequential(nn.BatchNorm2d(4), Doubled()), nn.Sequential(Shifted(4), nn.ReLU())):
        y, names = operators_of(lambda net=net: net(x))
        assert FUSED not in names
        np.testing.assert_array_equal(y.detach().numpy(), net[1](net[0](x)).detach().numpy())


def test_a_forward_that_was_put_on_a_module_is_called(rng):
    net = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU())
    for own in (lambda x: x * 3, nn.LeakyReLU().forward):
        net[1].forward = own
        y, names = operators_of(lambda: net(images(rng)))
        assert FUSED not in names
        assert y.detach().numpy().min() < 0


def test_a_forward_that_was_put_on_a_class_is_called(monkeypatch, rng):
    net = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU())
    monkeypatch.setattr(nn.ReLU, "forward", lambda self, x: x * 3)
    assert net(images(rng)).detach().numpy().min() < 0


@pytest.mark.parametrize("where", ["norm", "activation"])
@pytest.mark.parametrize("kind", ["forward", "forward_pre", "full_backward"])
def test_hooks_are_called(where, kind, rng):
    net = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU())
    seen = []
    module = net[0 if where == "norm" else 1]
    handle = getattr(module, f"register_{kind}_hook")(lambda *_: seen.append(1) and None)
    results(net, images(rng))
    assert seen == [1]
    handle.remove()
    _, names = operators_of(lambda: results(net, images(rng)))
    assert FUSED in names
    assert seen == [1]


def test_another_activation_in_a_resnet_is_called(rng):
    ocl.manual_seed(0)
    block = ocl.models.resnet18().layer1[0]
    block.relu = nn.SiLU()
    x = images(rng, 64)
    y = block.bn2(block.conv2(block.relu(block.bn1(block.conv1(x)))))
    np.testing.assert_array_equal(block(x).detach().numpy(), block.relu(y + x).detach().numpy())


def test_a_step_takes_no_more_memory(rng):
    """Without a hook the parts run as one: the peak is at most that of the parts."""
    x = images(rng, 64)

    def peak(net):
        results(net, x)
        ocl.synchronize()
        ocl.reset_peak_memory_stats()
        before = ocl.memory_allocated()
        results(net, x)
        return ocl.max_memory_allocated() - before

    ocl.manual_seed(0)
    block = ocl.models.resnet18().layer1[0]
    assert peak(block) <= peak(watched(block))


def test_an_activation_that_there_is_not(rng):
    x = images(rng)
    call = ocl.nn.functional.batch_norm_activation
    with pytest.raises(ValueError, match="rely"):
        call(x, None, None, training=True, activation="rely")
    with pytest.raises(ValueError, match="batch_norm_activation: add is not a function of one input alone"):
        call(x, None, None, training=True, activation="add")
