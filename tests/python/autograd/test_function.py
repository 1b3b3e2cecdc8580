"""ocl.autograd.Function: derivatives written in Python."""

import gc
import weakref

import numpy as np
import pytest
import torch
from support import expect_exact, leaf, skip_without

import ocl


def on_both(make, compute):
    """compute(lib, Function) for a class that make(lib) gives, on both libraries: the same numbers."""
    results = [compute(lib, make(lib)) for lib in (ocl, torch)]
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)


def cube(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return factor * x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return 3 * ctx.factor * x * x * grad, None

    return Cube


def test_value_and_gradient():
    def compute(lib, function):
        x = lib.tensor([1.0, -2.0, 3.0], requires_grad=True)
        y = function.apply(x, 2.0)
        assert y.requires_grad and not y.is_leaf and "CubeBackward" in str(y.grad_fn)
        (y * lib.tensor([1.0, 2.0, 3.0])).sum().backward()
        return y, x.grad

    on_both(cube, compute)


def test_setup_context():
    def make(lib):
        class Scale(lib.autograd.Function):
            @staticmethod
            def forward(x, factor):
                return x * factor

            @staticmethod
            def setup_context(ctx, inputs, output):
                x, factor = inputs
                ctx.save_for_backward(x, factor, output)

            @staticmethod
            def backward(ctx, grad):
                x, factor, output = ctx.saved_tensors
                return grad * factor, (grad * x).sum() + 0 * output.sum()

        return Scale

    def compute(lib, function):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        factor = lib.tensor(3.0, requires_grad=True)
        y = function.apply(x, factor)
        y.sum().backward()
        return y, x.grad, factor.grad

    on_both(make, compute)


def test_several_results_of_which_some_have_no_gradient():
    def make(lib):
        class Parts(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                where = x > 1
                ctx.mark_non_differentiable(where)
                return x + y, where, x - y, "text"

            @staticmethod
            def backward(ctx, total, where, difference, text):
                assert where is not None and text is None
                return total + difference, total - difference

        return Parts

    def compute(lib, function):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = lib.tensor([3.0, 5.0], requires_grad=True)
        total, where, difference, text = function.apply(x, y)
        assert text == "text" and not where.requires_grad and total.requires_grad
        (difference * lib.tensor([2.0, 3.0])).sum().backward()  # nothing comes from total: zeros
        return total, where, x.grad, y.grad

    on_both(make, compute)


def test_gradients_that_nobody_sent_may_be_none():
    seen = []

    class Two(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            seen.append((first, second))
            return second * 2

    x = leaf([1.0])
    Two.apply(x)[1].backward()
    assert seen[0][0] is None and x.grad.item() == 2


def test_an_argument_that_is_returned_is_another_tensor():
    class Through(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return -grad

    x = leaf([1.0, 2.0])
    y = Through.apply(x)
    assert y is not x and x.is_leaf
    y.sum().backward()
    expect_exact(x.grad, [-1, -1])


def doubled_in_place(lib):
    class Doubled(lib.autograd.Function):
        """Writes its argument, saves what it wrote and returns it beside another result."""

        @staticmethod
        def forward(ctx, x, w):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x, w)
            return x, x * w

        @staticmethod
        def backward(ctx, dx, dy):
            x, w = ctx.saved_tensors
            return 2 * (dx + dy * w), (dy * x).sum()

    return Doubled


def test_an_argument_that_is_written():
    def run(lib):
        leaf = lib.tensor([1.0, 2.0], requires_grad=True)
        w = lib.tensor(3.0, requires_grad=True)
        x = leaf * 5
        same, y = doubled_in_place(lib).apply(x, w)
        assert same is x and not x.is_leaf
        (x * x + y).sum().backward()
        constant = lib.tensor([1.0, 2.0])
        result, _ = doubled_in_place(lib).apply(constant, w)
        assert result is constant and constant.requires_grad and not constant.is_leaf
        return x.tolist(), y.tolist(), leaf.grad.tolist(), w.grad.tolist(), constant.tolist()

    assert run(ocl) == run(torch)


def test_an_argument_that_is_written_is_freed():
    x = ocl.ones(2, requires_grad=True) * 1
    alive = weakref.ref(x)
    result = doubled_in_place(ocl).apply(x, ocl.ones(()))
    del x, result
    gc.collect()
    assert alive() is None


def test_wrong_marks_of_written_arguments():
    class Forgotten(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            return x + 1

    w = ocl.ones((), requires_grad=True)
    with pytest.raises(RuntimeError, match="must all be outputs of the Function"):
        Forgotten.apply(ocl.ones(2, requires_grad=True) * 1)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        doubled_in_place(ocl).apply(ocl.ones(2, requires_grad=True), w)
    with pytest.raises(RuntimeError, match="a view cannot be marked"):
        doubled_in_place(ocl).apply(ocl.ones(2, 2)[0], w)


def test_nothing_is_recorded_under_no_grad_or_for_constants():
    function = cube(ocl)
    assert not function.apply(ocl.ones(2), 1.0).requires_grad
    with ocl.no_grad():
        assert not function.apply(leaf([1.0]), 1.0).requires_grad


def test_a_saved_tensor_that_was_written_is_noticed():
    x = leaf([1.0])
    z = x * 1
    y = cube(ocl).apply(z, 1.0)
    with ocl.no_grad():
        z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_second_backward_needs_what_was_saved():
    x = leaf([1.0])
    y = cube(ocl).apply(x, 1.0)
    y.backward(retain_graph=True)
    y.backward()
    expect_exact(x.grad, [6])
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def wrong(gradients):
    class Wrong(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return gradients()

    return Wrong.apply(leaf([1.0, 2.0])).sum()


def test_wrong_gradients_are_named():
    with pytest.raises(
        RuntimeError, match=r"WrongBackward returned an incorrect number of gradients \(expected 1, got 2"
    ):
        wrong(lambda: (ocl.ones(2), ocl.ones(2))).backward()
    with pytest.raises((RuntimeError, ValueError), match="WrongBackward"):
        wrong(lambda: ocl.ones(3)).backward()


def test_an_exception_in_backward_comes_through():
    def fail():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        wrong(fail).backward()


def test_a_broadcast_gradient_is_summed():
    x = leaf([1.0, 2.0])

    class Wide(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(3, 2) * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    Wide.apply(x).sum().backward()
    expect_exact(x.grad, [3, 3])


def test_gradcheck():
    skip_without("float64")
    x = ocl.tensor(np.array([0.5, -1.5]), requires_grad=True)
    assert ocl.autograd.gradcheck(lambda x: cube(ocl).apply(x, 2.0), [x])


def test_the_graph_lets_go_of_context_and_tensors():
    class Kept:
        pass

    function = cube(ocl)
    x = leaf([1.0])
    factor = Kept()
    gone = weakref.ref(factor)

    class Keeps(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x, thing):
            result = x * 1
            ctx.save_for_backward(result)
            ctx.thing = thing
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    y = Keeps.apply(function.apply(x, 1.0), factor)
    del factor
    assert gone() is not None
    y.backward()
    del y
    gc.collect()
    assert gone() is None
