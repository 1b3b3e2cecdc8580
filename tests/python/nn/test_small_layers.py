"""Layers that Python makes of others, beside PyTorch's, and the names of nn.modules."""

import importlib
import math
import warnings

import numpy as np
import pytest
import torch

import ocl
from ocl.nn import modules

F, TF = ocl.nn.functional, torch.nn.functional


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def alike(make, *arrays, rtol=1e-5, atol=1e-5):
    """make(library, *tensors) gives the same results and gradients in both."""
    found = []
    for lib in (torch, ocl):
        inputs = [lib.tensor(a) for a in arrays]
        for x in inputs:
            if x.is_floating_point():
                x.requires_grad_()
        given = make(lib, *inputs)
        parts = given if isinstance(given, tuple) else (given,)
        flowing = [p for p in parts if p.requires_grad]
        sum((p * p).sum() for p in flowing).backward()
        found.append(
            [p.detach().numpy() for p in parts] + [x.grad.numpy() for x in inputs if x.grad is not None]
        )
    for theirs, ours in zip(*found, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_constant_pads(axes):
    name, x = f"ConstantPad{axes}d", drawn(2, *range(2, 3 + axes))
    for padding in (1, tuple(range(2 * axes))):
        alike(lambda lib, x, p=padding: getattr(lib.nn, name)(p, 3.5)(x), x)
        assert repr(getattr(ocl.nn, name)(padding, 3.5)) == repr(getattr(torch.nn, name)(padding, 3.5))
    with pytest.raises(ValueError, match="amounts of padding"):
        getattr(ocl.nn, name)((1, 2, 3), 0)


def test_upsampling():
    x = drawn(2, 3, 4, 5)
    for name in ("UpsamplingNearest2d", "UpsamplingBilinear2d"):
        alike(lambda lib, x, n=name: getattr(lib.nn, n)(scale_factor=2)(x), x)
        alike(lambda lib, x, n=name: getattr(lib.nn, n)(size=(3, 7))(x), x)
        assert repr(getattr(ocl.nn, name)(scale_factor=2)) == repr(getattr(torch.nn, name)(scale_factor=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(lambda lib, x: lib.nn.functional.upsample(x, scale_factor=2), x)
        alike(lambda lib, x: lib.nn.functional.upsample_nearest(x, (2, 3)), x)
        alike(lambda lib, x: lib.nn.functional.upsample_bilinear(x, scale_factor=2), x)
    with pytest.warns(UserWarning, match="upsample` is deprecated"):
        F.upsample(ocl.ones(1, 1, 2, 2), size=3)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_max_pools_with_indices(axes):
    name = f"max_pool{axes}d_with_indices"
    alike(lambda lib, x: getattr(lib.nn.functional, name)(x, 2, 1), drawn(2, 3, *[5] * axes))
    alike(lambda lib, x: getattr(lib.nn.functional, f"adaptive_{name}")(x, 3), drawn(2, 3, *[5] * axes))


def test_functions_over_their_input():
    x = drawn(3, 4)
    calls = {"relu": (), "elu": (0.5,), "leaky_relu": (0.1,), "selu": (), "celu": (2.0,), "rrelu": ()}
    for name, arguments in {**calls, "hardtanh": (-0.5, 0.5), "threshold": (0.1, 7.0)}.items():
        ours, theirs = ocl.tensor(x), torch.tensor(x)
        assert getattr(F, name + "_")(ours, *arguments) is ours
        getattr(TF, name + "_")(theirs, *arguments)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("tracks", [False, True])
def test_instance_norm_of_volumes(affine, tracks):
    ours, theirs = (
        lib.nn.InstanceNorm3d(3, affine=affine, track_running_stats=tracks) for lib in (ocl, torch)
    )
    assert repr(ours) == repr(theirs)
    for shape in ((2, 3, 4, 5, 2), (3, 4, 5, 2)):
        x = drawn(*shape)
        alike(lambda lib, x: (ours if lib is ocl else theirs)(x), x, atol=1e-4)
    ours.eval(), theirs.eval()
    alike(lambda lib, x: (ours if lib is ocl else theirs)(x), drawn(2, 3, 2, 2, 2), atol=1e-4)
    for name, tensor in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[name].numpy(), tensor.numpy(), rtol=1e-5, atol=1e-6)
    for lib in (torch, ocl):
        with pytest.raises(ValueError, match="4D or 5D"):
            lib.nn.InstanceNorm3d(3)(lib.ones(3, 4, 5))


# --- dropouts ---


@pytest.mark.parametrize(("axes", "name"), [(1, "dropout1d"), (3, "dropout3d")])
def test_dropouts_of_channels(axes, name):
    x = ocl.ones(40, 50, *[3] * axes)
    result = getattr(F, name)(x, 0.3)
    channels = result.reshape(40, 50, -1).numpy()
    np.testing.assert_allclose(np.unique(channels), [0, 1 / 0.7], rtol=1e-6)
    assert (channels == channels[..., :1]).all()
    assert abs((channels[..., 0] == 0).mean() - 0.3) < 0.05
    assert getattr(F, name)(x, 0.3, training=False) is x
    assert (getattr(F, name)(x, 1.0) == 0).all().item()
    assert getattr(F, name)(x[0], 0.5).shape == x[0].shape
    assert getattr(F, name)(x, 0.3, inplace=True) is x and (x == 0).any().item()
    for lib in (torch, ocl):
        with pytest.raises(ValueError, match="between 0 and 1"):
            getattr(lib.nn.functional, name)(lib.ones(2, 2, *[2] * axes), 1.5)
    with pytest.raises(ValueError, match=f"expected {axes + 1}D or"):
        getattr(F, name)(ocl.ones(2))


def test_alpha_dropout_keeps_mean_and_variance():
    x = ocl.randn(200, 500)
    for function in (F.alpha_dropout, F.feature_alpha_dropout):
        result = function(x, 0.2, training=True)
        assert abs(result.mean().item()) < 0.02 and abs(result.var().item() - 1) < 0.03
        assert function(x, 0.2) is x and function(x, 0.0, training=True) is x
        assert (function(x, 1.0, training=True) == 0).all().item()
    x = ocl.ones(30, 40, 3, requires_grad=True)
    result = F.feature_alpha_dropout(x, 0.4, training=True)
    result.sum().backward()
    channels = result.detach().numpy()
    assert (channels == channels[..., :1]).all() and len(np.unique(channels)) == 2
    # Both values are PyTorch's.
    expected = np.unique(TF.alpha_dropout(torch.ones(1000), 0.4, training=True).numpy())
    np.testing.assert_allclose(np.unique(channels), expected, rtol=1e-5)
    assert len(np.unique(x.grad.numpy())) == 2
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        F.feature_alpha_dropout(ocl.ones(3), 0.5, training=True)


@pytest.mark.parametrize("name", ["Dropout1d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"])
def test_modules_of_dropout(name):
    ours, theirs = getattr(ocl.nn, name)(0.4), getattr(torch.nn, name)(0.4)
    assert repr(ours) == repr(theirs)
    x = ocl.ones(4, 5, *[2] * (3 if "3" in name else 1))
    assert (ours(x) != x).any().item()
    assert ours.eval()(x) is x
    for lib in (torch, ocl):
        with pytest.raises(ValueError, match="between 0 and 1"):
            getattr(lib.nn, name)(-0.1)


# --- fractional max pools ---


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("axes", "shape", "kernel", "sizes"),
    [
        (2, (2, 3, 9, 8), 2, {"output_size": (5, 4)}),
        (2, (3, 9, 8), (3, 2), {"output_ratio": (0.5, 0.6)}),
        (2, (2, 3, 7, 7), 2, {"output_size": 1}),
        (2, (1, 1, 5, 5), 2, {"output_size": 4}),
        (3, (2, 3, 6, 7, 8), 2, {"output_size": (3, 4, 5)}),
        (3, (2, 6, 7, 8), (2, 1, 3), {"output_ratio": 0.5}),
    ],
)
def test_fractional_max_pools(axes, shape, kernel, sizes, dtype):
    x = drawn(*shape).astype(dtype)
    lead = shape[:2] if len(shape) == axes + 2 else (1, shape[0])
    samples = np.random.default_rng(2).uniform(0, 1, (*lead, axes)).astype(dtype)

    def pool(lib, x):
        given = {**sizes, "return_indices": True, "_random_samples": lib.tensor(samples)}
        return getattr(lib.nn.functional, f"fractional_max_pool{axes}d")(x, kernel, **given)

    alike(pool, x)

    def layer(lib, x):
        given = {**sizes, "_random_samples": lib.tensor(samples)}
        return getattr(lib.nn, f"FractionalMaxPool{axes}d")(kernel, **given)(x)

    alike(layer, x)


def test_fractional_max_pools_draw():
    x = ocl.tensor(drawn(2, 3, 12, 12))
    first, second = (F.fractional_max_pool2d(x, 2, output_ratio=0.6) for _ in range(2))
    assert first.shape == (2, 3, 7, 7) and (first != second).any().item()
    indices = F.fractional_max_pool2d_with_indices(x, 2, 7)[1]
    values = x.reshape(2, 3, -1).gather(2, indices.reshape(2, 3, -1))
    assert values.max().item() == x.max().item() or values.max().item() <= x.max().item()


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.nn.functional.fractional_max_pool2d(lib.ones(1, 1, 5, 5), 2),
        lambda lib: lib.nn.functional.fractional_max_pool2d(lib.ones(1, 1, 5, 5), 2, 5),
        lambda lib: lib.nn.functional.fractional_max_pool2d(lib.ones(5, 5), 2, 2),
        lambda lib: lib.nn.functional.fractional_max_pool3d(lib.ones(1, 1, 5, 5), 2, (9, 2, 2)),
        lambda lib: lib.nn.FractionalMaxPool2d(2),
        lambda lib: lib.nn.FractionalMaxPool2d(2, output_size=2, output_ratio=0.5),
        lambda lib: lib.nn.FractionalMaxPool3d(2, output_ratio=1.5),
    ],
)
def test_what_fractional_max_pools_refuse(call):
    for lib in (torch, ocl):
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            call(lib)


