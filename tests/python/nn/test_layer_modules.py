"""Every layer against PyTorch's with the same weights: state dict, repr, output and gradients."""

import re

import numpy as np
import pytest
import torch
from parity import expect_near

import ocl

# name: (what builds the layer from an nn package, shape of its input)
LAYERS = {
    "conv": (lambda nn: nn.Conv2d(3, 6, 3), (2, 3, 9, 7)),
    "conv_options": (
        lambda nn: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
        (3, 4, 11, 8),
    ),
    "conv_groups": (lambda nn: nn.Conv2d(6, 4, 3, padding=1, groups=2, bias=False), (1, 6, 5, 5)),
    "conv_depthwise": (lambda nn: nn.Conv2d(5, 10, 3, stride=2, groups=5), (2, 5, 8, 9)),
    "linear": (lambda nn: nn.Linear(7, 5), (4, 7)),
    "linear_no_bias": (lambda nn: nn.Linear(7, 5, bias=False), (4, 7)),
    "linear_one_row": (lambda nn: nn.Linear(7, 5), (7,)),
    "linear_batches": (lambda nn: nn.Linear(7, 5), (2, 3, 4, 7)),
    "batch_norm_1d": (lambda nn: nn.BatchNorm1d(6), (9, 6)),
    "batch_norm_1d_long": (lambda nn: nn.BatchNorm1d(6, eps=1e-3, momentum=0.3), (3, 6, 5)),
    "batch_norm_2d": (lambda nn: nn.BatchNorm2d(4), (3, 4, 5, 6)),
    "batch_norm_average": (lambda nn: nn.BatchNorm2d(4, momentum=None), (3, 4, 5, 6)),
    "batch_norm_no_affine": (lambda nn: nn.BatchNorm2d(4, affine=False), (3, 4, 5, 6)),
    "batch_norm_no_statistics": (lambda nn: nn.BatchNorm2d(4, track_running_stats=False), (3, 4, 5, 6)),
    "layer_norm": (lambda nn: nn.LayerNorm(6), (4, 5, 6)),
    "layer_norm_shape": (lambda nn: nn.LayerNorm([5, 6], eps=1e-3), (4, 5, 6)),
    "layer_norm_no_bias": (lambda nn: nn.LayerNorm(6, bias=False), (4, 6)),
    "layer_norm_no_affine": (lambda nn: nn.LayerNorm((6,), elementwise_affine=False), (4, 6)),
    "rms_norm": (lambda nn: nn.RMSNorm(6), (4, 6)),
    "rms_norm_options": (lambda nn: nn.RMSNorm((5, 6), eps=1e-3, elementwise_affine=False), (4, 5, 6)),
    "group_norm": (lambda nn: nn.GroupNorm(2, 6), (3, 6, 4, 5)),
    "group_norm_no_affine": (lambda nn: nn.GroupNorm(3, 6, eps=1e-3, affine=False), (3, 6, 7)),
    "instance_norm_1d": (lambda nn: nn.InstanceNorm1d(4), (3, 4, 6)),
    "instance_norm_1d_item": (lambda nn: nn.InstanceNorm1d(4, affine=True), (4, 6)),
    "instance_norm_2d": (lambda nn: nn.InstanceNorm2d(4, affine=True), (3, 4, 5, 6)),
    "instance_norm_statistics": (
        lambda nn: nn.InstanceNorm2d(4, momentum=0.3, affine=True, track_running_stats=True),
        (3, 4, 5, 6),
    ),
    "local_response_norm": (lambda nn: nn.LocalResponseNorm(3, alpha=0.5, k=2.0), (2, 5, 4, 3)),
    "max_pool": (lambda nn: nn.MaxPool2d(2), (2, 3, 7, 8)),
    "max_pool_options": (
        lambda nn: nn.MaxPool2d((3, 2), stride=(2, 1), padding=1, dilation=(1, 2), ceil_mode=True),
        (2, 3, 9, 8),
    ),
    "avg_pool": (lambda nn: nn.AvgPool2d(3), (2, 3, 7, 8)),
    "avg_pool_options": (lambda nn: nn.AvgPool2d((3, 2), (2, 1), 1, True, False), (2, 3, 8, 7)),
    "adaptive_avg_pool": (lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 7, 8)),
    "adaptive_avg_pool_odd": (lambda nn: nn.AdaptiveAvgPool2d((3, 5)), (2, 3, 7, 8)),
    "flatten": (lambda nn: nn.Flatten(), (2, 3, 4)),
    "flatten_some": (lambda nn: nn.Flatten(0, 1), (2, 3, 4)),
    "identity": (lambda nn: nn.Identity(), (2, 3)),
    "dropout_nothing": (lambda nn: nn.Dropout(0.0), (2, 3)),
    "softmax": (lambda nn: nn.Softmax(dim=1), (3, 5)),
    "gelu": (lambda nn: nn.GELU(), (3, 5)),
    "gelu_tanh": (lambda nn: nn.GELU(approximate="tanh"), (3, 5)),
    "log_softmax": (lambda nn: nn.LogSoftmax(dim=-1), (3, 5)),
    "softmin": (lambda nn: nn.Softmin(dim=1), (3, 5)),
    "sequential": (
        lambda nn: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Sequential(nn.Linear(6, 2), nn.Tanh())),
        (5, 4),
    ),
    "leaky_relu": (lambda nn: nn.LeakyReLU(0.2), (3, 5)),
    "elu": (lambda nn: nn.ELU(alpha=0.7), (3, 5)),
    "celu": (lambda nn: nn.CELU(2.0), (3, 5)),
    "softplus": (lambda nn: nn.Softplus(beta=2.0, threshold=1.5), (3, 5)),
    "hardtanh": (lambda nn: nn.Hardtanh(-0.5, 0.25), (3, 5)),
}
ACTIVATIONS = (
    "ReLU ReLU6 Sigmoid Tanh SiLU Mish SELU Hardsigmoid Hardswish LogSigmoid Tanhshrink Softsign LeakyReLU "
    "ELU CELU Softplus Hardtanh"
).split()
LAYERS |= {name: (lambda nn, name=name: getattr(nn, name)(), (4, 6)) for name in ACTIVATIONS}
every_layer = pytest.mark.parametrize("build, shape", LAYERS.values(), ids=LAYERS.keys())


