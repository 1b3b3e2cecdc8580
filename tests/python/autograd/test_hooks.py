"""Hooks on gradients, and gradients kept of what is no leaf."""

import gc
import weakref

import pytest
from support import expect_exact, leaf

import ocl


def test_a_hook_sees_the_gradient():
    x = leaf([1.0, 2.0])
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2).sum().backward()
    assert seen == [[2, 2]]
    expect_exact(x.grad, [6, 6])


@pytest.mark.parametrize("on_leaf", [True, False])
def test_a_hook_may_replace_the_gradient(on_leaf):
    x = leaf([1.0])
    y = x * 3
    (x if on_leaf else y).register_hook(lambda g: g * 10)
    y.sum().backward()
    expect_exact(x.grad, [30])


def test_hooks_run_in_order_each_on_what_the_last_one_made():
    x = leaf([1.0])
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 4).sum().backward()
    expect_exact(x.grad, [50])


def test_a_hook_runs_in_every_backward_on_that_pass_alone():
    x = leaf([1.0])
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    for factor in (2.0, 3.0):
        (x * factor + x).sum().backward()
    assert seen == [3, 4]
    expect_exact(x.grad, [7])


def test_a_hook_of_a_leaf_outlives_the_graph():
    x = leaf([1.0])
    x.register_hook(lambda g: g * 2)
    (x * 1).sum()  # a graph that goes away unused
    gc.collect()
    (x * 5).sum().backward()
    expect_exact(x.grad, [10])


def test_a_gradient_that_a_hook_kept_does_not_change_later():
    x = leaf([1.0])
    kept = []
    x.register_hook(kept.append)
    for _ in range(3):
        (x * 2).sum().backward()
    assert [g.item() for g in kept] == [2, 2, 2]
    expect_exact(x.grad, [6])


def test_hooks_run_in_grad_too():
    x = leaf([1.0])
    y = x * 3
    y.register_hook(lambda g: g * 100)
    expect_exact(ocl.autograd.grad((y * 2).sum(), x)[0], [600])


def test_an_error_in_a_hook_comes_out_of_backward():
    x = leaf([1.0])

    def fail(gradient):
        raise LookupError("from the hook")

    x.register_hook(fail)
    with pytest.raises(LookupError, match="from the hook"):
        (x * 2).sum().backward()


def test_a_hook_needs_a_tensor_with_gradients():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        ocl.ones(1).register_hook(lambda g: g)


def test_a_hook_goes_with_its_graph():
    class Hook:
        def __call__(self, gradient):
            return None

    hook = Hook()
    gone = weakref.ref(hook)
    y = leaf([1.0]) * 2
    y.register_hook(hook)
    del hook
    y.copy_(leaf([5.0]))  # y's old history lives on below the new one
    assert gone() is not None
    del y
    gc.collect()
    assert gone() is None


def test_retain_grad_keeps_what_arrives():
    x = leaf([1.0, 2.0])
    y = x * 3
    y.retain_grad()
    z = y * y
    z.sum().backward(retain_graph=True)
    expect_exact(y.grad, [6, 12])
    z.sum().backward()
    expect_exact(y.grad, [12, 24])
    expect_exact(x.grad, [36, 72])


def test_a_retained_gradient_is_a_copy():
    y = leaf([1.0, 2.0]) * 3
    y.retain_grad()
    seen = []
    y.register_hook(seen.append)
    (found,) = ocl.autograd.grad((y * y).sum(), [y])
    for gradient in (found, seen[0]):
        gradient.mul_(5)
    expect_exact(y.grad, [6, 12])


def test_without_retain_grad_there_is_none():
    y = leaf([1.0]) * 3
    y.sum().backward()
    assert y.grad is None


def test_retain_grad_of_a_leaf_changes_nothing():
    x = leaf([1.0])
    x.retain_grad()
    (x * 2).sum().backward()
    expect_exact(x.grad, [2])


def test_retain_grad_needs_a_tensor_with_gradients():
    with pytest.raises(RuntimeError, match="does not require grad"):
        ocl.ones(1).retain_grad()


