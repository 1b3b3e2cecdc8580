"""Modules in a circle: walks end or say so, and Python's collector frees them with their memory."""

import functools
import gc
import weakref

import pytest
import torch
from processes import run
from support import leaf

import ocl
from ocl import nn

SIZE = 1 << 14
BYTES = 4 * SIZE


def circle(lib):
    parent, child = lib.nn.Sequential(lib.nn.ReLU()), lib.nn.Linear(2, 2)
    parent.child = child
    child.parent = parent
    return parent


WALKS = {
    "modules": lambda net: len(list(net.modules())),
    "named_modules": lambda net: [name for name, _ in net.named_modules()],
    "parameters": lambda net: len(list(net.parameters())),
    "children": lambda net: len(list(net.child.children())),
    "train": lambda net: net.train() and None,
    "eval": lambda net: net.eval() and None,
    "apply": lambda net: net.apply(lambda m: None) and None,
    "repr": lambda net: repr(net) and None,
    "state_dict": lambda net: net.state_dict() and None,
    "with duplicates": lambda net: list(net.named_modules(remove_duplicate=False)) and None,
}


@pytest.mark.parametrize("walk", WALKS)
def test_walks_over_a_circle(walk):
    def outcome(lib):
        try:
            return WALKS[walk](circle(lib))
        except RecursionError:
            return "endless"

    assert outcome(ocl) == outcome(torch)


def test_a_module_within_itself():
    net = nn.ReLU()
    net.me = net
    assert net.me is net and len(list(net.modules())) == 1
    with pytest.raises(RecursionError, match="contains itself.*'me'"):
        net.train()


DEEP = """
import ocl
from ocl import nn
net = nn.Sequential(nn.ReLU())
for _ in range(20000):
    net = nn.Sequential(net)
for walk in (repr, lambda n: n.train(), lambda n: n.apply(id), lambda n: n(ocl.ones(1))):
    try:
        walk(net)
    except RecursionError:
        pass
del net
print("done")
"""


def test_a_deep_nest_does_not_overflow_the_stack():
    output, _ = run(DEEP)
    assert output.split() == ["done"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(SIZE // 8, 8, bias=False)

    def forward(self, x):
        return self.body(x)


def with_registered_parent(net):
    net.body.parent = net


def with_listed_parent(net):
    net.body.parent = [net]


def with_forward_hook(net):
    net.register_forward_hook(lambda *_: net)


def with_method_as_hook(net):
    net.body.register_forward_hook(functools.partial(lambda m, *_: None, net))


def with_hook_of_a_parameter(net):
    net.body.weight.register_hook(lambda g: net and None)


def with_method_as_hook_of_a_parameter(net):
    net.body.weight.register_hook(net.__call__)


def with_kept_output(net):
    net.register_full_backward_hook(lambda *_: None)
    net.last = net(ocl.ones(1, SIZE // 8, requires_grad=True)) * 2


def with_hook_of_a_kept_output(net):
    net.last = net(ocl.ones(1, SIZE // 8)).exp()
    net.last.register_hook(lambda g: net.last)


@pytest.mark.parametrize(
    "tie",
    [
        with_registered_parent,
        with_listed_parent,
        with_forward_hook,
        with_method_as_hook,
        with_hook_of_a_parameter,
        with_method_as_hook_of_a_parameter,
        with_kept_output,
        with_hook_of_a_kept_output,
    ],
)
def test_modules_in_reference_cycles_are_freed(tie, device):
    gc.collect()
    start = ocl.memory_allocated(device)
    gone = []
    for _ in range(3):
        net = Net()
        tie(net)
        gone.append(weakref.ref(net))
    assert ocl.memory_allocated(device) >= start + 3 * BYTES
    gc.collect()
    assert gone[-1]() is net, "the collector took what is still in use"
    del net
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3
    assert ocl.memory_allocated(device) == start


def test_what_a_cycle_holds_works_on_until_it_goes():
    net = Net()
    with_kept_output(net)
    with_hook_of_a_parameter(net)
    gc.collect()
    net.last.sum().backward()
    assert net.body.weight.grad is not None


def function_that_keeps(what):
    class Keeps(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.kept = y if what == "output" else ctx
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Keeps


@pytest.mark.parametrize("what", ["output", "context"])
@pytest.mark.parametrize("is_used_further", [False, True])
def test_functions_that_keep_their_output_are_freed(what, is_used_further, device):
    gc.collect()
    start = ocl.memory_allocated(device)
    x = ocl.ones(SIZE, requires_grad=True)
    y = function_that_keeps(what).apply(x)
    result = (y + y).relu() if is_used_further else y
    gc.collect()
    result.sum().backward()
    assert x.grad[0].item() == (4 if is_used_further else 2)
    del x, y, result
    gc.collect()
    assert ocl.memory_allocated(device) == start


@pytest.mark.parametrize("is_leaf", [False, True])
def test_tensors_in_cycles_with_their_hooks_are_freed(is_leaf, device):
    gc.collect()
    start = ocl.memory_allocated(device)
    x = ocl.ones(SIZE, requires_grad=True)
    y = x if is_leaf else x.exp()
    y.register_hook(lambda g, y=y: y)
    y.register_hook(y.mul)
    del x, y
    gc.collect()
    assert ocl.memory_allocated(device) == start


def test_a_hook_that_others_need_stays():
    x = leaf([1.0])
    y = x * 2
    seen = []
    y.register_hook(lambda g, y=y: seen.append((y.shape, g.item())))
    total = y.sum()
    del y
    gc.collect()
    total.backward()
    assert seen == [((1,), 1.0)]


FIRST_OBJECTS = """
import gc
import ocl
from ocl import nn

gc.set_threshold(1)  # the collector runs wherever it may
for base, arguments in ((nn.Module, ()), (nn.Linear, (2, 3)), (nn.Sequential, ()), (ocl.Tensor, ([1.0],))):
    for i in range(20):
        made = type("Own", (base,), {})(*arguments)
        assert isinstance(made, base)
print("made")
"""


def test_the_collector_meets_the_first_object_of_a_class_half_made():
    assert run(FIRST_OBJECTS)[0] == "made\n"