def torch_layer(build, seed=0):
    """PyTorch's, with running statistics that are not the plain 0 and 1."""
    torch.manual_seed(seed)
    layer = build(torch.nn)
    with torch.no_grad():
        for name, tensor in layer.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(
                    torch.rand_like(tensor) + 0.5 if "running_var" in name else torch.randn_like(tensor)
                )
    return layer


def copy_of(layer, build, dtype):
    copy = build(torch.nn).to(dtype)
    copy.load_state_dict(layer.state_dict())
    return copy


def run(layer, x, upstream):
    """Output, gradients of input and parameters, and the state after: all that may differ."""
    layer.zero_grad()
    y = layer(x)
    y.backward(upstream)
    results = {"output": y, "input gradient": x.grad}
    results |= {f"{name} gradient": p.grad for name, p in layer.named_parameters()}
    return results | layer.state_dict()


@every_layer
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_results_and_gradients(build, shape, training):
    truth_layer = torch_layer(build).double()
    reference_layer = copy_of(truth_layer, build, torch.float32)
    layer = build(ocl.nn)
    layer.load_state_dict(reference_layer.state_dict())
    truth_layer.load_state_dict(reference_layer.state_dict())
    for one in (layer, reference_layer, truth_layer):
        one.train(training)

    generator = np.random.default_rng(1)
    for _ in range(2):  # a second time, so that counters and running statistics matter
        x = (generator.standard_normal(shape) * 2).astype(np.float32)
        upstream = generator.standard_normal(reference_layer(torch.tensor(x)).shape).astype(np.float32)
        reference_layer.load_state_dict(truth_layer.state_dict())
        actual = run(layer, ocl.tensor(x, requires_grad=True), ocl.tensor(upstream))
        truth = run(truth_layer, torch.tensor(x).double().requires_grad_(), torch.tensor(upstream).double())
        reference = run(reference_layer, torch.tensor(x).requires_grad_(), torch.tensor(upstream))
        assert actual.keys() == truth.keys()
        for name in actual:
            if "num_batches" in name:
                assert actual[name].item() == truth[name].item()
            else:
                expect_near(actual[name], truth[name], reference[name], name, units=4)


