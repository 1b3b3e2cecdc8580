"""The backward engine: what arrives where, once and in full."""

import time

import numpy as np
import pytest
import torch
from support import expect_exact, expect_near, leaf

import ocl


@pytest.mark.oclgrind
def test_gradients_add_up_over_backward_calls():
    x = leaf([1.0, 2.0])
    for calls in (1, 2, 3):
        (x * x).sum().backward()
        expect_exact(x.grad, np.array([2.0, 4.0]) * calls)


def test_clearing_the_gradient_starts_anew():
    x = leaf([3.0])
    (x * 2).sum().backward()
    x.grad = None
    assert x.grad is None
    (x * 5).sum().backward()
    expect_exact(x.grad, [5])


def test_a_tensor_used_several_times_gets_every_gradient():
    x = leaf([2.0, -1.0])
    (x * x * x + x * 4 - x).sum().backward()
    expect_exact(x.grad, [3 * 4 + 3, 3 * 1 + 3])


def test_a_shared_subgraph_is_walked_once_with_its_whole_gradient():
    x = leaf([1.5])
    shared = x * 2
    seen = []
    shared.register_hook(lambda g: seen.append(g.item()))
    (shared * 3 + shared * shared + shared).sum().backward()
    assert seen == [3 + 2 * 3.0 + 1]
    expect_exact(x.grad, [20])


def test_several_outputs_at_once():
    x = leaf([1.0, 2.0])
    weights = ocl.tensor([10.0, 100.0])
    ocl.autograd.backward([(x * 2).sum(), x * 3], [None, weights])
    expect_exact(x.grad, [32, 302])


def test_one_output_twice():
    x = leaf([1.0])
    y = (x * 7).sum()
    ocl.autograd.backward([y, y])
    expect_exact(x.grad, [14])


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_against_torch(seed):
    generator = np.random.default_rng(seed)
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in ((3, 5), (5,), (3, 1))]

    def run(library, dtype):
        a, b, c = (library.tensor(array, dtype=dtype, requires_grad=True) for array in arrays)
        y = library.tanh(a * b + c)
        z = y @ library.exp(a * 0.5).t() + (c / (b * b + 1)).sum(1, keepdim=True)
        (z * z).mean().backward()
        return a.grad, b.grad, c.grad

    gradients = run(ocl, ocl.float32), run(torch, torch.float64), run(torch, torch.float32)
    for name, actual, truth, reference in zip("abc", *gradients, strict=True):
        expect_near(actual, truth, reference, f"gradient of {name}")


@pytest.mark.parametrize(
    "operation", [lambda x, y: x + y, lambda x, y: x - (-y), lambda x, y: ocl.cat([x, y])]
)
def test_gradients_do_not_share_memory(operation):
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    operation(x, y).sum().backward()
    x.grad.add_(100)
    expect_exact(x.grad, [101, 101])
    expect_exact(y.grad, [1, 1])


def test_the_callers_gradient_stays_the_callers():
    x = leaf([1.0, 2.0])
    gradient = ocl.tensor([5.0, 6.0])
    x.clone().backward(gradient)
    (x * 1).backward(gradient)
    expect_exact(gradient, [5, 6])
    gradient.fill_(0)
    expect_exact(x.grad, [10, 12])


def test_the_gradient_of_a_leaf_itself():
    x = leaf(2.0)
    x.backward()
    assert x.grad.item() == 1


def test_a_second_backward_is_refused_and_says_how_to_get_one():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time.*retain_graph=True"):
        y.backward()
    expect_exact(x.grad, [2, 4])


def test_retain_graph_allows_more():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    expect_exact(x.grad, [6, 12])
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_graph_freed_in_part_is_refused():
    x = leaf([1.0])
    shared = x * x
    first, second = shared.sum(), (shared * 2).sum()
    first.backward()
    with pytest.raises(RuntimeError, match="second time"):
        second.backward()


def test_more_than_one_element_needs_a_gradient():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"only for scalar outputs.*\[2\]"):
        (x * 2).backward()


@pytest.mark.parametrize("shape", [(), (3,), (2, 1)])
def test_a_gradient_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match="gradient of shape"):
        (leaf([1.0, 2.0]) * 2).backward(ocl.ones(*shape))


def test_as_many_gradients_as_outputs():
    x = leaf([1.0])
    with pytest.raises(ValueError, match="2 outputs but 1 gradients"):
        ocl.autograd.backward([x * 1, x * 2], [ocl.ones(1)])


def test_backward_of_a_constant_is_refused():
    with pytest.raises(RuntimeError, match="does not require grad"):
        ocl.ones(1).backward()


def test_detach_cuts_the_graph_and_shares_the_memory():
    x = leaf([2.0])
    y = x * 3
    cut = y.detach()
    assert not cut.requires_grad and cut.is_leaf and cut.grad_fn is None
    (cut * x).sum().backward()
    expect_exact(x.grad, [6])
    with ocl.no_grad():
        cut.fill_(9)
    expect_exact(y, [9])


