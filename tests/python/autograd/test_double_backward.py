"""Gradients of gradients: create_graph=True, against PyTorch in float64."""

import gc

import numpy as np
import pytest
import torch
from support import has_float64

import ocl

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")


def pair(rng, *shape):
    """A leaf with random elements in both libraries."""
    array = rng.standard_normal(shape)
    return torch.tensor(array, requires_grad=True), ocl.tensor(array, requires_grad=True)


def compare(expected, actual):
    np.testing.assert_allclose(
        actual.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-11
    )


def nets(rng, *sizes, activation="Tanh"):
    """One small net in both libraries."""
    found = []
    weights = [
        (rng.standard_normal((n, m)) / np.sqrt(m), rng.standard_normal(n))
        for m, n in zip(sizes, sizes[1:], strict=False)
    ]
    for lib in (torch, ocl):
        layers = []
        for weight, bias in weights:
            layer = lib.nn.Linear(weight.shape[1], weight.shape[0], dtype=lib.float64)
            with lib.no_grad():
                layer.weight.copy_(lib.tensor(weight))
                layer.bias.copy_(lib.tensor(bias))
            layers += [layer, getattr(lib.nn, activation)()]
        found.append(lib.nn.Sequential(*layers[:-1]))
    return found


def test_orders_of_a_polynomial():
    x = ocl.tensor([1.0, 2.0, -3.0], dtype=ocl.float64, requires_grad=True)
    y = (x**5).sum()
    for expected in (
        [5.0, 80.0, 405.0],
        [20.0, 160.0, -540.0],
        [60.0, 240.0, 540.0],
        [120.0, 240.0, -360.0],
        [120.0] * 3,
    ):
        (g,) = ocl.autograd.grad(y, x, create_graph=True)
        np.testing.assert_allclose(g.detach().tolist(), expected, rtol=1e-12)
        y = g.sum()


def test_backward_leaves_a_gradient_with_a_history():
    for lib in (torch, ocl):
        x = lib.tensor([2.0, 3.0], dtype=lib.float64, requires_grad=True)
        (x**3).sum().backward(create_graph=True)
        assert x.grad.grad_fn is not None and x.grad.requires_grad
        (x.grad * x).sum().backward()  # d(3 x^3)/dx is added to 3 x^2
        assert x.grad.tolist() == [12 + 36, 27 + 81]
    plain = ocl.tensor([2.0], requires_grad=True)
    (plain**2).sum().backward()
    assert plain.grad.grad_fn is None and not plain.grad.requires_grad


def test_the_graph_is_kept_where_one_is_made():
    x = ocl.tensor([2.0], dtype=ocl.float64, requires_grad=True)
    y = ocl.exp(x) * x
    ocl.autograd.grad(y, x, create_graph=True)
    ocl.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        ocl.autograd.grad(y, x)
    z = ocl.exp(x) * x
    (g,) = ocl.autograd.grad(z, x, retain_graph=False, create_graph=True)
    with pytest.raises(RuntimeError, match="second time"):
        g.backward()


def test_gradients_without_a_graph_have_no_history():
    x = ocl.tensor([2.0], requires_grad=True)
    (g,) = ocl.autograd.grad(x * x, x)
    assert not g.requires_grad and g.grad_fn is None


