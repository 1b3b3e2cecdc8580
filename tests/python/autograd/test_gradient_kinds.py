"""A gradient of another shape, dtype or device than its tensor is refused where it enters, as in PyTorch."""

import pytest
import torch
from support import expect_exact, leaf

import ocl

WRONG = {
    "too short": lambda lib, g: g[:1] * 1,
    "too long": lambda lib, g: lib.zeros(1000),
    "another rank": lambda lib, g: g.reshape(2, 1),
    "wider": lambda lib, g: lib.ones(3, 2),
    "empty": lambda lib, g: lib.zeros(0),
    "scalar": lambda lib, g: g.sum(),
    "integers": lambda lib, g: g.long(),
    "half": lambda lib, g: g.half(),
    "a number": lambda lib, g: 2.0,
}


def outcome(action):
    """The gradient that a call gives, or what it raises: a class of Python's."""
    try:
        return action()
    except (RuntimeError, TypeError) as error:
        return TypeError if isinstance(error, TypeError) else RuntimeError


def expect_like_torch(action):
    """Both give the same gradients, or both raise the same."""
    ours, theirs = outcome(lambda: action(ocl)), outcome(lambda: action(torch))
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, ocl.Tensor), ours
        expect_exact(ours, theirs.tolist())
        assert ours.shape == tuple(theirs.shape) and str(ours.dtype)[4:] == str(theirs.dtype)[6:]
    else:
        assert ours is theirs


def make(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    return x, x * 3


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("on", ["leaf", "result", "view", "kept", "after another"])
def test_hooks_of_tensors(on, kind):
    def run(lib):
        x, y = make(lib)
        if on == "view":
            y = y[:]
        hooked = x if on == "leaf" else y
        if on == "kept":
            y.retain_grad()
        if on == "after another":
            y.register_hook(lambda g: g * 2)
        hooked.register_hook(lambda g: WRONG[kind](lib, g))
        y.sum().backward()
        return x.grad

    expect_like_torch(run)


@pytest.mark.parametrize("kind", WRONG)
def test_hooks_that_change_the_gradient_itself(kind):
    if kind == "a number":
        return

    def change(g):
        g.data = WRONG[kind](ocl, g)

    x, y = make(ocl)
    y.register_hook(change)
    with pytest.raises(RuntimeError, match="hook"):
        y.sum().backward()


@pytest.mark.parametrize("kind", WRONG)
def test_full_backward_hooks_of_modules(kind):
    def run(lib):
        x, _ = make(lib)
        module = lib.nn.ReLU()
        module.register_full_backward_hook(
            lambda m, grad_input, grad_output: (WRONG[kind](lib, grad_input[0]),)
        )
        (module(x * 1) * 2).sum().backward()
        return x.grad

    expect_like_torch(run)


@pytest.mark.parametrize("kind", WRONG)
def test_backward_of_a_function(kind):
    def run(lib):
        class Wrong(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                return WRONG[kind](lib, grad)

        x, y = make(lib)
        Wrong.apply(y).sum().backward()
        return x.grad

    expect_like_torch(run)


@pytest.mark.parametrize("kind", [kind for kind in WRONG if kind != "a number"])
@pytest.mark.parametrize("how", ["method", "function", "grad", "inputs"])
def test_gradient_arguments(how, kind):
    def run(lib):
        x, y = make(lib)
        gradient = WRONG[kind](lib, lib.ones(2))
        if how == "method":
            y.backward(gradient)
        elif how == "function":
            lib.autograd.backward([y], [gradient])
        elif how == "inputs":
            y.backward(gradient, inputs=[x])
        else:
            return lib.autograd.grad(y, x, gradient)[0]
        return x.grad

    expect_like_torch(run)


def test_a_leaf_of_another_shape_than_when_it_was_used():
    x, y = make(ocl)
    x.data = ocl.zeros(5)  # PyTorch gives it a gradient that does not fit
    with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[5\]"):
        y.sum().backward()
    assert x.grad is None


def test_a_leaf_of_another_dtype_than_when_it_was_used():
    x, y = make(ocl)
    x.data = x.data.half()
    y.sum().backward()
    assert x.grad.dtype == ocl.float16
    expect_exact(x.grad, [3, 3])


def test_gradients_on_another_device():
    if ocl.device_count() < 2:
        pytest.skip("one device")
    other = next(d for d in ("ocl:0", "ocl:1") if ocl.device(d) != ocl.ones(1).device)
    for wrong in (lambda g: g.to(other), lambda g: ocl.ones(2, device=other)):
        x = leaf([1.0, 2.0])
        x.register_hook(wrong)
        with pytest.raises(RuntimeError, match="hook"):
            (x * 2).sum().backward()
        with pytest.raises(RuntimeError, match="device"):
            (leaf([1.0, 2.0]) * 2).backward(wrong(ocl.ones(2)))


def test_messages_name_what_is_wrong():
    x, y = make(ocl)
    y.register_hook(lambda g: g[:1])
    with pytest.raises(RuntimeError, match=r"hook.*expected shape \[2\] and dtype float32.*got \[1\]"):
        y.sum().backward()