def test_what_a_result_requires():
    x, constant = leaf([1.0]), ocl.ones(1)
    assert (x + constant).requires_grad and not (x + constant).is_leaf
    assert not (constant + constant).requires_grad
    assert not (x > 0).requires_grad
    assert x.is_leaf and x.grad_fn is None
    assert (x + constant).grad_fn is not None


def test_requires_grad_of_a_result_cannot_be_taken_away():
    with pytest.raises(RuntimeError, match="leaf variables.*detach"):
        (leaf([1.0]) * 2).requires_grad_(False)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool_"])
def test_only_floating_tensors_require_gradients(dtype):
    with pytest.raises(RuntimeError, match="floating or complex dtype"):
        ocl.zeros(2, dtype=getattr(ocl, dtype), requires_grad=True)


def test_a_frozen_leaf_gets_none():
    x, frozen = leaf([1.0]), leaf([2.0]).requires_grad_(False)
    (x * frozen).sum().backward()
    assert frozen.grad is None
    expect_exact(x.grad, [2])


def test_gradients_come_in_the_leafs_dtype():
    x = ocl.ones(3, dtype=ocl.float16, requires_grad=True)
    (x.float() * 2).sum().backward()
    assert x.grad.dtype == ocl.float16
    expect_exact(x.grad.float(), [2, 2, 2])


def test_an_assigned_gradient_must_fit():
    x = leaf([1.0, 2.0])
    x.grad = ocl.tensor([1.0, 1.0])
    x.sum().backward()
    expect_exact(x.grad, [2, 2])
    with pytest.raises(ValueError, match=r"expected shape \[2\]"):
        x.grad = ocl.ones(3)


def test_empty_tensors_have_empty_gradients():
    x = leaf(np.zeros((0, 3)))
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)


# --- autograd.grad


def test_grad_returns_gradients_and_touches_no_leaf():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    dx, dy = ocl.autograd.grad((x * y).sum(), [x, y])
    expect_exact(dx, [3, 4])
    expect_exact(dy, [1, 2])
    assert x.grad is None and y.grad is None


def test_grad_of_an_intermediate_result():
    x = leaf([1.0, 2.0])
    middle = x * 3
    (gradient,) = ocl.autograd.grad((middle * middle).sum(), middle)
    expect_exact(gradient, [6, 12])


def test_grad_does_not_walk_where_no_input_lies():
    x, y = leaf([1.0]), leaf([2.0])
    other = y * y
    walked = []
    other.register_hook(lambda g: walked.append(1))
    product = x * x
    ocl.autograd.grad((product + other).sum(), x)
    assert not walked
    other.sum().backward()  # its graph is still whole
    expect_exact(y.grad, [4])


def test_grad_with_weights_and_several_outputs():
    x = leaf([1.0, 2.0])
    (gradient,) = ocl.autograd.grad([x * 2, (x * x).sum()], [x], [ocl.tensor([1.0, 10.0]), None])
    expect_exact(gradient, [2 + 2, 20 + 4])


def test_grad_of_the_same_input_twice():
    x = leaf([1.0])
    first, second = ocl.autograd.grad((x * 4).sum(), [x, x])
    expect_exact(first, [4])
    expect_exact(second, [4])


def test_an_unused_input_is_an_error_or_none():
    x, unused = leaf([1.0]), leaf([2.0])
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        ocl.autograd.grad((x * 2).sum(), [x, unused])
    used, missing = ocl.autograd.grad((x * 2).sum(), [x, unused], allow_unused=True)
    expect_exact(used, [2])
    assert missing is None


def test_grad_of_an_input_without_gradients_is_refused():
    x = leaf([1.0])
    with pytest.raises(RuntimeError, match="input 1 does not require grad"):
        ocl.autograd.grad(x.sum(), [x, ocl.ones(1)])


def test_grad_frees_the_graph_unless_retained():
    x = leaf([3.0])
    y = (x * x).sum()
    for _ in range(2):
        expect_exact(ocl.autograd.grad(y, x, retain_graph=True)[0], [6])
    ocl.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        ocl.autograd.grad(y, x)


# --- deep graphs


def chain_seconds(length):
    x = leaf([1.0])
    start = time.perf_counter()
    y = x
    for _ in range(length):
        y = y * 1.0001
    y.sum().backward()
    gradient = x.grad.item()
    seconds = time.perf_counter() - start
    assert gradient == pytest.approx(1.0001**length, rel=1e-2)
    del y
    return seconds


def test_a_chain_of_10000_takes_linear_time_and_no_stack():
    chain_seconds(100)
    short = min(chain_seconds(1000) for _ in range(3))
    long = min(chain_seconds(10_000) for _ in range(3))
    assert long < 10 * short * 2.5


def test_dropping_a_deep_graph_without_backward_takes_no_stack():
    y = leaf([1.0])
    for _ in range(10_000):
        y = y + 1
    del y


def test_a_wide_graph():
    x = leaf([1.0, 2.0])
    total = ocl.zeros(2)
    for i in range(1000):
        total = total + x * float(i)
    total.sum().backward()
    expect_exact(x.grad, [999 * 500] * 2)