def test_a_retained_gradient_is_independent_of_the_leafs():
    x = leaf([1.0])
    y = x.clone()
    y.retain_grad()
    y.sum().backward()
    x.grad.add_(5)
    expect_exact(y.grad, [1])


def test_retain_grad_twice_keeps_once_and_follows_writes():
    x = leaf([1, 2])
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    assert y.retains_grad and not x.retains_grad
    y.sum().backward(retain_graph=True)
    assert y.grad.tolist() == [10, 10]  # what the hooks leave
    y.grad = None
    y.mul_(3)
    view = y[:1]
    view.retain_grad()
    view.mul_(5)
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2, 2]  # of the value that it has now
    assert x.grad.tolist() == [10 * 2 + 2 * 10 * 15 * 2, 10 * 2 + 2 * 10 * 3 * 2]


def chain(lib, count):
    """Leaves w[0] … and x * w[0] * w[1] …: backward completes the gradient of the last leaf first."""
    leaves = [lib.tensor([float(i + 2)], requires_grad=True) for i in range(count)]
    y = lib.tensor([1.0])
    for w in leaves:
        y = y * w
    return leaves, y.sum()


def test_a_leaf_is_complete_before_the_pass_goes_on():
    leaves, loss = chain(ocl, 4)
    order = []
    for i, w in enumerate(leaves):
        w.register_post_accumulate_grad_hook(
            lambda p, i=i: order.append((i, p.grad.item(), [w.grad is not None for w in leaves]))
        )
    loss.backward()
    assert order == [
        (3, 24, [False, False, False, True]),
        (2, 30, [False, False, True, True]),
        (1, 40, [False, True, True, True]),
        (0, 60, [True, True, True, True]),
    ]


def test_a_leaf_that_is_used_twice_waits_for_both():
    w, x = leaf([3.0]), leaf([2.0])
    seen = []
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    ((w * x) + (w * 5)).sum().backward()
    assert seen == [7]
    (w * 1).sum().backward()
    assert seen == [7, 8]


def test_a_branch_without_gradient_is_not_waited_for():
    """One of two uses leads nowhere: its gradient never comes."""

    class Swallow(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return None

    w = leaf([3.0])
    middle = w * 2
    (Swallow.apply(middle * 4).sum() + (middle * 5).sum()).backward()
    expect_exact(w.grad, [10])


def test_post_accumulate_hooks_like_torch():
    import torch

    def run(lib):
        seen = []
        leaves, loss = chain(lib, 3)
        handles = [
            w.register_post_accumulate_grad_hook(lambda p: seen.append((p.item(), p.grad.item())))
            for w in leaves
        ]
        loss.backward(retain_graph=True)
        handles[1].remove()
        loss.backward(inputs=leaves[:2])
        with pytest.raises(RuntimeError, match="non-leaf"):
            (leaves[0] * 2).register_post_accumulate_grad_hook(print)
        with pytest.raises(RuntimeError, match="require"):
            lib.tensor([1.0]).register_post_accumulate_grad_hook(print)
        return sorted(seen), [w.grad.item() for w in leaves]

    assert run(ocl) == run(torch)


def test_an_optimizer_step_inside_backward():
    import torch

    def run(lib):
        leaves, loss = chain(lib, 3)

        def step(p):
            with lib.no_grad():
                p -= 0.125 * p.grad
            p.grad = None

        for w in leaves:
            w.register_post_accumulate_grad_hook(step)
        loss.backward()
        return [(w.item(), w.grad) for w in leaves]

    assert run(ocl) == run(torch)


def test_a_post_accumulate_hook_goes_with_its_leaf():
    w = leaf([1.0])

    class Seen:
        pass

    held = Seen()
    gone = weakref.ref(held)
    w.register_post_accumulate_grad_hook(lambda p, held=held: None)
    del held
    gc.collect()
    assert gone() is not None
    del w
    gc.collect()
    assert gone() is None


def test_a_post_accumulate_hook_that_returns_something_is_refused():
    w = leaf([1.0])
    w.register_post_accumulate_grad_hook(lambda p: p)
    with pytest.raises(RuntimeError, match="return None"):
        (w * 1).sum().backward()
