"""Memory that the tape holds, and when it lets go."""

import gc

import pytest
from support import leaf

import ocl

SIZE = 1 << 16  # elements
BYTES = 4 * SIZE


@pytest.fixture
def grown(device):
    """Bytes of tensors more than at the start of the test."""
    gc.collect()
    start = ocl.memory_allocated(device)
    return lambda: ocl.memory_allocated(device) - start


def big_leaf():
    return ocl.ones(SIZE, requires_grad=True)


def test_backward_frees_what_the_tape_saved(grown):
    x = big_leaf()
    y = (x.exp() * x.sin()).sum()  # saves x, exp, sin
    assert grown() >= 3 * BYTES
    y.backward()
    assert grown() <= 2 * BYTES + 4096  # x and its gradient
    del x, y
    assert grown() == 0


# Calls that wait to become one launch keep what they read until then.
@pytest.mark.usefixtures("calls_apart")
def test_backward_frees_as_it_walks(grown, device):
    x = big_leaf()
    y = x
    for _ in range(20):
        y = y.exp() * 0.1
    y = y.sum()
    held = grown()
    ocl.reset_peak_memory_stats(device)
    y.backward()
    assert ocl.max_memory_allocated(device) - ocl.memory_allocated(device) <= held + 3 * BYTES


def test_retain_graph_keeps_it(grown):
    x = big_leaf()
    y = x.exp().sum()
    held = grown()
    y.backward(retain_graph=True)
    assert grown() >= held + BYTES
    del y
    assert grown() <= 2 * BYTES + 4096


def test_a_graph_dropped_without_backward_is_freed(grown):
    x = big_leaf()
    y = (x.exp() * x.sin()).sum()
    del y
    assert grown() == BYTES


def test_under_no_grad_nothing_is_kept(grown):
    x = big_leaf()
    with ocl.no_grad():
        y = x
        for _ in range(10):
            y = y.exp() * 0.1
    assert grown() == 2 * BYTES


def test_a_deep_graph_is_freed(grown):
    x = leaf([1.0])
    y = x
    for _ in range(10_000):
        y = y * 1.0
    y.sum().backward()
    del x, y
    assert grown() == 0


def test_many_steps_hold_no_more_than_one(grown):
    x = big_leaf()
    sizes = []
    for _ in range(5):
        x.grad = None
        (x * x.exp()).sum().backward()
        sizes.append(grown())
    assert len(set(sizes)) == 1


def test_a_failed_backward_leaves_nothing_behind(grown):
    x = big_leaf()

    def fail(gradient):
        raise LookupError

    y = x.exp()
    y.register_hook(fail)
    z = (y * 2).sum()
    with pytest.raises(LookupError):
        z.backward()
    del x, y, z
    gc.collect()
    assert grown() == 0
