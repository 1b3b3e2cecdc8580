"""Convolutions, layers and losses of complex numbers beside PyTorch's."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch

import ocl

WIDE = {"complex64": "complex128"}


def numbers(shape, seed=0, dtype="complex64"):
    draws = np.random.default_rng([seed, *shape])
    return (draws.standard_normal(shape) + 1j * draws.standard_normal(shape)).astype(dtype)


def gradients(lib, function, arrays):
    """The result of a function of leaves and their gradients, of a real sum with random weights."""
    leaves = [lib.tensor(array).requires_grad_() for array in arrays]
    result = function(lib, *leaves)
    weights = lib.tensor(numbers(tuple(result.shape), 9)).to(
        result.dtype if result.is_complex() else lib.complex64
    )
    (result * weights).real.sum().backward()
    return [t.detach().resolve_conj().numpy() for t in (result, *(leaf.grad for leaf in leaves))]


def check(function, *arrays):
    """Ours are as near to complex128's as PyTorch's are."""
    ours, theirs = (gradients(lib, function, arrays) for lib in (ocl, torch))
    truth = gradients(torch, function, [array.astype(WIDE[str(array.dtype)]) for array in arrays])
    for mine, its, exact in zip(ours, theirs, truth, strict=True):
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
        scale = np.abs(exact).max(initial=1)
        allowed = 4 * np.abs(its - exact).max(initial=0) + 16 * np.finfo("float32").eps * scale
        assert np.abs(mine - exact).max(initial=0) <= allowed


CONVOLUTIONS = {
    "1d": ("conv1d", (2, 4, 9), (6, 4, 3), {}),
    "1d grouped": ("conv1d", (2, 4, 9), (6, 2, 3), {"groups": 2, "stride": 2, "padding": 1, "dilation": 2}),
    "1d same": ("conv1d", (2, 4, 9), (6, 4, 4), {"padding": "same"}),
    "1d alone": ("conv1d", (4, 9), (6, 4, 1), {}),
    "2d": ("conv2d", (2, 3, 7, 8), (5, 3, 3, 2), {"padding": (1, 0), "stride": (2, 1)}),
    "2d depthwise": ("conv2d", (1, 4, 7, 8), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
    "2d pointwise": ("conv2d", (3, 4, 5, 5), (7, 4, 1, 1), {}),
    "3d": ("conv3d", (1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"dilation": (1, 1, 2), "padding": 1}),
    "1d transposed": ("conv_transpose1d", (2, 4, 6), (4, 3, 3), {"stride": 2, "output_padding": 1}),
    "2d transposed": (
        "conv_transpose2d",
        (2, 4, 3, 5),
        (4, 2, 3, 2),
        {"groups": 2, "stride": (1, 2), "padding": 1},
    ),
    "3d transposed": ("conv_transpose3d", (1, 2, 2, 3, 2), (2, 3, 2, 2, 3), {"dilation": 2}),
}


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name, with_bias):
    function, x, w, options = CONVOLUTIONS[name]
    outputs = w[1] * options.get("groups", 1) if "transpose" in function else w[0]
    arrays = [numbers(x, 1), numbers(w, 2)] + ([numbers((outputs,), 3)] if with_bias else [])
    check(lambda lib, *given: getattr(lib.nn.functional, function)(*given, **options), *arrays)
    check(lambda lib, *given: getattr(lib, function)(*given, **options), *arrays)


def test_convolutions_of_views_and_of_no_examples():
    check(
        lambda lib, x, w: lib.nn.functional.conv2d(x.mT[:, ::2], w),
        numbers((2, 6, 5, 7)),
        numbers((2, 3, 3, 3)),
    )
    check(lambda lib, x, w: lib.nn.functional.conv1d(x, w), numbers((0, 3, 5)), numbers((2, 3, 3)))


def test_second_gradients_of_convolutions():
    found = []
    for lib in (ocl, torch):
        x, w = (lib.tensor(numbers(s, 4, "complex128")).requires_grad_() for s in ((1, 2, 6), (3, 2, 3)))
        value = lib.nn.functional.conv1d(x, w)
        (first,) = lib.autograd.grad((value * value).real.sum(), x, create_graph=True)
        found.append(lib.autograd.grad((first * first).imag.sum(), (x, w)))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.resolve_conj().numpy(), rtol=1e-9)


LAYERS = {
    "Linear": (lambda nn, d: nn.Linear(4, 3, dtype=d), (2, 5, 4)),
    "Linear without bias": (lambda nn, d: nn.Linear(4, 3, False, None, d), (4,)),
    "Conv1d": (lambda nn, d: nn.Conv1d(4, 6, 3, padding=1, groups=2, dtype=d), (2, 4, 7)),
    "Conv2d reflect": (
        lambda nn, d: nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode="reflect", dtype=d),
        (2, 2, 5, 6),
    ),
    "Conv2d circular": (
        lambda nn, d: nn.Conv2d(2, 3, (2, 4), padding="same", padding_mode="circular", dtype=d),
        (2, 2, 5, 6),
    ),
    "Conv2d replicate": (
        lambda nn, d: nn.Conv2d(2, 3, 3, 2, 1, padding_mode="replicate", dtype=d),
        (2, 5, 6),
    ),
    "Conv3d": (lambda nn, d: nn.Conv3d(2, 3, 2, bias=False, dtype=d), (1, 2, 3, 4, 3)),
    "ConvTranspose1d": (lambda nn, d: nn.ConvTranspose1d(4, 2, 3, stride=2, dtype=d), (2, 4, 5)),
    "ConvTranspose2d": (lambda nn, d: nn.ConvTranspose2d(4, 2, 3, 2, 1, 1, 2, dtype=d), (2, 4, 5, 4)),
    "ConvTranspose3d": (lambda nn, d: nn.ConvTranspose3d(2, 2, 2, dtype=d), (1, 2, 3, 2, 3)),
}


def twins(name):
    """A layer of each library with the same parameters."""
    layer = LAYERS[name][0](ocl.nn, ocl.complex64)
    other = LAYERS[name][0](torch.nn, torch.complex64)
    assert {k: (tuple(p.shape), str(p.dtype)[4:]) for k, p in layer.named_parameters()} == {
        k: (tuple(p.shape), str(p.dtype)[6:]) for k, p in other.named_parameters()
    }
    other.load_state_dict({k: torch.from_numpy(p.numpy().copy()) for k, p in layer.state_dict().items()})
    return {ocl: layer, torch: other}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    pair = twins(name)
    check_x = numbers(LAYERS[name][1])
    outputs = {}
    for lib, layer in pair.items():
        x = lib.tensor(check_x).requires_grad_()
        y = layer(x)
        y.abs().square().sum().backward()
        outputs[lib] = [y, x.grad, *(p.grad for p in layer.parameters())]
        assert repr(layer) == repr(pair[ocl])
    for mine, theirs in zip(*outputs.values(), strict=True):
        expected = theirs.detach().resolve_conj().numpy()
        scale = np.abs(expected).max()
        np.testing.assert_allclose(mine.detach().numpy(), expected, rtol=1e-5, atol=1e-5 * scale)


def test_transposed_layers_take_an_output_size():
    pair = twins("ConvTranspose1d")
    x = numbers((2, 4, 5))
    for size in ((12,), (2, 2, 11)):
        ours, theirs = (layer(lib.tensor(x), output_size=list(size)) for lib, layer in pair.items())
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)
    for lib, layer in pair.items():
        with pytest.raises(ValueError, match="requested an output size of"):
            layer(lib.tensor(x), output_size=[20])


def test_copies_files_and_containers(tmp_path):
    net = ocl.nn.Sequential(
        ocl.nn.Conv1d(2, 3, 3, dtype=ocl.complex64), ocl.nn.Conv1d(3, 2, 1, dtype=ocl.complex64)
    )
    x = ocl.tensor(numbers((2, 2, 6)))
    expected = net(x).detach().numpy()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        np.testing.assert_array_equal(other(x).detach().numpy(), expected)
    ocl.save(net.state_dict(), tmp_path / "net.pt")
    fresh = ocl.nn.Sequential(
        ocl.nn.Conv1d(2, 3, 3, dtype=ocl.complex64), ocl.nn.Conv1d(3, 2, 1, dtype=ocl.complex64)
    )
    fresh.load_state_dict(ocl.load(tmp_path / "net.pt"))
    np.testing.assert_array_equal(fresh(x).detach().numpy(), expected)


def test_embeddings():
    layer = ocl.nn.Embedding(2000, 8, padding_idx=1, dtype=ocl.complex64)
    rows = layer.weight.detach().numpy()
    assert not rows[1].any() and abs((np.abs(rows) ** 2).mean() - 1) < 0.05
    np.testing.assert_array_equal(layer(ocl.tensor([[3, 1]])).detach().numpy(), rows[[[3, 1]]])


def test_modules_are_converted():
    """Real ones to complex ones and back, with their gradients; parameters stay the same objects."""
    x = np.random.default_rng(0).standard_normal((2, 3, 5)).astype("float32")
    results = []
    state = None
    for lib in (ocl, torch):
        net = lib.nn.Sequential(lib.nn.Conv1d(3, 4, 3), lib.nn.Tanh())
        if state is None:
            state = {k: p.numpy() for k, p in net.state_dict().items()}
        net.load_state_dict({k: lib.tensor(p.copy()) for k, p in state.items()})
        weight = net[0].weight
        net(lib.tensor(x)).sum().backward()
        with pytest.warns(UserWarning, match="Complex modules"):
            assert net.to(lib.complex64) is net
        assert net[0].weight is weight and weight.is_complex() and weight.grad.is_complex()
        y = net(lib.tensor(x) * (1 + 0.5j))
        net.half()  # leaves complex numbers
        assert weight.is_complex()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            net.to(lib.float64)
        z = net(lib.tensor(x).double())
        results.append([t.detach().numpy() for t in (y, z, weight.grad)])
    for mine, theirs in zip(*results, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    for lib in (ocl, torch):
        with pytest.raises(TypeError, match="only accepts floating"):
            lib.nn.Linear(1, 1, dtype=lib.complex64).to(lib.int64)


INITS = {
    "uniform_": 1 / 3,  # the mean of each part's square
    "normal_": 0.5,
    "xavier_uniform_": 2 / (60 + 40),
    "xavier_normal_": 1 / (60 + 40),
    "kaiming_uniform_": 2 / 60,
    "kaiming_normal_": 1 / 60,
}


@pytest.mark.parametrize("name", INITS)
@pytest.mark.parametrize("lib", [ocl, torch], ids=["ocl", "torch"])
def test_complex_parameters_are_drawn(lib, name):
    weight = lib.nn.Parameter(lib.empty(40, 60, dtype=lib.complex64))
    assert getattr(lib.nn.init, name)(weight) is weight
    z = weight.detach().numpy()
    for part in (z.real, z.imag):
        assert abs((part**2).mean() / INITS[name] - 1) < 0.15
    assert abs((z.real * z.imag).mean()) < 0.1 + 0.2 * (name == "uniform_")


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_l1_loss(reduction):
    a, b = numbers((3, 4), 1), numbers((3, 4), 2)
    b[0, 0] = a[0, 0]
    check(lambda lib, x, y: lib.nn.functional.l1_loss(x, y, reduction=reduction), a, b)
    check(lambda lib, x, y: lib.nn.L1Loss(reduction=reduction)(x, y), a, b)


def test_refusals():
    z, x = ocl.tensor(numbers((1, 2, 5))), ocl.ones(1, 2, 3)
    with pytest.raises(TypeError, match="conv1d: expected input, weight and bias of one dtype"):
        ocl.nn.functional.conv1d(z, x)
    with pytest.raises(TypeError, match="conv1d: expected Tensors for input, weight and bias, got int"):
        ocl.nn.functional.conv1d(3, z)
    with pytest.raises(ValueError, match="to have 3 channels, but got 2 channels instead"):
        ocl.nn.functional.conv1d(z, ocl.tensor(numbers((2, 3, 3))))
    with pytest.raises(TypeError, match="must be a floating point one"):
        ocl.nn.BatchNorm1d(3, dtype=ocl.complex64)
    with pytest.raises(TypeError, match="mse_loss"):
        ocl.nn.functional.mse_loss(z, z)


def test_autocast_leaves_complex_numbers():
    layer, z = ocl.nn.Conv1d(2, 2, 3, dtype=ocl.complex64), ocl.tensor(numbers((1, 2, 5)))
    expected = layer(z).detach().numpy()
    with ocl.autocast("ocl", dtype=ocl.bfloat16):
        np.testing.assert_array_equal(layer(z).detach().numpy(), expected)


def test_vmap_of_complex_convolutions():
    x, w = ocl.tensor(numbers((3, 2, 2, 6))), ocl.tensor(numbers((4, 2, 3)))
    mapped = ocl.vmap(lambda one: ocl.nn.functional.conv1d(one, w))(x)
    looped = ocl.stack([ocl.nn.functional.conv1d(one, w) for one in x])
    np.testing.assert_allclose(mapped.numpy(), looped.numpy(), rtol=1e-5, atol=1e-5)


def test_a_complex_net_learns():
    ocl.manual_seed(0)
    net = ocl.nn.Sequential(ocl.nn.Conv1d(1, 4, 3, padding=1, dtype=ocl.complex64), ocl.nn.Tanh(),
                            ocl.nn.Conv1d(4, 1, 3, padding=1, dtype=ocl.complex64))  # fmt: skip
    x = ocl.tensor(numbers((8, 1, 12), 1) * 0.3)
    target = x.roll(1, -1) * 1j
    optimizer, losses = ocl.optim.Adam(net.parameters(), 0.02), []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (net(x) - target).abs().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5