# --- the adaptive softmax ---


def softmaxes(**named):
    ours, theirs = (lib.nn.AdaptiveLogSoftmaxWithLoss(64, 20, [4, 10, 15], **named) for lib in (ocl, torch))
    ours.load_state_dict({n: ocl.tensor(t.numpy()) for n, t in theirs.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("named", [{}, {"div_value": 2.0, "head_bias": True}])
def test_adaptive_softmax(named):
    ours, theirs = softmaxes(**named)
    assert repr(ours) == repr(theirs)
    x, target = drawn(9, 64), np.array([0, 19, 4, 3, 10, 14, 15, 9, 0])
    for rows in (slice(None), slice(0, 1), 3):  # all, one class alone, one without a batch
        alike(lambda lib, x, t: tuple((ours if lib is ocl else theirs)(x, t)), x[rows], target[rows])
    for (name, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)
    alike(lambda lib, x: (ours if lib is ocl else theirs).log_prob(x), x)
    assert ours.predict(ocl.tensor(x)).tolist() == theirs.predict(torch.tensor(x)).tolist()
    ours.reset_parameters()


@pytest.mark.parametrize("cutoffs", [[], [0, 5], [5, 5], [9, 5], [5, 20], [25]])
def test_cutoffs_that_are_refused(cutoffs):
    for lib in (torch, ocl):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)


def test_targets_that_are_refused():
    for lib, net in zip((ocl, torch), softmaxes(), strict=True):
        with pytest.raises(RuntimeError, match="Target values should be in"):
            net(lib.ones(2, 64), lib.tensor([1, 20]))
        with pytest.raises(RuntimeError, match="same size in the batch dimension"):
            net(lib.ones(2, 64), lib.tensor([1, 2, 3]))


# --- nn.modules ---


def test_modules_have_their_classes():
    names = (
        "activation batchnorm container conv dropout instancenorm linear loss normalization padding pooling"
    )
    for name in f"{names} rnn sparse transformer upsampling".split():
        ours = importlib.import_module(f"ocl.nn.modules.{name}")
        theirs = importlib.import_module(f"torch.nn.modules.{name}")
        missing = {n for n in theirs.__all__ if not hasattr(ours, n)}
        assert missing <= {"Container", "NLLLoss2d", "LinearCrossEntropyLoss"}, name
        assert all(getattr(ours, n) is getattr(ocl.nn, n) is getattr(modules, n) for n in ours.__all__)


def test_kinds_of_norms():
    for lib in (torch, ocl):
        batch, instance = lib.nn.modules.batchnorm._BatchNorm, lib.nn.modules.instancenorm._InstanceNorm
        assert issubclass(lib.nn.BatchNorm2d, batch) and isinstance(lib.nn.BatchNorm1d(2), batch)
        assert isinstance(lib.nn.InstanceNorm3d(2), instance) and not isinstance(
            lib.nn.InstanceNorm1d(2), batch
        )
        assert not issubclass(lib.nn.Linear, batch) and not isinstance(lib.nn.BatchNorm2d(2), instance)
        assert isinstance(type("Mine", (lib.nn.BatchNorm2d,), {})(3), batch)


def test_sizes_and_prefixes():
    for lib in (torch, ocl):
        utils = importlib.import_module(f"{lib.__name__}.nn.modules.utils")
        assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3)
        assert utils._single(2) == (2,) and utils._quadruple(1) == (1,) * 4 and utils._ntuple(2)(5) == (5, 5)
        assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
        state = lib.nn.Sequential(lib.nn.Linear(1, 1)).state_dict()
        state = type(state)((f"module.{name}", tensor) for name, tensor in state.items())
        utils.consume_prefix_in_state_dict_if_present(state, "module.")
        assert list(state) == ["0.weight", "0.bias"]


