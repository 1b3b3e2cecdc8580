"""Every layer against PyTorch's with the same weights: state dict, repr, output and gradients."""

import numpy as np
import pytest
import torch
from layers import activation, basic, every_layer
from support import expect_near, repr_without_norm_bias, skip_without

import ocl

ROWS = every_layer()
each_layer = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
ACTIVATIONS = [name for name in activation.PLAIN if name not in ("GELU", "PReLU", "GLU")]

# Families whose modules show PyTorch's public attributes.
WITH_ATTRIBUTES = activation.LAYERS | basic.LAYERS
each_with_attributes = pytest.mark.parametrize("row", WITH_ATTRIBUTES.values(), ids=WITH_ATTRIBUTES.keys())


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


def as_list(result):
    return [r for r in (result if isinstance(result, tuple) else [result]) if r is not None]


def run(layer, inputs, upstream):
    """Outputs, gradients of inputs and parameters, and the state after: all that may differ."""
    layer.zero_grad()
    # Times 1, so that layers may write over what they are given.
    outputs = as_list(layer(*(x * 1 if x.requires_grad else x for x in inputs)))
    sum((y * g).sum() for y, g in zip(outputs, upstream, strict=True)).backward()
    results = {f"output {i}": y for i, y in enumerate(outputs)}
    results |= {f"gradient of input {i}": x.grad for i, x in enumerate(inputs) if x.requires_grad}
    results |= {f"{name} gradient": p.grad for name, p in layer.named_parameters()}
    return results | layer.state_dict()


def tensors(arrays, library, dtype):
    return [
        library.tensor(a, dtype=dtype, requires_grad=True) if a.dtype.kind == "f" else library.tensor(a)
        for a in arrays
    ]


@each_layer
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_results_and_gradients(row, training):
    truth_layer = torch_layer(row.build).double()
    reference_layer = copy_of(truth_layer, row.build, torch.float32)
    layer = row.build(ocl.nn)
    layer.load_state_dict(reference_layer.state_dict())
    truth_layer.load_state_dict(reference_layer.state_dict())
    for one in (layer, reference_layer, truth_layer):
        one.train(training)

    generator = np.random.default_rng(1)
    for _ in range(2):  # a second time, so that counters and running statistics matter
        arrays = row.draw(generator)
        shapes = [y.shape for y in as_list(reference_layer(*map(torch.tensor, arrays)))]
        upstream = [generator.standard_normal(tuple(shape)).astype(np.float32) for shape in shapes]
        reference_layer.load_state_dict(truth_layer.state_dict())
        actual, truth, reference = (
            run(one, tensors(arrays, library, dtype), [library.tensor(u, dtype=dtype) for u in upstream])
            for one, library, dtype in (
                (layer, ocl, ocl.float32),
                (truth_layer, torch, torch.float64),
                (reference_layer, torch, torch.float32),
            )
        )
        assert actual.keys() == truth.keys()
        for name in actual:
            if truth[name] is None:
                assert actual[name] is None, name
            elif "num_batches" in name:
                assert actual[name].item() == truth[name].item()
            else:
                expect_near(actual[name], truth[name], reference[name], name, units=row.units)


@each_layer
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_results_and_gradients_in_double(row, training):
    """Within 1e-12 of the largest element: a number of float32 on the way shows at 1e-8."""
    skip_without("float64")
    truth_layer, layer = torch_layer(row.build).double(), row.build(ocl.nn).to(ocl.float64)
    layer.load_state_dict({k: ocl.tensor(v.numpy().copy()) for k, v in truth_layer.state_dict().items()})
    for one in (layer, truth_layer):
        one.train(training)
    generator = np.random.default_rng(2)
    for _ in range(2):
        arrays = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in row.draw(generator)]
        inputs = [tensors(arrays, lib, lib.float64) for lib in (ocl, torch)]
        upstream = np.random.default_rng(3)
        results = []
        for one, given, lib in zip((layer, truth_layer), inputs, (ocl, torch), strict=True):
            one.zero_grad()
            outputs = as_list(one(*(x * 1 if x.requires_grad else x for x in given)))
            if lib is ocl:
                drawn = [upstream.standard_normal(tuple(y.shape)) for y in outputs]
            sum((y * lib.tensor(g)).sum() for y, g in zip(outputs, drawn, strict=True)).backward()
            found = {f"output {i}": y for i, y in enumerate(outputs)}
            found |= {f"gradient of input {i}": x.grad for i, x in enumerate(given) if x.requires_grad}
            found |= {f"{name} gradient": p.grad for name, p in one.named_parameters()}
            results.append({k: v for k, v in (found | one.state_dict()).items() if v is not None})
        ours, theirs = results
        assert ours.keys() == theirs.keys()
        for name, expected in theirs.items():
            expected = expected.detach().numpy()
            bar = 1e-12 * np.abs(expected).max(initial=0)
            actual = ours[name].detach().numpy()
            np.testing.assert_allclose(actual, expected, rtol=0, atol=bar, err_msg=name)


