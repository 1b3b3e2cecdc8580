"""Hooks of all modules, hooks that run after errors, and hooks before the backward pass, beside PyTorch's."""

import copy
import gc
import warnings

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs
    for library in LIBRARIES:  # nothing stays behind
        net = library.nn.Linear(1, 1)
        net(library.ones(1))
        assert not net._forward_hooks and not net._forward_pre_hooks
    assert ocl.nn.Module.__call__.__name__ == "__call__"


def hooks_of(library):

    return library.nn.modules.module


def net_of(library):
    """A net whose layers C++ calls, within a class of Python's."""

    class Net(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = library.nn.Sequential(
                library.nn.Linear(3, 4), library.nn.Sequential(library.nn.Tanh(), library.nn.Identity())
            )
            self.others = [library.nn.Linear(4, 2)]  # not registered

        def forward(self, x, scale=1.0):
            return self.others[0](self.body(x)) * scale

    net = Net()
    for p in (*net.parameters(), *net.others[0].parameters()):
        p.data.fill_(0.25)
    return net


def name(module):
    return type(module).__name__


def test_forward_hooks_of_all_modules():
    def play(library):
        seen, net, module = [], net_of(library), hooks_of(library)
        net.body[0].register_forward_hook(lambda m, args, out: seen.append(("own", name(m))))
        handles = [
            module.register_module_forward_pre_hook(lambda m, args: seen.append(("pre", name(m), len(args)))),
            module.register_module_forward_hook(lambda m, args, out: seen.append(("after", name(m)))),
            module.register_module_forward_hook(
                lambda m, args, kwargs, out: seen.append((name(m), sorted(kwargs))), with_kwargs=True
            ),
        ]
        # Its place is behind those of all modules even so.
        net.body[0].register_forward_hook(lambda m, args, out: seen.append("prepended"), prepend=True)
        net(library.ones(2, 3), scale=2.0)
        for handle in handles:
            handle.remove()
        net(library.ones(2, 3))
        return seen

    alike(play)


def test_what_they_return_replaces():
    def play(library):
        net, module = net_of(library), hooks_of(library)
        with (
            module.register_module_forward_pre_hook(lambda m, args: (args[0] + 1, *args[1:])),
            module.register_module_forward_hook(lambda m, args, out: out * 2),
        ):
            values = net(library.ones(1, 3), 0.5).tolist()
        return values, net(library.ones(1, 3)).tolist()

    alike(play)


def test_backward_hooks_of_all_modules():
    def play(library):
        seen, net, module = [], net_of(library), hooks_of(library)

        def shapes(gradients):
            return [None if g is None else (tuple(g.shape), round(g.sum().item(), 4)) for g in gradients]

        handles = [
            module.register_module_full_backward_pre_hook(
                lambda m, g: seen.append(("pre", name(m), shapes(g)))
            ),
            module.register_module_full_backward_hook(
                lambda m, gi, go: seen.append((name(m), shapes(gi), shapes(go)))
            ),
        ]
        net.others[0].register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,))
        net(library.ones(2, 3, requires_grad=True)).sum().backward()
        for handle in handles:
            handle.remove()
        return seen, [round(p.grad.sum().item(), 4) for p in net.parameters()]

    alike(play)


def test_hooks_before_a_backward_pass():
    def play(library):
        seen, net = [], net_of(library)
        first = net.others[0]
        handle = first.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
        first.register_full_backward_pre_hook(lambda m, g: seen.append(g[0].sum().item()))
        first.register_full_backward_pre_hook(lambda m, g: seen.append("prepended"), prepend=True)
        first.register_full_backward_hook(lambda m, gi, go: seen.append(("after", go[0].sum().item())))
        results = []
        for _ in range(2):
            x = library.ones(2, 3, requires_grad=True)
            net(x).sum().backward()
            results.append(x.grad.tolist())
            handle.remove()
        first._backward_pre_hooks.clear()
        first._backward_hooks.clear()
        return seen, results

    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def test_a_hook_before_a_backward_pass_of_several_outputs():
    def play(library):
        class Two(library.nn.Module):
            def forward(self, x):
                return x * 2, x.detach(), x * 3

        net, seen = Two(), []
        net.register_full_backward_pre_hook(
            lambda m, g: seen.append([None if each is None else each.tolist() for each in g])
        )
        x = library.ones(2, requires_grad=True)
        a, _, b = net(x)
        (a.sum() + (b * b).sum()).backward()
        with pytest.raises(RuntimeError, match="invalid number of grad_output"):
            net.register_full_backward_pre_hook(lambda m, g: g[:1])
            net(x)[0].sum().backward()
        net._backward_pre_hooks.clear()
        return seen, x.grad.tolist()

    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours[1] == theirs[1]
    for mine, its in zip(ours[0], theirs[0], strict=True):
        assert [m for m in mine if m] == [i for i in its if i and any(i)]


def failing(library):
    class Fails(library.nn.Module):
        def forward(self, x, *, c=0):
            if x.sum() < 0:
                raise ValueError("negative")
            return x

    return Fails()