@every_layer
def test_state_dict_has_torchs_names_shapes_and_order(build, shape):
    expected = build(torch.nn).state_dict()
    state = build(ocl.nn).state_dict()
    assert list(state) == list(expected)
    assert [tuple(t.shape) for t in state.values()] == [tuple(t.shape) for t in expected.values()]
    assert [str(t.dtype).split(".")[1] for t in state.values()] == [
        str(t.dtype).split(".")[1] for t in expected.values()
    ]


@every_layer
def test_parameters_have_torchs_names_and_order(build, shape):
    expected = [name for name, _ in build(torch.nn).named_parameters()]
    assert [name for name, _ in build(ocl.nn).named_parameters()] == expected


@every_layer
def test_repr(build, shape):
    expected = re.sub(r"(affine=\w+), bias=\w+", r"\1", repr(build(torch.nn)))  # an option of PyTorch 2.13 on
    assert repr(build(ocl.nn)) == expected


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_at_the_edges(name):
    x = np.array(
        [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 20.0, 90.0, -90.0, np.inf, np.nan, -np.inf], np.float32
    )
    if name == "Hardswish":
        x = x[:-1]  # PyTorch has NaN at -inf; ours has the limit, 0
    actual = getattr(ocl.nn, name)()(ocl.tensor(x)).numpy()
    expected = getattr(torch.nn, name)()(torch.tensor(x)).numpy()
    np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda nn: nn.Conv2d(3, 4, 3, groups=2), "divisible by groups"),
        (lambda nn: nn.Conv2d(4, 3, 3, groups=2), "divisible by groups"),
        (lambda nn: nn.Conv2d(4, 4, 3, groups=0), "groups must be a positive integer"),
        (lambda nn: nn.Conv2d(4, 4, 0), "kernel_size must be positive"),
        (lambda nn: nn.Linear(0, 4), "features must be positive"),
        (lambda nn: nn.BatchNorm2d(0), "num_features must be positive"),
        (lambda nn: nn.Dropout(1.5), "between 0 and 1, but got 1.5"),
        (lambda nn: nn.Dropout(-0.5), "between 0 and 1"),
    ],
)
def test_impossible_layers_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build(ocl.nn)


