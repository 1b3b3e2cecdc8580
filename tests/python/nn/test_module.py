"""Module: registration, traversal, modes, hooks and subclasses in Python, each as PyTorch does it."""

import gc
import weakref
from collections import OrderedDict

import numpy as np
import pytest
import torch
from support import expect_exact, repr_without_norm_bias

import ocl


def net_class(library):
    """A net for either library."""
    nn = library.nn

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.scale = nn.Parameter(library.ones(width))
            self.register_buffer("shift", library.zeros(width))

        def forward(self, x):
            return self.linear(x) * self.scale + self.shift

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
            self.block = Block(3)
            self.norm = nn.BatchNorm1d(3)
            self.weight = nn.Parameter(library.ones(3))
            self.plain = library.ones(1)  # a tensor that is no parameter stays out
            self.count = 5

        def forward(self, x):
            return self.norm(self.block(self.first(x))) * self.weight

    return Net


@pytest.fixture
def nets():
    torch.manual_seed(0)
    theirs, ours = net_class(torch)(), net_class(ocl)()
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def names(pairs):
    return [name for name, _ in pairs]


@pytest.mark.parametrize("listing", ["named_parameters", "named_children", "named_modules"])
def test_names_in_torchs_order(nets, listing):
    ours, theirs = nets
    assert names(getattr(ours, listing)()) == names(getattr(theirs, listing)())


@pytest.mark.parametrize("listing", ["parameters", "children", "modules"])
def test_listings_without_names(nets, listing):
    ours, _ = nets
    for one, (_, same) in zip(getattr(ours, listing)(), getattr(ours, f"named_{listing}")(), strict=True):
        assert one is same or bool((one == same).all())


def test_buffers(nets):
    ours, _ = nets
    assert [name for name in names(ours.named_buffers()) if "num_batches" not in name] == [
        "block.shift",
        "norm.running_mean",
        "norm.running_var",
    ]
    assert len(list(ours.buffers())) == len(list(ours.named_buffers()))


def test_state_dict_keys(nets):
    ours, theirs = nets
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_repr(nets):
    ours, theirs = nets
    assert repr_without_norm_bias(ours) == repr_without_norm_bias(theirs)


def test_forward_and_backward(nets):
    # In training the norm takes out what the layers before it add: gradients of nothing but rounding errors.
    ours, theirs = (net.eval() for net in nets)
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    (ours(ocl.tensor(x)) ** 2).sum().backward()
    (theirs(torch.tensor(x)) ** 2).sum().backward()
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-3, atol=1e-4, err_msg=name)


def test_attributes_read_back():
    net = net_class(ocl)()
    assert net.first is net.first and isinstance(net.first[0], ocl.nn.Linear)
    assert net.count == 5 and net.plain.shape == (1,)
    assert net.weight.requires_grad and net.weight.is_leaf
    net.count = 6
    assert net.count == 6
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'missing'"):
        net.missing  # noqa: B018
    assert not hasattr(net, "missing")


def test_a_new_value_replaces_the_old_in_its_place():
    net = net_class(ocl)()
    order = list(net.state_dict())
    net.weight = ocl.nn.Parameter(ocl.full((3,), 7.0))
    net.first = ocl.nn.Sequential(ocl.nn.Linear(4, 3), ocl.nn.ReLU())
    assert list(net.state_dict()) == order
    expect_exact(net.state_dict()["weight"], [7, 7, 7])


def test_a_layers_own_weight_can_be_replaced():
    """Weight tying: the layer must compute with what was assigned."""
    first, second = ocl.nn.Linear(2, 2, bias=False), ocl.nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    x = ocl.randn(3, 2)
    expect_exact(second(x), first(x))
    second(x).sum().backward()
    assert first.weight.grad is not None
    both = ocl.nn.Sequential(first, second)
    assert len(list(both.parameters())) == 1
    assert list(both.state_dict()) == ["0.weight", "1.weight"]


def test_a_bias_can_be_taken_away():
    linear = ocl.nn.Linear(2, 2)
    linear.bias = None
    assert linear.bias is None and list(linear.state_dict()) == ["weight"]
    x = ocl.randn(3, 2)
    expect_exact(linear(x), x @ linear.weight.t())


def test_what_a_layer_does_without_is_none():
    assert ocl.nn.Linear(2, 2, bias=False).bias is None
    norm = ocl.nn.BatchNorm2d(2, affine=False, track_running_stats=False)
    assert norm.weight is None and norm.running_mean is None