@pytest.mark.parametrize("nested", [False, True])
def test_hooks_that_are_always_called(nested):
    def play(library):
        seen, module = [], failing(library)
        outer = library.nn.Sequential(library.nn.Identity(), module) if nested else module

        def watch(what):
            return lambda m, args, *rest: seen.append((what, args[0].tolist(), len(rest), rest[-1] is None))

        handles = [
            module.register_forward_hook(watch("plain")),
            module.register_forward_hook(watch("always"), always_call=True),
            module.register_forward_hook(watch("kwargs"), always_call=True, with_kwargs=True),
            module.register_forward_hook(watch("first"), always_call=True, prepend=True),
            hooks_of(library).register_module_forward_hook(
                lambda m, args, out: seen.append(("all", name(m), out is None)), always_call=True
            ),
        ]
        module.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
        outer(library.ones(2))
        with pytest.raises(ValueError, match="negative"):
            outer(-library.ones(2))
        for handle in handles:
            handle.remove()
        with pytest.raises(ValueError, match="negative"):
            outer(-library.ones(2))
        module._forward_pre_hooks.clear()
        return seen

    alike(play)


def test_an_error_in_a_hook_does_not_stop_those_that_are_always_called():
    def play(library):
        seen, module = [], failing(library)

        def fails(*_):
            seen.append("fails")
            raise KeyError("hook")

        module.register_forward_hook(lambda *_: seen.append("before"), always_call=True)
        module.register_forward_hook(fails)
        module.register_forward_hook(lambda m, args, out: seen.append(out.tolist()), always_call=True)
        with pytest.raises(KeyError):
            module(library.ones(1))
        module._forward_hooks.clear()
        module._forward_hooks_always_called.clear()
        module.register_forward_hook(fails, always_call=True)
        with warnings.catch_warnings(record=True) as caught, pytest.raises(ValueError, match="negative"):
            warnings.simplefilter("always")
            module(-library.ones(1))
        return seen, [str(w.message) for w in caught]

    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("prepend", [False, True])
@pytest.mark.parametrize("with_kwargs", [False, True])
@pytest.mark.parametrize("always_call", [False, True])
def test_all_combinations(prepend, with_kwargs, always_call):
    def play(library):
        seen, module = [], failing(library)
        handles = [
            module.register_forward_hook(lambda *_: seen.append("first")),
            module.register_forward_hook(
                lambda *given: seen.append(len(given)),
                prepend=prepend,
                with_kwargs=with_kwargs,
                always_call=always_call,
            ),
            module.register_forward_pre_hook(lambda *_: seen.append("pre")),
            module.register_forward_pre_hook(
                lambda *given: seen.append(len(given)), prepend=prepend, with_kwargs=with_kwargs
            ),
        ]
        module(library.ones(1), c=1)
        for handle in handles:
            handle.remove()
        module(library.ones(1))
        return seen

    alike(play)


def test_copies_keep_hooks_that_are_always_called():
    def play(library):
        seen, module = [], failing(library)
        handle = module.register_forward_hook(lambda *_: seen.append("called"), always_call=True)
        other = copy.deepcopy(module)
        for each in (module, other):
            with pytest.raises(ValueError, match="negative"):
                each(-library.ones(1))
        handle.remove()
        return seen

    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs
    gc.collect()


def test_parameters_and_buffers_and_modules_that_are_registered():
    def play(library):
        seen, module = [], hooks_of(library)
        handles = [
            module.register_module_parameter_registration_hook(
                lambda m, n, p: seen.append((name(m), n, None if p is None else tuple(p.shape)))
            ),
            module.register_module_buffer_registration_hook(
                lambda m, n, b: seen.append((name(m), n, None if b is None else tuple(b.shape)))
            ),
            module.register_module_module_registration_hook(
                lambda m, n, child: seen.append((name(m), n, name(child)))
            ),
        ]
        nn = library.nn
        net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        net.append(nn.BatchNorm1d(3))
        net.add_module("extra", nn.Identity())
        net.free = nn.Parameter(library.ones(1))
        net.register_parameter("none", None)
        net.register_buffer("kept", library.ones(2))
        nn.ModuleList([nn.Identity()]).append(nn.Tanh())
        nn.ModuleDict({"a": nn.Identity()})["b"] = nn.Tanh()
        nn.Embedding(3, 2)

        class Own(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(1, 1, bias=False)
                self.weight = nn.Parameter(library.ones(4))

        Own()
        for handle in handles:
            handle.remove()
        nn.Linear(1, 1)
        return sorted(map(str, seen))

    alike(play)


def test_registration_hooks_replace():
    def play(library):
        module = hooks_of(library)
        nn = library.nn
        with module.register_module_parameter_registration_hook(
            lambda m, n, p: None if p is None else nn.Parameter(p.detach() * 0 + 7)
        ):
            layer = nn.Linear(2, 1)
            layer.own = nn.Parameter(library.ones(1))
        with module.register_module_module_registration_hook(
            lambda m, n, child: nn.Identity() if type(child) is nn.Tanh else None
        ):
            net = nn.Sequential(nn.Tanh(), nn.ReLU())
            net.last = nn.Tanh()
        # A constructor of PyTorch's draws what was put in its place, ours has drawn before.
        return layer.own.tolist(), len(list(layer.parameters())), [name(c) for c in net.children()]

    alike(play)


def test_a_global_hook_counts_activations():
    """Tools that print the sizes of all layers do it so."""
    sizes = []
    model = ocl.models.resnet18(num_classes=3).eval()
    with ocl.nn.modules.module.register_module_forward_hook(
        lambda m, args, out: sizes.append((name(m), tuple(out.shape)))
    ):
        model(ocl.zeros(1, 3, 32, 32))
    assert len(sizes) == len(list(model.modules())) + 8  # the ReLU of each block runs twice
    assert sizes[0] == ("Conv2d", (1, 64, 16, 16)) and sizes[-1] == ("ResNet", (1, 3))
    before = len(sizes)
    np.testing.assert_array_equal(model(ocl.zeros(1, 3, 32, 32)).shape, (1, 3))
    assert len(sizes) == before
