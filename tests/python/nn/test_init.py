"""nn.init: bounds and moments like PyTorch's, and the layers' own first weights."""

import math

import numpy as np
import pytest
import torch

import ocl
from ocl.nn import init

SHAPES = [(200, 150), (64, 32, 3, 3)]

RANDOM = {
    "uniform_": {"a": -2.0, "b": 3.0},
    "normal_": {"mean": 1.0, "std": 0.5},
    "xavier_uniform_": {"gain": 1.5},
    "xavier_normal_": {"gain": 0.5},
    "kaiming_uniform_": {"a": math.sqrt(5)},
    "kaiming_normal_": {"mode": "fan_out", "nonlinearity": "relu"},
    "trunc_normal_": {"mean": 0.5, "std": 2.0, "a": -1.0, "b": 4.0},
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("options", [True, False], ids=["options", "defaults"])
@pytest.mark.parametrize("name", RANDOM)
def test_distributions_like_torchs(name, options, shape):
    ocl.manual_seed(5)
    torch.manual_seed(5)
    arguments = RANDOM[name] if options else {}
    ours = getattr(init, name)(ocl.empty(*shape), **arguments).numpy()
    theirs = getattr(torch.nn.init, name)(torch.empty(shape), **arguments).numpy()
    spread = float(theirs.std())
    error = spread / math.sqrt(theirs.size)  # standard error of the mean
    assert abs(ours.mean() - theirs.mean()) < 6 * error
    assert ours.std() == pytest.approx(spread, rel=0.03)
    if "uniform" in name or "trunc" in name:
        width = float(np.ptp(theirs))
        assert ours.min() == pytest.approx(theirs.min(), abs=0.01 * width)
        assert ours.max() == pytest.approx(theirs.max(), abs=0.01 * width)
    else:
        assert np.abs(ours - ours.mean()).max() > 3 * spread


@pytest.mark.parametrize(
    "name, arguments, value", [("zeros_", (), 0), ("ones_", (), 1), ("constant_", (2.5,), 2.5)]
)
def test_constants(name, arguments, value):
    t = ocl.randn(3, 4)
    getattr(init, name)(t, *arguments)
    np.testing.assert_array_equal(t.numpy(), np.full((3, 4), value, np.float32))


def test_parameters_are_filled_off_the_tape():
    p = ocl.nn.Parameter(ocl.zeros(50, 50))
    result = init.kaiming_uniform_(p)
    assert p.is_leaf and p.requires_grad and result.is_leaf
    assert p.detach().numpy().any() and p._version == 1


def test_a_seed_gives_the_same_weights():
    weights = []
    for seed in (7, 7, 8):
        ocl.manual_seed(seed)
        weights.append(ocl.nn.Linear(5, 5).weight.detach().numpy())
    np.testing.assert_array_equal(weights[0], weights[1])
    assert (weights[0] != weights[2]).any()


def test_two_layers_differ():
    ocl.manual_seed(0)
    assert (ocl.nn.Linear(5, 5).weight.detach().numpy() != ocl.nn.Linear(5, 5).weight.detach().numpy()).any()


@pytest.mark.parametrize(
    "build", [lambda nn: nn.Linear(300, 100), lambda nn: nn.Conv2d(32, 64, (3, 5), groups=2)]
)
def test_layers_start_like_torchs(build):
    ocl.manual_seed(1)
    ours, theirs = build(ocl.nn), build(torch.nn)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        bound = q.detach().abs().max().item()
        assert np.abs(p.detach().numpy()).max() == pytest.approx(bound, rel=0.05), name
        assert p.detach().numpy().std() == pytest.approx(bound / math.sqrt(3), rel=0.2), name


@pytest.mark.parametrize("name", ["xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"])
def test_fans_need_two_dimensions(name):
    with pytest.raises(ValueError, match=r"fewer than 2 dimensions.*\[5\]"):
        getattr(init, name)(ocl.empty(5))


def test_unknown_modes_are_refused():
    with pytest.raises(ValueError, match="fan_middle.*fan_in, fan_out"):
        init.kaiming_uniform_(ocl.empty(2, 2), mode="fan_middle")
    with pytest.raises(ValueError, match="Unsupported nonlinearity gelu"):
        init.kaiming_normal_(ocl.empty(2, 2), nonlinearity="gelu")


@pytest.mark.parametrize("dtype", [ocl.float32, ocl.bfloat16])
def test_a_truncated_normal_has_no_elements_far_out(dtype):
    """Bounds of 100 deviations are never met, where the uniform numbers that it is made of meet theirs."""
    assert init.trunc_normal_(ocl.empty(1 << 24, dtype=dtype), std=0.02).abs().max().item() < 0.13


def test_a_truncated_normal_has_its_shape():
    """Against the distribution function itself, at 30 places."""
    ocl.manual_seed(1)
    values = np.sort(init.trunc_normal_(ocl.empty(100_000), 1.0, 2.0, -2.0, 1.5).numpy())
    assert values[0] >= -2 and values[-1] <= 1.5
    below = lambda x: 0.5 * (1 + math.erf((x - 1) / 2 / math.sqrt(2)))  # noqa: E731
    for place in np.linspace(-1.9, 1.4, 30):
        expected = (below(place) - below(-2)) / (below(1.5) - below(-2))
        assert np.searchsorted(values, place) / values.size == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (1, 1), (0, 3)])
def test_eye(shape):
    np.testing.assert_array_equal(init.eye_(ocl.randn(*shape)).numpy(), np.eye(*shape, dtype=np.float32))


def test_eye_takes_matrices_only():
    with pytest.raises(ValueError, match="2 dimensions"):
        init.eye_(ocl.empty(3))


@pytest.mark.parametrize(
    "arguments",
    [
        ("linear",),
        ("conv1d",),
        ("conv2d",),
        ("conv_transpose2d",),
        ("sigmoid",),
        ("tanh",),
        ("relu",),
        ("selu",),
        ("leaky_relu",),
        ("leaky_relu", 0.3),
        ("leaky_relu", 1),
    ],
)
def test_gains(arguments):
    assert init.calculate_gain(*arguments) == pytest.approx(
        torch.nn.init.calculate_gain(*arguments), rel=1e-12
    )


@pytest.mark.parametrize("nonlinearity", ["tanh", "selu", "linear"])
def test_kaiming_takes_every_gain(nonlinearity):
    ocl.manual_seed(3)
    values = init.kaiming_normal_(ocl.empty(300, 200), nonlinearity=nonlinearity).numpy()
    gain = torch.nn.init.calculate_gain(nonlinearity)
    assert values.std() == pytest.approx(gain / math.sqrt(200), rel=0.02)