def test_gradient_penalty():
    """A step of a critic (WGAN-GP): the norm of a gradient in the loss."""
    rng = np.random.default_rng(3)
    critics = nets(rng, 5, 16, 16, 1, activation="LeakyReLU")
    real, fake, mix = rng.standard_normal((7, 5)), rng.standard_normal((7, 5)), rng.random((7, 1))
    results = []
    for lib, critic in zip((torch, ocl), critics, strict=True):
        between = lib.tensor(mix * real + (1 - mix) * fake, requires_grad=True)
        score = critic(between)
        (slope,) = lib.autograd.grad(score, between, lib.ones_like(score), create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(lib.tensor(fake)).mean() - critic(lib.tensor(real)).mean() + 10 * penalty
        loss.backward()
        results.append([loss, *(p.grad for p in critic.parameters() if p.grad is not None)])
    assert len(results[0]) == len(results[1])
    for expected, actual in zip(*results, strict=True):
        compare(expected, actual)


def test_physics_informed_net():
    """The residual of u_t + u u_x = 0.01 u_xx, differentiated by the weights."""
    rng = np.random.default_rng(4)
    results = []
    points = rng.uniform(-1, 1, (11, 2))
    for lib, net in zip((torch, ocl), nets(rng, 2, 12, 12, 1), strict=True):
        at = lib.tensor(points, requires_grad=True)
        u = net(at)
        (first,) = lib.autograd.grad(u.sum(), at, create_graph=True)
        u_x, u_t = first[:, 0:1], first[:, 1:2]
        u_xx = lib.autograd.grad(u_x.sum(), at, create_graph=True)[0][:, 0:1]
        loss = ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()
        loss.backward()
        results.append([loss, *(p.grad for p in net.parameters())])
    for expected, actual in zip(*results, strict=True):
        compare(expected, actual)


def test_inner_loop_of_second_order():
    """Two inner steps of MAML, and the gradient through both."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((9, 4)), rng.standard_normal((9, 3))
    start = [rng.standard_normal((4, 8)) / 2, rng.standard_normal(8), rng.standard_normal((8, 3)) / 2]
    results = []
    for lib in (torch, ocl):
        weights = [lib.tensor(w, requires_grad=True) for w in start]

        def loss(fast, lib=lib):
            return ((lib.tanh(lib.tensor(x) @ fast[0] + fast[1]) @ fast[2] - lib.tensor(y)) ** 2).mean()

        fast = weights
        for _ in range(2):
            slopes = lib.autograd.grad(loss(fast), fast, create_graph=True)
            fast = [w - 0.1 * s for w, s in zip(fast, slopes, strict=True)]
        results.append(lib.autograd.grad(loss(fast), weights))
    for expected, actual in zip(*results, strict=True):
        compare(expected, actual)


def test_hessian_times_vector():
    rng = np.random.default_rng(6)
    results = []
    vectors = None
    for lib, net in zip((torch, ocl), nets(rng, 3, 6, 2), strict=True):
        weights = list(net.parameters())
        vectors = vectors or [rng.standard_normal(tuple(w.shape)) for w in weights]
        loss = net(lib.tensor(np.linspace(-1, 1, 12).reshape(4, 3))).square().sum()
        slopes = lib.autograd.grad(loss, weights, create_graph=True)
        along = sum((s * lib.tensor(v)).sum() for s, v in zip(slopes, vectors, strict=True))
        results.append(lib.autograd.grad(along, weights))
    for expected, actual in zip(*results, strict=True):
        compare(expected, actual)


def second(lib, function, *inputs):
    """The gradients of the sum of the squares of function's gradients, each of the inputs' own."""
    output = function(*inputs)
    weights = lib.linspace(1, 2, output.numel(), dtype=lib.float64).reshape(output.shape)
    first = lib.autograd.grad((output * weights).sum(), inputs, create_graph=True, allow_unused=True)
    total = sum(g.square().sum() for g in first if g is not None)
    return lib.autograd.grad(total, inputs, allow_unused=True)


def written_in_place(lib):
    def function(x, y):
        z = x * 2
        z.mul_(y)
        z.sin_()
        z[0].mul_(y[1])
        z[:, 1] = y.sum(1) ** 2
        z.add_(x, alpha=2)
        return z.t().contiguous().sigmoid_() * x.t()

    return function


def written_through_views(lib):
    def function(x, y):
        z = x * y
        z[1:].cos_()
        z.view(-1)[2:5].mul_(z[0, 0].detach() + y.view(-1)[:3])
        z.transpose(0, 1)[1].copy_(x[:, 0] ** 3)
        z.masked_fill_(lib.tensor([[True, False, False]]), 2.0)
        return z.sin()

    return function


def branches_of_one_tensor(lib):
    def function(x, y):
        shared = (x * y).tanh()
        parts = shared.split([1, 2], dim=1)
        return lib.cat([parts[1] * parts[0], shared.unbind(0)[0].expand(2, 3)], 1) * shared[0, 0]

    return function


@pytest.mark.parametrize("program", [written_in_place, written_through_views, branches_of_one_tensor])
def test_programs(program):
    rng = np.random.default_rng(7)
    pairs = [pair(rng, 3 if program is not branches_of_one_tensor else 2, 3) for _ in range(2)]
    expected = second(torch, program(torch), *(p[0] for p in pairs))
    actual = second(ocl, program(ocl), *(p[1] for p in pairs))
    for e, a in zip(expected, actual, strict=True):
        compare(e, a)


LAYERS = {
    "conv": (lambda nn, dt: nn.Conv2d(4, 6, 3, padding=1, stride=2, groups=2, dtype=dt), (2, 4, 5, 6)),
    "conv1d": (lambda nn, dt: nn.Conv1d(3, 4, 3, dilation=2, dtype=dt), (2, 3, 9)),
    "conv transposed": (
        lambda nn, dt: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1, dtype=dt),
        (2, 3, 4, 3),
    ),
    "batch norm": (lambda nn, dt: nn.BatchNorm2d(3, dtype=dt), (4, 3, 2, 3)),
    "batch norm, evaluating": (lambda nn, dt: nn.BatchNorm1d(3, dtype=dt).eval(), (4, 3)),
    "layer norm": (lambda nn, dt: nn.LayerNorm((2, 3), dtype=dt), (4, 2, 3)),
    "group norm": (lambda nn, dt: nn.GroupNorm(2, 4, dtype=dt), (3, 4, 5)),
    "instance norm": (lambda nn, dt: nn.InstanceNorm2d(3, affine=True, dtype=dt), (2, 3, 3, 2)),
    "lstm": (lambda nn, dt: nn.LSTM(3, 4, num_layers=2, bidirectional=True, dtype=dt), (5, 2, 3)),
    "lstm, projecting": (lambda nn, dt: nn.LSTM(3, 4, proj_size=2, dtype=dt), (4, 2, 3)),
    "gru": (lambda nn, dt: nn.GRU(3, 4, batch_first=True, dtype=dt), (2, 5, 3)),
    "rnn": (lambda nn, dt: nn.RNN(3, 4, nonlinearity="tanh", bias=False, dtype=dt), (4, 2, 3)),
    "transformer": (
        lambda nn, dt: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", dtype=dt),
        (4, 3, 8),
    ),
    "max pool": (lambda nn, dt: nn.MaxPool2d(2), (2, 3, 4, 6)),
    "average pool": (lambda nn, dt: nn.AdaptiveAvgPool2d((2, 3)), (2, 3, 5, 4)),
}


def results_of(layer):
    def function(*inputs):
        result = layer(inputs[0])
        result = result[0] if isinstance(result, tuple) else result
        return result * result

    return function


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    make, shape = LAYERS[name]
    rng = np.random.default_rng(8)
    mine = make(ocl.nn, ocl.float64)
    theirs = make(torch.nn, torch.float64)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.tensor(rng.standard_normal(tuple(parameter.shape)) / 2))
    mine.load_state_dict({k: ocl.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    x, own = pair(rng, *shape)
    with torch.nn.attention.sdpa_kernel(
        torch.nn.attention.SDPBackend.MATH
    ):  # the one with a second derivative
        expected = second(torch, results_of(theirs), x, *theirs.parameters())
    actual = second(ocl, results_of(mine), own, *mine.parameters())
    for e, a in zip(expected, actual, strict=True):
        assert (e is None) == (a is None)
        if e is not None:
            compare(e, a)


def test_dropout_drops_the_same_again():
    x = ocl.ones(50, dtype=ocl.float64, requires_grad=True)
    y = ocl.nn.functional.dropout(x**3, 0.4)
    (g,) = ocl.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = ocl.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.tolist(), (2 * g).tolist(), rtol=1e-12)
    assert 0 < (g == 0).sum().item() < 50


def test_sixteen_bits():
    rng = np.random.default_rng(9)
    array = rng.standard_normal((4, 6)).astype(np.float32)
    for dtype in (ocl.float16, ocl.bfloat16):
        x = ocl.tensor(array).to(dtype).requires_grad_()
        w = ocl.tensor(array.T.copy()).to(dtype).requires_grad_()
        loss = (
            ocl.softmax(ocl.tanh(x @ w), -1).square().sum()
            + ocl.nn.functional.layer_norm(x, (6,)).exp().mean()
        )
        (g,) = ocl.autograd.grad(loss, x, create_graph=True)
        assert g.dtype == dtype
        (h,) = ocl.autograd.grad(g.square().sum(), w)
        assert h.dtype == dtype and ocl.isfinite(h).all().item()


class Cube(ocl.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x**3
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx, grad):
        x, result = ctx.saved_tensors
        return 3 * grad * result / x


class CubeOnce(Cube):
    @staticmethod
    @ocl.autograd.once_differentiable
    def backward(ctx, grad):
        x, _ = ctx.saved_tensors
        return 3 * grad * x * x


def test_functions_of_the_users():
    x = ocl.tensor([2.0, -3.0], dtype=ocl.float64, requires_grad=True)
    y = Cube.apply(x).sum()
    for expected in ([12.0, 27.0], [12.0, -18.0], [6.0, 6.0]):
        (g,) = ocl.autograd.grad(y, x, create_graph=True)
        np.testing.assert_allclose(g.detach().tolist(), expected, rtol=1e-12)
        y = g.sum()


def test_functions_that_are_differentiable_once():
    x = ocl.tensor([2.0], dtype=ocl.float64, requires_grad=True)
    (g,) = ocl.autograd.grad(CubeOnce.apply(x), x, create_graph=True)
    assert g.item() == 12
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


def test_hooks_see_and_change_recorded_gradients():
    results = []
    for lib in (torch, ocl):
        x = lib.tensor([2.0], dtype=lib.float64, requires_grad=True)
        y = x * x
        y.register_hook(lambda g: g * g * 3)
        (g,) = lib.autograd.grad(y * x, x, create_graph=True)
        results.append([g.item(), lib.autograd.grad(g, x)[0].item()])
    assert results[0] == results[1]


def test_graphs_of_gradients_are_freed():
    def once():
        x = ocl.ones(1000, dtype=ocl.float64, requires_grad=True)
        (x.exp() * x).sum().backward(create_graph=True)
        x.grad.square().sum().backward()

    once()
    ocl.synchronize()
    gc.collect()
    before = ocl.memory_allocated()
    for _ in range(20):
        once()
    gc.collect()
    ocl.synchronize()
    assert ocl.memory_allocated() == before


def test_values_saved_are_watched():
    x = ocl.tensor([2.0], dtype=ocl.float64, requires_grad=True)
    y = x * 1
    z = y * y
    with ocl.no_grad():
        y.data.mul_(1)
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        ocl.autograd.grad(z, x, create_graph=True)
