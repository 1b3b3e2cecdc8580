"""Layers of size 0 and batches without elements beside torch.nn: what is made and refused, repr, state dict,
shapes of results, gradients, running statistics."""

import warnings

import numpy as np
import pytest
import torch

import ocl

INDICES, SOME_INDICES = "indices of shape (0,)", "indices of shape (2,)"

# A layer, and inputs for it.
LAYERS = {
    "Linear(0, 5)": [(2, 0), (0, 0), (0,), (2, 3, 0)],
    "Linear(3, 0)": [(2, 3), (0, 3), (3,), (2, 2, 3)],
    "Linear(0, 0)": [(2, 0)],
    "Linear(0, 5, bias=False)": [(2, 0)],
    "Linear(3, 2)": [(0, 3), (2, 0, 3)],
    "Conv1d(0, 4, 3)": [(2, 0, 5), (0, 5)],
    "Conv1d(4, 0, 3)": [(2, 4, 5)],
    "Conv1d(2, 4, 3)": [(0, 2, 5)],
    "Conv2d(0, 4, 3)": [(2, 0, 5, 5), (0, 0, 5, 5)],
    "Conv2d(0, 4, 3, groups=2, bias=False)": [(2, 0, 5, 5)],
    "Conv2d(0, 0, 3)": [],
    "Conv2d(4, 0, 3)": [(2, 4, 5, 5)],
    "Conv2d(2, 4, 0)": [(1, 2, 5, 5)],
    "Conv2d(2, 4, 3)": [(0, 2, 5, 5), (1, 2, 2, 5)],
    "ConvTranspose1d(0, 2, 1)": [],
    "ConvTranspose1d(2, 3, 2)": [(0, 2, 5)],
    "ConvTranspose2d(0, 4, 3)": [],
    "ConvTranspose2d(4, 0, 3)": [],
    "ConvTranspose2d(2, 4, 3)": [(0, 2, 5, 5)],
    "GroupNorm(1, 0)": [(2, 0, 4), (2, 0)],
    "GroupNorm(2, 0)": [(2, 0, 4)],
    "GroupNorm(2, 4)": [(0, 4, 3)],
    "LayerNorm(0)": [(2, 0), (0, 0)],
    "LayerNorm((0, 3))": [(2, 0, 3)],
    "LayerNorm(3)": [(0, 3), (0, 2, 3)],
    "RMSNorm(0)": [(2, 0)],
    "RMSNorm(3)": [(0, 3)],
    "BatchNorm1d(0)": [],
    "BatchNorm2d(0)": [],
    "BatchNorm1d(3)": [(0, 3), (0, 3, 4), (2, 3, 0), (1, 3)],
    "BatchNorm2d(3)": [(0, 3, 2, 2), (2, 3, 0, 2)],
    "BatchNorm3d(3)": [(0, 3, 2, 2, 2)],
    "BatchNorm2d(3, affine=False)": [(0, 3, 2, 2)],
    "BatchNorm2d(3, track_running_stats=False)": [(0, 3, 2, 2)],
    "BatchNorm2d(3, momentum=None)": [(0, 3, 2, 2)],
    "InstanceNorm1d(0)": [(2, 0, 3)],
    "InstanceNorm1d(3)": [(0, 3, 4), (2, 3, 0), (2, 3, 1)],
    "InstanceNorm2d(3)": [(0, 3, 2, 2), (2, 3, 0, 2)],
    "InstanceNorm2d(3, affine=True)": [(2, 3, 0, 2)],
    "InstanceNorm2d(3, track_running_stats=True)": [(2, 3, 0, 2)],
    "PReLU(0)": [(2, 0), (2, 0, 3), (3,)],
    "PReLU(3)": [(0, 3)],
    "RNNCell(0, 3)": [(2, 0), (0, 0)],
    "RNNCell(3, 0)": [(2, 3)],
    "LSTMCell(0, 3)": [(2, 0)],
    "LSTMCell(3, 0)": [(2, 3)],
    "GRUCell(0, 3)": [(2, 0)],
    "GRUCell(3, 0)": [(2, 3)],
    "GRUCell(3, 2)": [(0, 3)],
    "LSTM(0, 3)": [],
    "LSTM(3, 0)": [],
    "MultiheadAttention(0, 1)": [],
    "MultiheadAttention(4, 2, kdim=0, vdim=0)": [],
    "TransformerEncoderLayer(4, 2, 0, dropout=0.0)": [(3, 2, 4)],
    "TransformerDecoderLayer(4, 2, 0)": [],
    "MaxPool2d(2)": [(0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4)],
    "AvgPool2d(2)": [(0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4)],
    "AdaptiveAvgPool2d(2)": [(0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4)],
    "AdaptiveMaxPool2d(2)": [(0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4)],
    "Embedding(0, 3)": [INDICES],
    "Embedding(3, 0)": [INDICES, SOME_INDICES],
    "Embedding(0, 0)": [INDICES],
    "Embedding(3, 0, padding_idx=1)": [SOME_INDICES],
    "Embedding(0, 3, padding_idx=0)": [],
    "LocalResponseNorm(2)": [(0, 3, 4), (2, 3, 0)],
    "GroupNorm(0, 0)": [],
    "GroupNorm(0, 4)": [],
    "Linear(-1, 3)": [],
    "Conv2d(-1, 4, 3)": [],
    "Conv2d(4, 4, -1)": [],
    "BatchNorm1d(-1)": [],
    "Embedding(-1, 3)": [],
    "PReLU(-1)": [],
    "LayerNorm(-1)": [],
    "RNNCell(-1, 2)": [],
}
REFUSED = (ValueError, TypeError, RuntimeError, IndexError, ZeroDivisionError)