@pytest.mark.parametrize(
    "layer, shape, message",
    [
        (lambda: ocl.nn.BatchNorm2d(3), (2, 3), "BatchNorm2d: expected 4D input .got 2D"),
        (lambda: ocl.nn.BatchNorm1d(3), (2, 3, 4, 5), "BatchNorm1d: expected 2D or 3D input .got 4D"),
        (lambda: ocl.nn.BatchNorm2d(3), (2, 4, 5, 5), "4"),
        (lambda: ocl.nn.Conv2d(3, 4, 3), (2, 5, 8, 8), r"(?s)5.*8|8.*5"),
        (lambda: ocl.nn.Conv2d(3, 4, 3), (2, 3, 2, 2), "(?i)kernel size"),
        (lambda: ocl.nn.Linear(3, 4), (2, 5), r"\[2, 5\].*\[4, 3\]"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(layer, shape, message):
    with pytest.raises(ValueError, match=message):
        layer()(ocl.ones(*shape))


def test_batch_norm_counts_batches_in_training_only():
    norm = ocl.nn.BatchNorm2d(2)
    x = ocl.randn(4, 2, 3, 3)
    norm(x)
    norm(x)
    norm.eval()(x)
    assert norm.state_dict()["num_batches_tracked"].item() == 2


def test_batch_norm_resumes_its_average():
    build = lambda nn: nn.BatchNorm1d(3, momentum=None)  # noqa: E731
    ours, theirs = build(ocl.nn), build(torch.nn)
    batches = np.random.default_rng(0).standard_normal((3, 5, 3)).astype(np.float32)
    theirs(torch.tensor(batches[0]))
    ours.load_state_dict(theirs.state_dict())
    for batch in batches[1:]:
        ours(ocl.tensor(batch))
        theirs(torch.tensor(batch))
    np.testing.assert_allclose(ours.running_mean.numpy(), theirs.running_mean.numpy(), rtol=1e-5, atol=1e-6)
    assert ours.num_batches_tracked == 3


def test_dropout_drops_scales_and_rests_in_eval():
    ocl.manual_seed(3)
    drop = ocl.nn.Dropout(0.25)
    x = ocl.ones(10_000, requires_grad=True)
    y = drop(x)
    y.sum().backward()
    values = y.numpy()
    assert set(np.unique(values)) == {0, np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.03
    np.testing.assert_array_equal(x.grad.numpy(), values)
    np.testing.assert_array_equal(drop.eval()(x).numpy(), np.ones(10_000))


# --- losses

REDUCTIONS = pytest.mark.parametrize("reduction", ["none", "mean", "sum"])


def check_loss(build, x, target, **reference_target):
    results = []
    for library, dtype in ((ocl, ocl.float32), (torch, torch.float64), (torch, torch.float32)):
        given = library.tensor(x, dtype=dtype, requires_grad=True)
        y = library.tensor(target) if target.dtype.kind == "i" else library.tensor(target, dtype=dtype)
        loss = build(library, dtype)(given, y)
        loss.sum().backward()
        results.append((loss, given.grad))
    for name, *values in zip(("loss", "gradient"), *results, strict=True):
        expect_near(*values, name, units=4)


@REDUCTIONS
@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"])
def test_distance_losses(name, reduction):
    x, y = np.random.default_rng(0).standard_normal((2, 5, 7)).astype(np.float32)
    check_loss(lambda library, dtype: getattr(library.nn, name)(reduction=reduction), x, y)


@REDUCTIONS
@pytest.mark.parametrize("options", [{}, {"ignore_index": 2}, {"weight": [0.5, 1.0, 2.0, 0.25]}], ids=str)
@pytest.mark.parametrize("name", ["CrossEntropyLoss", "NLLLoss"])
def test_class_losses(name, options, reduction):
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    target = np.array([0, 2, 3, 1, 2, 0])

    def build(library, dtype):
        own = dict(options)
        if "weight" in own:
            own["weight"] = library.tensor(own["weight"], dtype=dtype)
        return getattr(library.nn, name)(reduction=reduction, **own)

    check_loss(build, x, target)


def test_label_smoothing():
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    check_loss(
        lambda library, dtype: library.nn.CrossEntropyLoss(label_smoothing=0.1),
        x,
        np.array([0, 2, 3, 1, 2, 0]),
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SmoothL1Loss", {"beta": 0.5}),
        ("HuberLoss", {"delta": 0.5}),
        ("BCELoss", {"weight": [0.5, 2.0, 1.0]}),
        ("BCEWithLogitsLoss", {"weight": [0.5, 2.0, 1.0], "pos_weight": [3.0, 0.5, 1.0]}),
        ("KLDivLoss", {"reduction": "batchmean"}),
        ("KLDivLoss", {"reduction": "sum", "log_target": True}),
    ],
    ids=str,
)
def test_options_of_losses(name, options):
    x, y = np.random.default_rng(0).uniform(0.05, 0.95, (2, 4, 3)).astype(np.float32)

    def build(library, dtype):
        own = {k: library.tensor(v, dtype=dtype) if isinstance(v, list) else v for k, v in options.items()}
        return getattr(library.nn, name)(**own)

    check_loss(build, x, y)
    assert list(build(ocl, ocl.float32).state_dict()) == list(build(torch, torch.float32).state_dict())


@pytest.mark.parametrize(
    "name",
    "MSELoss L1Loss NLLLoss CrossEntropyLoss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss "
    "KLDivLoss".split(),
)
def test_repr_of_losses(name):
    assert repr(getattr(ocl.nn, name)()) == f"{name}()"


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="average"):
        ocl.nn.MSELoss(reduction="average")
