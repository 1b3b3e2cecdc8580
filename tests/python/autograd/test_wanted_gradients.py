"""Gradients that nobody asks for are not computed: autograd.grad towards some of an operation's inputs."""

import itertools

import numpy as np
import pytest
import torch
from support import expect_exact

import ocl
from ocl.nn import functional as F

# The call, and the shapes of its inputs.
OPERATIONS = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [(2, 3, 6, 7), (4, 3, 3, 3), (4,)]),
    "conv_transpose2d": (F.conv_transpose2d, [(2, 3, 4, 5), (3, 4, 3, 3)]),
    "conv3d": (lambda x, w, b: F.conv3d(x, w, b, padding=1), [(2, 3, 3, 4, 5), (4, 3, 3, 3, 2), (4,)]),
    "grid_sample": (lambda x, g: F.grid_sample(x, g, align_corners=False), [(2, 3, 4, 5), (2, 3, 6, 2)]),
    "linear": (F.linear, [(5, 6), (4, 6), (4,)]),
    "mm": (ocl.mm, [(3, 4), (4, 5)]),
    "bmm": (ocl.bmm, [(2, 3, 4), (2, 4, 5)]),
    "addmm": (lambda c, a, b: ocl.addmm(c, a, b, beta=0.5, alpha=2.0), [(5,), (3, 4), (4, 5)]),
    "mul": (lambda a, b: a * b, [(3, 4), (4,)]),
    "addcmul": (ocl.addcmul, [(3, 4), (3, 1), (1, 4)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), [(4, 6), (6,), (6,)]),
    "batch_norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        [(4, 3, 5), (3,), (3,)],
    ),
    "scaled_dot_product_attention": (
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        [(2, 5, 4), (2, 6, 4), (2, 6, 3), (5, 6)],
    ),
    "cross_entropy": (lambda x, y: F.cross_entropy(x, y.softmax(1)), [(4, 5), (4, 5)]),
    "mse_loss": (F.mse_loss, [(4, 5), (4, 5)]),
    "write through a view": (lambda a, b: _written(a, b), [(4, 5), (2, 5)]),
}


def _written(a, b):
    y = a * 1
    y[1:3].mul_(b)
    return y


@pytest.mark.parametrize("name", OPERATIONS)
def test_some_inputs(name):
    operation, shapes = OPERATIONS[name]
    draw = np.random.default_rng(5)
    inputs = [
        ocl.tensor(draw.standard_normal(shape).astype(np.float32), requires_grad=True) for shape in shapes
    ]
    result = operation(*inputs)
    by_result = ocl.tensor(draw.standard_normal(tuple(result.shape)).astype(np.float32))
    whole = ocl.autograd.grad(result, inputs, by_result, retain_graph=True)
    for count in range(1, len(inputs)):
        for chosen in itertools.combinations(range(len(inputs)), count):
            some = ocl.autograd.grad(result, [inputs[i] for i in chosen], by_result, retain_graph=True)
            for i, gradient in zip(chosen, some, strict=True):
                assert np.array_equal(gradient.numpy(), whole[i].numpy()), (chosen, i)
    result.backward(by_result, inputs=inputs[-1:])
    assert np.array_equal(inputs[-1].grad.numpy(), whole[-1].numpy())
    assert all(t.grad is None for t in inputs[:-1])


def primitives_of(result, inputs):
    with ocl.profiler.record_calls() as recorded:
        ocl.autograd.grad(result, inputs, ocl.ones_like(result), retain_graph=True)
    return [call.name for call in recorded.calls if call.kind == "primitive"]


@pytest.mark.parametrize(
    ("name", "computed"),
    [
        ("conv2d", ["conv2d_backward_data", "conv2d_backward_weight", "conv2d_backward_bias"]),
        ("linear", ["linear_backward_data", "linear_backward_weight", "linear_backward_bias"]),
        ("mm", ["gemm", "gemm"]),
    ],
)
def test_only_what_is_asked_for_is_computed(name, computed):
    operation, shapes = OPERATIONS[name]
    inputs = [ocl.randn(*shape, requires_grad=True) for shape in shapes]
    result = operation(*inputs)
    known = set(computed)
    for i, primitive in enumerate(computed):
        assert [call for call in primitives_of(result, [inputs[i]]) if call in known] == [primitive]
    assert [call for call in primitives_of(result, inputs) if call in known] == computed


def test_a_pass_within_a_pass():
    """A function whose backward walks another graph: what that one asks for ends with it."""

    class Doubled(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with ocl.enable_grad():
                a = x.detach().requires_grad_()
                b = ocl.ones(3, 3, requires_grad=True)
                (inner,) = ocl.autograd.grad((a @ b).sum(), [a])
            return g * 2 + 0 * inner

    x, w = ocl.randn(3, 3, requires_grad=True), ocl.randn(3, 3, requires_grad=True)
    y = Doubled.apply(x @ w) @ w
    ones = ocl.ones_like(y)
    (alone,) = ocl.autograd.grad(y, [w], ones, retain_graph=True)
    _, beside = ocl.autograd.grad(y, [x, w], ones)
    assert np.array_equal(alone.numpy(), beside.numpy())


VIEWS = {
    "diagonal": lambda e: e.diagonal(),
    "diagonal above": lambda e: e.diagonal(1, 1, 0),
    "select": lambda e: e.select(1, 1),
    "narrow": lambda e: e.narrow(1, 0, 2),
    "steps": lambda e: e[:, ::2],
    "transpose": lambda e: e.T,
    "unsqueeze": lambda e: e.unsqueeze(0),
    "split": lambda e: e.split(2, 1)[1],
    "unbind": lambda e: e.unbind(1)[2],
    "chunk": lambda e: e.chunk(2, 1)[1],
    "expand": lambda e: e.expand(2, 3, 4),
    "reshape": lambda e: e.reshape(2, 6)[1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_elements_that_share_memory_have_gradients_of_their_own(name):
    """Towards an expanded tensor itself: a view's gradient goes by positions, not by places in memory."""
    for base in ([[1.0], [2.0], [3.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0]]):

        def gradient_of(lib, base=base):
            expanded = lib.tensor(base, requires_grad=True).expand(3, 4)
            view = VIEWS[name](expanded)
            weights = lib.arange(1.0, view.numel() + 1).reshape(view.shape)
            return lib.autograd.grad((view * weights).sum(), [expanded])[0]

        expect_exact(gradient_of(ocl), gradient_of(torch).tolist())