@each_layer
def test_state_dict_has_torchs_names_shapes_and_order(row):
    expected = row.build(torch.nn).state_dict()
    state = row.build(ocl.nn).state_dict()
    assert list(state) == list(expected)
    assert [tuple(t.shape) for t in state.values()] == [tuple(t.shape) for t in expected.values()]
    assert [str(t.dtype).split(".")[1] for t in state.values()] == [
        str(t.dtype).split(".")[1] for t in expected.values()
    ]


@each_layer
def test_parameters_have_torchs_names_and_order(row):
    expected = [name for name, _ in row.build(torch.nn).named_parameters()]
    assert [name for name, _ in row.build(ocl.nn).named_parameters()] == expected


@each_layer
def test_repr(row):
    ours, theirs = (repr_without_norm_bias(row.build(lib.nn)) for lib in (ocl, torch))
    assert ours == theirs


@each_with_attributes
def test_attributes(row):
    ours = row.build(ocl.nn)
    for name, expected in vars(row.build(torch.nn)).items():
        if isinstance(expected, (bool, int, float, str, tuple)) and not name.startswith("_"):
            assert getattr(ours, name) == expected, name


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
        (lambda nn: nn.Conv2d(4, 4, -1), "kernel_size must not be negative"),
        (lambda nn: nn.Linear(-1, 4), "features must not be negative"),
        (lambda nn: nn.BatchNorm2d(-1), "num_features must not be negative"),
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
    values = y.detach().numpy()
    assert set(np.unique(values)) == {0, np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.03
    np.testing.assert_array_equal(x.grad.numpy(), values)
    np.testing.assert_array_equal(drop.eval()(x).detach().numpy(), np.ones(10_000))


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
@pytest.mark.parametrize(
    "name",
    [
        *("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"),
        *("PoissonNLLLoss", "SoftMarginLoss", "MultiLabelSoftMarginLoss"),
    ],
)
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


@REDUCTIONS
@pytest.mark.parametrize("options", [{}, {"p": 2, "margin": 0.5}, {"weight": [0.5, 1.0, 2.0, 0.25]}], ids=str)
def test_multi_margin_loss(options, reduction):
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)

    def build(library, dtype):
        own = {k: library.tensor(v, dtype=dtype) if k == "weight" else v for k, v in options.items()}
        return library.nn.MultiMarginLoss(reduction=reduction, **own)

    check_loss(build, x, np.array([0, 2, 3, 1, 2, 0]))
    state = build(ocl, ocl.float32).state_dict()
    assert list(state) == list(build(torch, torch.float32).state_dict())


@REDUCTIONS
def test_losses_of_several_classes(reduction):
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    targets = np.array([[2, -1, 1, 0], [0, 3, 1, 2], [-1, 0, 0, 0]])
    check_loss(lambda library, dtype: library.nn.MultiLabelMarginLoss(reduction=reduction), x, targets)


@REDUCTIONS
@pytest.mark.parametrize("margin", [1.0, 0.2])
def test_hinge_embedding_loss(margin, reduction):
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    targets = np.array([[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, -1, -1]])
    check_loss(lambda library, dtype: library.nn.HingeEmbeddingLoss(margin, reduction=reduction), x, targets)


def test_options_of_losses_out_of_range():
    for build in (
        lambda nn: nn.MultiMarginLoss(p=3),
        lambda nn: nn.TripletMarginLoss(margin=-1.0),
        lambda nn: nn.TripletMarginWithDistanceLoss(margin=0.0),
    ):
        for library in (ocl, torch):
            with pytest.raises(ValueError):
                build(library.nn)


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
        ("PoissonNLLLoss", {"log_input": False, "full": True, "eps": 1e-3}),
        ("SoftMarginLoss", {"reduction": "sum"}),
        ("MultiLabelSoftMarginLoss", {"weight": [0.5, 2.0, 1.0], "reduction": "none"}),
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
    "MSELoss L1Loss NLLLoss CrossEntropyLoss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss "
    "PoissonNLLLoss GaussianNLLLoss HingeEmbeddingLoss MarginRankingLoss TripletMarginLoss SoftMarginLoss "
    "CosineEmbeddingLoss MultiMarginLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss".split(),
)
def test_repr_of_losses(name):
    assert repr(getattr(ocl.nn, name)()) == f"{name}()"


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="average"):
        ocl.nn.MSELoss(reduction="average")(ocl.ones(1), ocl.ones(1))


@pytest.mark.parametrize("name", ["Dropout", "Dropout2d"])
def test_dropout_of_nothing_writes_nothing(name):
    x = ocl.ones(1, 2, 3, 3, requires_grad=True)
    assert getattr(ocl.nn, name)(0.0, inplace=True)(x) is x
