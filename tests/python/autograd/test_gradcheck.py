"""gradcheck: passes on right derivatives, raises on wrong ones."""

import numpy as np
import pytest

import ocl


@pytest.fixture(autouse=True)
def needs_float64(device):
    if not ocl.get_device_properties(device)["fp64"]:
        pytest.skip(f"{device} has no float64, which gradcheck computes in")


def double_leaf(shape, seed=0, **options):
    values = np.random.default_rng(seed).standard_normal(shape)
    return ocl.tensor(values, requires_grad=True, **options)


def test_right_gradients_pass():
    x, y = double_leaf((2, 3)), double_leaf((3, 2), seed=1)
    assert ocl.autograd.gradcheck(lambda a, b: ocl.tanh(a @ b) * 2 + a.sum(), [x, y])


def test_a_single_tensor_needs_no_list():
    assert ocl.autograd.gradcheck(lambda a: ocl.exp(a), double_leaf((3,)))


def wrong_factor(x):
    """d/dx of x², but the tape sees x only once."""
    return x * x.detach()


def test_a_wrong_gradient_raises_and_says_where():
    with pytest.raises(
        RuntimeError, match="gradient of output element 0 with respect to element 0 of input 0"
    ):
        ocl.autograd.gradcheck(wrong_factor, double_leaf((3,)))


def test_a_missing_gradient_raises():
    with pytest.raises(RuntimeError, match="input 1 is 0 by the tape"):
        ocl.autograd.gradcheck(lambda a, b: a + b.detach(), [double_leaf((2,)), double_leaf((2,), seed=1)])


def test_an_error_in_one_element_is_found():
    factor = ocl.tensor(np.array([1.0, 1.0, 1.1]))
    with pytest.raises(RuntimeError, match="element 2"):
        ocl.autograd.gradcheck(lambda a: a + a.detach() * (factor - 1), double_leaf((3,)))


def test_constants_are_not_checked():
    constant = ocl.tensor(np.array([2.0, 3.0]))
    assert ocl.autograd.gradcheck(lambda a, b: a * b.detach(), [double_leaf((2,)), constant])


def test_float32_is_refused():
    x = ocl.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="float64.*float32"):
        ocl.autograd.gradcheck(lambda a: a * 2, x)


def test_an_exception_of_the_function_comes_through():
    def fail(x):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        ocl.autograd.gradcheck(fail, double_leaf((2,)))


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradients_of_gradients(device, fast_mode):
    x = ocl.tensor([0.5, -1.5, 2.0], dtype=ocl.float64, device=device, requires_grad=True)
    w = ocl.tensor([1.5, 0.25, -1.0], dtype=ocl.float64, device=device, requires_grad=True)
    assert ocl.autograd.gradgradcheck(lambda x, w: (x * x * x * w).sum(), (x, w), fast_mode=fast_mode)
    assert x.grad is None and w.grad is None

    class Wrong(ocl.autograd.Function):
        """The square, whose gradient is right and has a wrong one."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (2 * x.detach() + 0.0 * x)

    with pytest.raises(RuntimeError, match="gradcheck: .* by the tape"):
        ocl.autograd.gradgradcheck(Wrong.apply, (x,), fast_mode=fast_mode)