# --- orthogonal weights ---


@pytest.mark.parametrize("shape", [(5, 5), (6, 4), (4, 6)])
@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights(shape, name, trivial):
    nets, start = [], ocl.nn.Linear(*shape[::-1]).state_dict()
    for lib in (ocl, torch):
        net = lib.nn.Linear(*shape[::-1])
        net.load_state_dict({n: lib.tensor(t.numpy()) for n, t in start.items()})
        nets.append(lib.nn.utils.parametrizations.orthogonal(net, "weight", name, use_trivialization=trivial))
        if not trivial and name == "householder":  # the only one that a weight can be assigned to
            square = lib.linalg.qr(lib.ones(max(shape), max(shape)) + lib.eye(max(shape)))[0]
            net.weight = square[: shape[0], : shape[1]]
    ours, theirs = nets
    assert list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict({n: torch.tensor(t.numpy()) for n, t in ours.state_dict().items()})
    weight = ours.weight.detach().numpy()
    np.testing.assert_allclose(weight, theirs.weight.detach().numpy(), atol=2e-6)
    product = weight @ weight.T if shape[0] < shape[1] else weight.T @ weight
    np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-5)
    x = drawn(3, shape[1])
    for lib, net in ((ocl, ours), (torch, theirs)):
        (net(lib.tensor(x)) ** 3).sum().backward()
    for (n, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-3, atol=1e-4, err_msg=n)
    optimizer = ocl.optim.SGD(ours.parameters(), lr=0.1)
    optimizer.step()
    weight = ours.weight.detach().numpy()
    product = weight @ weight.T if shape[0] < shape[1] else weight.T @ weight
    np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-5)