def test_a_plain_tensor_does_not_replace_a_parameter():
    linear = ocl.nn.Linear(2, 2)
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'weight'"):
        linear.weight = ocl.zeros(2, 2)


def test_a_child_is_not_replaced_by_something_else():
    net = net_class(ocl)()
    with pytest.raises(TypeError, match="child module 'first'"):
        net.first = 5


def test_an_assigned_buffer_is_the_buffer():
    class Counter(ocl.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", ocl.zeros(1))

        def forward(self, x):
            self.count = self.count + 1
            return x

    counter = Counter()
    counter(counter(ocl.ones(1)))
    assert counter.state_dict()["count"].item() == 2
    assert counter.count.item() == 2


def test_a_module_takes_the_place_of_a_plain_attribute():
    class Net(ocl.nn.Module):
        def __init__(self):
            super().__init__()
            self.downsample = None
            self.scale = None
            self.downsample = ocl.nn.ReLU()
            self.scale = ocl.nn.Parameter(ocl.ones(1))

    net = Net()
    assert isinstance(net.downsample, ocl.nn.ReLU)
    assert net.scale.requires_grad


def test_registering_by_name():
    module = ocl.nn.Module()
    module.register_parameter("p", ocl.nn.Parameter(ocl.ones(2)))
    module.register_parameter("none", None)
    module.register_buffer("b", ocl.zeros(1))
    module.add_module("child", ocl.nn.Linear(1, 1))
    assert list(module.state_dict()) == ["p", "b", "child.weight", "child.bias"]
    assert module.none is None
    for name in ("", "a.b"):
        with pytest.raises(ValueError, match="without '.'"):
            module.register_parameter(name, ocl.nn.Parameter(ocl.ones(1)))


def test_a_subclass_must_call_its_base():
    class Net(ocl.nn.Module):
        def __init__(self):
            self.linear = ocl.nn.Linear(1, 1)

    with pytest.raises((TypeError, AttributeError), match="__init__"):
        Net()


def test_a_module_without_forward_says_so():
    class Net(ocl.nn.Module):
        pass

    with pytest.raises((TypeError, NotImplementedError), match="Net.*forward"):
        Net()(ocl.ones(1))


def test_forward_takes_and_gives_what_it_likes():
    class Net(ocl.nn.Module):
        def forward(self, a, b=1, *, c=2):
            return {"sum": a + b + c}

    assert Net()(ocl.ones(1), 2, c=3)["sum"].item() == 6


# --- subclasses of the layers themselves


class Plus100(ocl.nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.extra = 100.0

    def forward(self, x):
        return super().forward(x) + self.extra

    def extra_repr(self):
        return "plus 100"


def test_an_overridden_forward_runs_inside_sequential():
    sequential = ocl.nn.Sequential(Plus100(), ocl.nn.Identity())
    gc.collect()  # nobody but the container holds the layer
    x = ocl.randn(3, 2)
    layer = sequential[0]
    expect_exact(sequential(x), x @ layer.weight.t() + layer.bias + 100.0)
    assert isinstance(layer, Plus100)
    assert "(0): Plus100(plus 100)" in repr(sequential)


@pytest.mark.parametrize(
    "add",
    [
        lambda net, child: net.append(child),
        lambda net, child: net.add_module("0", child),
        lambda net, child: setattr(net, "0", child),
    ],
    ids=["append", "add_module", "setattr"],
)
def test_a_container_keeps_what_python_added(add):
    net = ocl.nn.Sequential()
    add(net, Plus100())
    gc.collect()
    assert net[0].extra == 100
    net[0].extra = 200.0
    gc.collect()
    assert next(net.children()).extra == 200


def test_a_sequential_of_ones_own():
    class Residual(ocl.nn.Sequential):
        def forward(self, x):
            return x + super().forward(x)

    net = ocl.nn.Sequential(Residual(ocl.nn.Identity()), Residual(ocl.nn.Identity()))
    expect_exact(net(ocl.ones(2)), [4, 4])


def test_a_module_goes_with_its_last_reference():
    net = net_class(ocl)()
    child, weight = weakref.ref(net.block), ocl.memory_allocated()
    assert child() is not None
    del net
    gc.collect()
    assert child() is None
    assert ocl.memory_allocated() < weight


# --- Sequential


def test_sequential_like_torch():
    def build(nn):
        return nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))

    ours, theirs = build(ocl.nn), build(torch.nn)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    assert len(ours) == 2 and [type(m).__name__ for m in ours] == ["Linear", "ReLU"]
    assert isinstance(ours[-1], ocl.nn.ReLU) and isinstance(ours.a, ocl.nn.Linear)
    for index in (2, -3):
        with pytest.raises(IndexError, match=str(index)):
            ours[index]