def input_of(library, shape):
    if shape in (INDICES, SOME_INDICES):
        return library.zeros(0 if shape == INDICES else 2, dtype=library.int64)
    return library.ones(*shape).requires_grad_()


def made(library, source, training=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"nn.{source}", {"nn": library.nn}).train(training)  # noqa: S307


def shapes(named):
    return {name: None if t is None else tuple(t.shape) for name, t in named}


def about(library, source):
    layer = made(library, source)
    return repr(layer), shapes(layer.state_dict().items())


def ran(library, source, shape, training):
    """The results of a call and its backward pass.

    The loss gives each output a weight of its own: behind a norm the plain sum has no gradient but rounding.
    """
    library.manual_seed(0)
    layer, x = made(library, source, training), input_of(library, shape)
    if "running_mean" in dict(layer.named_buffers()):
        layer.running_mean.fill_(0.5)
    result = layer(x)
    outputs = list(result) if isinstance(result, tuple) else [result]
    if outputs[0].requires_grad:
        sum((y * library.arange(1.0, y.numel() + 1).reshape(y.shape)).sum() for y in outputs).backward()
    gradients = [("input", x.grad), *((name, p.grad) for name, p in layer.named_parameters())]
    buffers = {name: b.tolist() for name, b in layer.named_buffers()}
    zeros = [name for name, g in gradients if g is not None and np.allclose(g.numpy(), 0, atol=1e-6)]
    return [tuple(y.shape) for y in outputs], shapes(gradients), buffers, zeros


def both(function, *arguments):
    results = []
    for library in (ocl, torch):
        try:
            results.append(function(library, *arguments))
        except REFUSED as error:
            results.append(error)
    return results


def expect_same(ours, theirs):
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"PyTorch refuses: {theirs}"
        return
    if isinstance(ours, Exception):
        raise ours
    assert ours == theirs


@pytest.mark.parametrize("source", LAYERS)
def test_what_is_made(source):
    expect_same(*both(about, source))


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize(
    ("source", "shape"), [(source, shape) for source, shapes in LAYERS.items() for shape in shapes], ids=str
)
def test_calls(source, shape, training):
    expect_same(*both(ran, source, shape, training))


@pytest.mark.parametrize("source", ["Linear(0, 5)", "Linear(3, 0)", "Conv2d(0, 4, 3)", "Conv1d(2, 0, 3)"])
def test_the_warning(source):
    for library in (ocl, torch):
        with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
            eval(f"nn.{source}", {"nn": library.nn})  # noqa: S307


def test_a_bias_without_inputs_is_zero():
    for layer in (made(ocl, "Linear(0, 5)"), made(ocl, "Conv2d(0, 4, 3)")):
        assert not np.any(layer.bias.detach().numpy())


FILLS = [
    "uniform_",
    "normal_",
    "zeros_",
    "ones_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "trunc_normal_",
    "eye_",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (0, 0), (0, 3, 3), (4, 0, 3), (4, 3, 0)], ids=str)
@pytest.mark.parametrize("name", FILLS)
def test_fillings_of_nothing(name, shape):
    expect_same(
        *both(lambda library: tuple(getattr(library.nn.init, name)(library.empty(*shape)).shape)),
    )


@pytest.mark.parametrize("name", ["kaiming_uniform_", "kaiming_normal_"])
def test_fillings_of_nothing_warn(name):
    for library in (ocl, torch):
        with pytest.warns(UserWarning, match="no-op"):
            getattr(library.nn.init, name)(library.empty(0, 3))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (0, 3, 3), (4, 0, 3), (4, 3, 0)], ids=str)
def test_fans(shape):
    fans = [lib.nn.init._calculate_fan_in_and_fan_out(lib.empty(*shape)) for lib in (ocl, torch)]
    assert fans[0] == fans[1]


def test_a_part_of_a_larger_tensor_is_filled_alone():
    whole = ocl.full((6, 8), 9.0)
    ocl.nn.init.uniform_(whole[1:4, 2:5], 1, 2)
    values = whole.numpy()
    inside = values[1:4, 2:5]
    assert inside.min() >= 1 and inside.max() <= 2 and len(np.unique(inside)) > 1
    assert (values == 9).sum() == values.size - inside.size


EMPTY = {
    "mse_loss": lambda f, x: f.mse_loss(x, x.detach()),
    "l1_loss": lambda f, x: f.l1_loss(x, x.detach()),
    "smooth_l1_loss": lambda f, x: f.smooth_l1_loss(x, x.detach()),
    "huber_loss": lambda f, x: f.huber_loss(x, x.detach(), reduction="sum"),
    "binary_cross_entropy": lambda f, x: f.binary_cross_entropy(x, x.detach()),
    "binary_cross_entropy_with_logits": lambda f, x: f.binary_cross_entropy_with_logits(
        x, x.detach(), reduction="sum"
    ),
    "kl_div": lambda f, x: f.kl_div(x, x.detach(), reduction="sum"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EMPTY)
def test_losses_of_nothing(name):
    def run(library):
        x = library.ones(0, 3).requires_grad_()
        loss = EMPTY[name](library.nn.functional, x)
        loss.backward()
        return tuple(loss.shape), tuple(x.grad.shape), str(loss.item())

    expect_same(*both(run))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_losses_of_no_labels(name, reduction):
    def run(library):
        x, labels = library.ones(0, 3).requires_grad_(), library.zeros(0, dtype=library.int64)
        loss = getattr(library.nn.functional, name)(x, labels, reduction=reduction)
        loss.sum().backward()
        return tuple(loss.shape), tuple(x.grad.shape), str(loss.sum().item())

    expect_same(*both(run))
