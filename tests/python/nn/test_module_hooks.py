"""Forward hooks and pre-hooks: what they see and replace, their order, and that they can be removed."""

import gc
import weakref

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def net_class(library):
    class Net(library.nn.Module):
        def forward(self, a, b=1.0, *, c=2.0):
            return a + b + c

    return Net


def test_order_and_replacement():
    def play(library):
        net = net_class(library)()
        seen = []

        def watch(name):
            return lambda module, args, output: seen.append((name, module is net, len(args), output.item()))

        net.register_forward_hook(watch("first"))
        net.register_forward_hook(lambda module, args, output: output * 10)
        net.register_forward_hook(watch("last"))
        net.register_forward_hook(watch("prepended"), prepend=True)
        net.register_forward_pre_hook(lambda module, args: (args[0] + 5, *args[1:]))
        net.register_forward_pre_hook(lambda module, args: args[0] * 2)  # one value stands for a tuple
        return net(library.ones(1)).item(), seen

    alike(play)


def test_keyword_arguments():
    def play(library):
        net = net_class(library)()
        seen = []
        net.register_forward_pre_hook(
            lambda module, args, kwargs: (args, {**kwargs, "c": kwargs["c"] + 1}), with_kwargs=True
        )
        net.register_forward_hook(
            lambda module, args, kwargs, output: seen.append((len(args), sorted(kwargs), kwargs["c"])),
            with_kwargs=True,
        )
        return net(library.ones(1), b=3.0, c=4.0).item(), seen

    alike(play)


@pytest.mark.parametrize("kind", ["register_forward_hook", "register_forward_pre_hook"])
def test_removal(kind):
    def play(library):
        net = net_class(library)()
        calls = []
        handle = getattr(net, kind)(lambda *_: calls.append("kept"))
        with getattr(net, kind)(lambda *_: calls.append("while")):
            net(library.ones(1))
        net(library.ones(1))
        handle.remove()
        handle.remove()
        net(library.ones(1))
        return calls

    alike(play)


def test_a_hook_may_remove_itself():
    def play(library):
        net = net_class(library)()
        calls = []

        def once(*_):
            calls.append(1)
            handle.remove()

        handle = net.register_forward_hook(once)
        net.register_forward_hook(lambda *_: calls.append(2))
        net(library.ones(1))
        net(library.ones(1))
        return calls

    alike(play)


def test_an_error_in_a_hook_arrives():
    net = net_class(ocl)()
    net.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        net(ocl.ones(1))


def test_hooks_run_inside_containers():
    linear, shapes = ocl.nn.Linear(2, 3), []
    linear.register_forward_hook(lambda module, args, output: shapes.append(output.shape))
    ocl.nn.Sequential(ocl.nn.Sequential(linear), ocl.nn.ReLU())(ocl.ones(4, 2))
    assert shapes == [(4, 3)]


# --- full backward hooks


def rounded(gradients):
    return [None if g is None else np.round(g.numpy(), 4).tolist() for g in gradients]


def two_linears(library):
    net = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.Linear(2, 1))
    with library.no_grad():
        for p in net.parameters():
            p.copy_(library.tensor(np.arange(p.numel(), dtype=np.float32).reshape(tuple(p.shape)) + 1))
    return net


@pytest.mark.parametrize("of_input", [True, False], ids=["input asks", "input does not"])
def test_a_backward_hook_sees_both_ends(of_input):
    def play(library):
        net = two_linears(library)
        seen = []
        for layer in net:
            layer.register_full_backward_hook(
                lambda module, grad_input, grad_output: seen.append(
                    (rounded(grad_input), rounded(grad_output))
                )
            )
        x = library.tensor([[1.0, -2.0]], requires_grad=of_input)
        net(x).sum().backward()
        return seen, rounded([p.grad for p in net.parameters()]), rounded([x.grad])

    alike(play)


def test_a_backward_hook_replaces_and_goes():
    def play(library):
        net = two_linears(library)
        x = library.tensor([[1.0, -2.0]], requires_grad=True)
        handle = net[1].register_full_backward_hook(
            lambda module, grad_input, grad_output: (grad_input[0] * 10,)
        )
        net(x).sum().backward()
        first = rounded([x.grad])
        handle.remove()
        x.grad = None
        net(x).sum().backward()
        return first, rounded([x.grad])

    alike(play)


def test_a_backward_hook_of_several_tensors():
    def play(library):
        class Net(library.nn.Module):
            def forward(self, a, n, b):
                return a * b, a + n

        net = Net()
        seen = []
        net.register_full_backward_hook(lambda _, gi, go: seen.append((rounded(gi), rounded(go))))
        a, b = (library.tensor([v], requires_grad=True) for v in (2.0, 3.0))
        y, z = net(a, 1.0, b)
        (y + 2 * z).backward()
        return seen, a.grad.item(), b.grad.item()

    alike(play)


def test_a_module_watched_by_hooks_is_freed():
    net = two_linears(ocl)
    gone = weakref.ref(net)
    net.register_full_backward_hook(lambda *_: None)
    loss = net(ocl.ones(1, 2)).sum()
    loss.backward()
    del loss, net
    gc.collect()
    assert gone() is None