def test_an_empty_sequential_is_the_identity():
    expect_exact(ocl.nn.Sequential()(ocl.ones(2)), [1, 1])
    assert repr(ocl.nn.Sequential()) == repr(torch.nn.Sequential())


# --- walks and modes


def test_apply_visits_children_first(nets):
    visited = []
    for net in nets:
        kinds = []
        assert net.apply(lambda m, kinds=kinds: kinds.append(type(m).__name__)) is net
        visited.append(kinds)
    assert visited[0] == visited[1]


def test_a_shared_module_is_listed_once():
    def listed(nn):
        shared = nn.ReLU()
        return names(nn.Sequential(shared, nn.Sequential(shared)).named_modules())

    assert listed(ocl.nn) == listed(torch.nn)


def test_train_and_eval_reach_every_module(nets):
    ours, _ = nets
    assert ours.training and all(m.training for m in ours.modules())
    assert ours.eval() is ours
    assert not any(m.training for m in ours.modules())
    assert ours.train() is ours
    assert all(m.training for m in ours.modules())
    ours.block.train(False)
    assert ours.training and not ours.block.linear.training


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad(nets, set_to_none):
    ours, _ = nets
    ours(ocl.randn(5, 4)).sum().backward()
    ours.zero_grad(set_to_none)
    for p in ours.parameters():
        assert p.grad is None if set_to_none else not p.grad.numpy().any()


def test_requires_grad_freezes(nets):
    ours, _ = nets
    ours.block.requires_grad_(False)
    ours(ocl.randn(5, 4)).sum().backward()
    assert ours.block.scale.grad is None and ours.weight.grad is not None


def test_to_a_dtype_keeps_the_handles(nets):
    ours, _ = nets
    weight = ours.weight
    assert ours.to(ocl.float16) is ours
    assert weight.dtype == ocl.float16 and ours.norm.running_mean.dtype == ocl.float16
    assert ours.state_dict()["norm.num_batches_tracked"].dtype == ocl.int64
    ours.to(ocl.float32)(ocl.randn(5, 4)).sum().backward()
    assert weight.grad.dtype == ocl.float32
    with pytest.raises(TypeError, match="floating.*int64"):
        ours.to(ocl.int64)


def test_to_the_device_it_is_on(nets, device):
    ours, _ = nets
    weight = ours.weight
    before = ours.weight.detach().numpy()
    assert ours.to(device) is ours
    expect_exact(weight, before)
    with pytest.raises(ocl.DeviceError, match="ocl:99"):
        ours.to("ocl:99")


# --- hooks


def test_a_forward_hook_sees_and_replaces():
    linear = ocl.nn.Linear(2, 2)
    seen = []

    def watch(module, arguments, output):
        seen.append((module is linear, len(arguments), output.shape))

    linear.register_forward_hook(watch)
    linear.register_forward_hook(lambda module, arguments, output: output * 0 + 5)
    expect_exact(ocl.nn.Sequential(linear)(ocl.ones(3, 2)), np.full((3, 2), 5))
    assert seen == [(True, 1, (3, 2))]


def test_a_hook_of_a_python_module():
    net = net_class(ocl)()
    shapes = []
    net.block.register_forward_hook(lambda module, arguments, output: shapes.append(output.shape))
    net(ocl.randn(5, 4))
    assert shapes == [(5, 3)]


# --- Parameter


def test_parameter_is_a_leaf_that_shares_its_data():
    data = ocl.tensor([1.0, 2.0])
    p = ocl.nn.Parameter(data)
    assert p.is_leaf and p.requires_grad and not data.requires_grad
    with ocl.no_grad():
        data.fill_(9)
    expect_exact(p, [9, 9])
    assert not ocl.nn.Parameter(data, requires_grad=False).requires_grad
    assert ocl.nn.Parameter(p * 2).is_leaf


def test_a_frozen_parameter_is_registered_all_the_same():
    module = ocl.nn.Module()
    module.scale = ocl.nn.Parameter(ocl.ones(1), requires_grad=False)
    assert not next(module.parameters()).requires_grad