def test_an_orthogonal_start_is_kept():
    net = ocl.nn.Linear(4, 4)
    start = ocl.linalg.qr(ocl.tensor(drawn(4, 4)))[0]
    net.weight.data = start.clone()
    ocl.nn.utils.parametrizations.orthogonal(net)
    np.testing.assert_allclose(net.weight.detach().numpy(), start.numpy(), atol=1e-6)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_matrices_without_reflections_can_be_assigned(shape):
    assigned = np.diag([1, -1, 1, -1, 1])[: shape[0], : shape[1]].astype(np.float32)
    net = ocl.nn.Linear(*shape[::-1])
    ocl.nn.utils.parametrizations.orthogonal(net, "weight", "householder", use_trivialization=False)
    net.weight = ocl.tensor(assigned)
    np.testing.assert_allclose(net.weight.detach().numpy(), assigned, atol=1e-6)


def test_what_orthogonal_refuses():
    for lib in (torch, ocl):
        orthogonal = lib.nn.utils.parametrizations.orthogonal
        for arguments in (("wieght",), ("bias",), ("weight", "exp")):
            with pytest.raises(ValueError):  # noqa: B017, PT011
                orthogonal(lib.nn.Linear(2, 2), *arguments)
        net = lib.nn.utils.parametrizations.orthogonal(
            lib.nn.Linear(2, 2), "weight", "cayley", use_trivialization=False
        )
        with pytest.raises(NotImplementedError):
            net.weight = lib.eye(2)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4), (0, 3)])
def test_geqrf(shape):
    a = drawn(*shape)
    ours, theirs = ocl.geqrf(ocl.tensor(a)), torch.geqrf(torch.tensor(a))
    for x, y in zip(ours, theirs, strict=True):
        assert math.prod(x.shape) == y.numel()
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-4, atol=1e-5)
