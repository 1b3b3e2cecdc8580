"""Which gradients are asked for, chains that are deep, graphs that are walked twice, hooks that end."""

import pytest
import torch
from support import expect_exact, leaf

import ocl

DEPTH = 10_000


def test_a_deep_chain():
    """Forward, backward and destruction take no stack for each node."""
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(DEPTH):
        y = y * 1.0
    y.sum().backward()
    expect_exact(x.grad, [1, 1])
    del y


def test_a_deep_chain_that_is_dropped_or_written_in_place():
    x = leaf([1.0, 2.0])
    y = x + 0
    for _ in range(DEPTH):
        y = y + 1
    del y
    z = x * 1
    for _ in range(DEPTH // 10):
        z[:1].add_(1)  # every write joins the history of the whole
    z.sum().backward()
    expect_exact(x.grad, [1, 1])


SAVING = {
    "add": (lambda x: x + 1, True),
    "neg": (lambda x: -x, True),
    "sum": (lambda x: x.sum(), True),
    "view": (lambda x: x.view(-1), True),
    "exp": (lambda x: x.exp(), False),
    "square": (lambda x: x * x, False),
}


@pytest.mark.parametrize("name", SAVING)
def test_a_graph_that_saved_nothing_is_walked_twice(name):
    function, twice = SAVING[name]
    for lib in (torch, ocl):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = function(x)
        g = lib.ones(*y.shape) if y.ndim else None
        y.backward(g)
        first = x.grad.tolist()
        if not twice:
            with pytest.raises(RuntimeError, match="second time"):
                y.backward(g)
            continue
        y.backward(g)
        assert x.grad.tolist() == [2 * v for v in first]


def test_grad_of_several_outputs_and_inputs():
    results = []
    for lib in (torch, ocl):
        x, y = (lib.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
        a, b = x * y, x + 2 * y
        found = lib.autograd.grad([a, b], [x, y], [lib.tensor([1.0, 10.0]), lib.tensor([2.0, 3.0])])
        results.append([g.tolist() for g in found])
        assert x.grad is None and y.grad is None
    assert results[0] == results[1]


def test_unused_inputs():
    x, unused = leaf([1.0]), leaf([2.0])
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        ocl.autograd.grad(x * 2, [x, unused])
    assert ocl.autograd.grad(x * 2, [x, unused], allow_unused=True)[1] is None
    assert ocl.autograd.grad(x * 2, [x, unused], materialize_grads=True)[1].tolist() == [0]


def test_grad_of_an_intermediate_tensor():
    x = leaf([1.0, 2.0])
    y = x * 3
    (g,) = ocl.autograd.grad((y * y).sum(), y)
    expect_exact(g, [6, 12])


def test_backward_to_chosen_inputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = x * y
    z.sum().backward(inputs=[x], retain_graph=True)
    expect_exact(x.grad, [3, 4])
    assert y.grad is None
    ocl.autograd.backward([z.sum()], inputs=[x, y])
    expect_exact(x.grad, [6, 8])
    expect_exact(y.grad, [1, 2])


def test_a_hook_ends():
    x = leaf([1.0])
    seen = []
    handle = x.register_hook(lambda g: seen.append("leaf"))
    y = x * 2
    inner = y.register_hook(lambda g: g * 10)
    y.backward(retain_graph=True)
    handle.remove()
    handle.remove()
    inner.remove()
    y.backward()
    assert seen == ["leaf"]
    expect_exact(x.grad, [20 + 2])


def test_a_hook_that_removes_itself():
    x = leaf([1.0])
    seen = []

    def once(gradient):
        seen.append(gradient.item())
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda g: seen.append("kept"))
    for _ in range(2):
        (x * 2).backward()
    assert seen == [2, "kept", "kept"]


def test_inference_mode():
    x = leaf([1.0])

    @ocl.inference_mode()
    def compute():
        assert ocl.is_inference_mode_enabled() and not ocl.is_grad_enabled()
        return x * 2

    assert not compute().requires_grad
    with ocl.inference_mode():
        assert not (x * 2).requires_grad
        with ocl.inference_mode(False):
            assert not ocl.is_inference_mode_enabled()
    assert ocl.is_grad_enabled() and not ocl.is_inference_mode_enabled()
    assert not ocl.inference_mode(compute)().requires_grad
    assert (x * 2).requires_grad


def test_data():
    x = leaf([1.0, 2.0])
    x.data.mul_(3)
    expect_exact(x, [3, 6])
    x.data = ocl.tensor([7.0])
    assert x.requires_grad and x.tolist() == [7]
    with pytest.raises(ValueError):
        x.grad = ocl.zeros(2)
