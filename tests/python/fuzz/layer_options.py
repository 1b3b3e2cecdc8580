"""Every layer of nn with random options, and inputs that mostly fit it.

    @layer("Linear")
    def linear(draw):
        return Drawn("Linear", (7, 5), {"bias": False}, [draw.floats((3, 7))])

Sizes are 0 now and then, and often 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from cases.harness import Input

FAMILIES = {}


@dataclass
class Drawn:
    """A layer of that name, the arguments of its constructor, and what it is called with.

    An argument that is a Drawn is a layer too. `call(layer, *tensors)` where the inputs are not arguments.
    """

    name: str
    arguments: tuple = ()
    options: dict = field(default_factory=dict)
    inputs: list = field(default_factory=list)
    keywords: dict = field(default_factory=dict)
    call: Callable | None = None

    def build(self, lib):
        arguments = [a.build(lib) if isinstance(a, Drawn) else a for a in self.arguments]
        return getattr(lib.nn, self.name)(*arguments, **self.options)

    def text(self):
        parts = [a.text() if isinstance(a, Drawn) else repr(a) for a in self.arguments]
        parts += [f"{k}={v!r}" for k, v in self.options.items()]
        given = f" called with {self.keywords}" if self.keywords else ""
        return f"{self.name}({', '.join(parts)}){given}"


def layer(*names):
    """Declares a function that draws the layers of these names."""

    def declare(function):
        for name in names:
            FAMILIES[name] = function if len(names) == 1 else lambda draw, name=name: function(draw, name)
        return function

    return declare


def size(draw, largest=7):
    """Mostly more than 1, sometimes 0."""
    if draw.chance(0.07):
        return 0
    return 1 if draw.chance(0.15) else draw.integer(2, largest)


def batch(draw):
    return 0 if draw.chance(0.07) else draw.integer(1, 4)


def some(draw, **options):
    """Some of the options, each of which is a list to choose from; the default call is drawn often."""
    if draw.chance(0.35):
        return {}
    return {name: draw.choice(values) for name, values in options.items() if draw.chance(0.5)}


def spatial(draw, dims, low=3, high=9):
    return tuple(1 if draw.chance(0.07) else draw.integer(low, high) for _ in range(dims))


def per_dim(draw, dims, low, high):
    """One number, one for each dimension, or a list of one that serves all."""
    if draw.chance(0.15):
        return (draw.integer(low, high),)
    several = tuple(draw.integer(low, high) for _ in range(dims))
    return draw.choice([several[0], several, list(several)])


def dims_of(name):
    return int(name[-2])


def channels_of(draw, channels, dims, unbatched=0.15):
    """An input with that many channels, without a batch now and then."""
    shape = (channels, *spatial(draw, dims))
    return draw.floats(shape if draw.chance(unbatched) else (batch(draw), *shape))


@layer("Linear")
def linear(draw):
    features = size(draw)
    x = draw.floats((*(size(draw, 4) for _ in range(draw.integer(0, 3))), features))
    return Drawn("Linear", (features, size(draw)), some(draw, bias=[False, True]), [x])


@layer("Identity", "Flatten", "Dropout", "Dropout2d")
def plain(draw, name):
    x = draw.floats((batch(draw), size(draw), *spatial(draw, 2, 1, 4)))
    options = some(draw, start_dim=[0, 1, 2], end_dim=[-1, -2, 2]) if name == "Flatten" else {}
    if name.startswith("Dropout"):
        options = {"p": draw.choice([0.0, 1.0]), **some(draw, inplace=[True])}
    return Drawn(name, (), options, [x])


@layer("Unflatten")
def unflatten(draw):
    rows, columns = size(draw, 4), size(draw, 4)
    shape = draw.choice([(rows, columns), (rows, -1), (-1, columns), (rows * columns,)])
    return Drawn(
        "Unflatten", (draw.choice([1, -2]), shape), {}, [draw.floats((batch(draw), rows * columns, 2))]
    )


@layer("Embedding")
def embedding(draw):
    rows = draw.integer(1, 9)
    ids = draw.integers((batch(draw), size(draw)), 0, rows, draw.choice(["int64", "int32"]))
    return Drawn("Embedding", (rows, size(draw)), some(draw, padding_idx=[0, rows - 1, -1, None]), [ids])


# --- convolutions and pooling


@layer("Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d")
def convolutions(draw, name):
    dims, groups = dims_of(name), draw.choice([1, 1, 1, 2])
    inputs, outputs = groups * size(draw, 3), groups * size(draw, 3)
    options = some(
        draw,
        stride=[per_dim(draw, dims, 1, 3)],
        padding=[per_dim(draw, dims, 0, 2)],
        dilation=[per_dim(draw, dims, 1, 2)],
        bias=[False, True],
    )
    if groups > 1:
        options["groups"] = groups
    if "Transpose" not in name:
        options |= some(draw, padding_mode=["zeros", "reflect", "replicate", "circular"])
        if draw.chance(0.15):
            options |= {"padding": draw.choice(["same", "valid"]), "stride": 1}
    elif draw.chance(0.3):
        options |= {"stride": 2, "output_padding": per_dim(draw, dims, 0, 1)}
    return Drawn(
        name, (inputs, outputs, per_dim(draw, dims, 1, 3)), options, [channels_of(draw, inputs, dims)]
    )


@layer("MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d")
def pools(draw, name):
    dims = dims_of(name)
    options = some(
        draw, stride=[per_dim(draw, dims, 1, 3)], padding=[per_dim(draw, dims, 0, 1)], ceil_mode=[True, False]
    )
    if name.startswith("Max"):
        options |= some(draw, dilation=[per_dim(draw, dims, 1, 2)], return_indices=[True])
    else:
        options |= some(draw, count_include_pad=[True, False])
        if name == "AvgPool2d":
            options |= some(draw, divisor_override=[1, 3])
    x = channels_of(draw, draw.integer(1, 5), dims)
    if name.startswith("Max"):
        x = draw.distinct(x.shape)
    return Drawn(name, (per_dim(draw, dims, 1, 3),), options, [x])


@layer("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d")
def adaptive_pools(draw, name):
    dims = dims_of(name)
    target = draw.choice(
        [per_dim(draw, dims, 1, 6), per_dim(draw, dims, 1, 6), None if dims == 1 else (None, 2)]
    )
    options = some(draw, return_indices=[True]) if "Max" in name else {}
    x = draw.distinct(channels_of(draw, draw.integer(1, 5), dims).shape)
    return Drawn(name, (1 if target is None else target,), options, [x])


# --- norms


@layer("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d")
def norms_of_channels(draw, name):
    dims, channels = dims_of(name), size(draw, 6)
    options = some(
        draw,
        eps=[1e-3, 1e-8],
        momentum=[0.3, 1.0, 0.0] + ([None] if "Batch" in name else []),
        affine=[True, False],
        track_running_stats=[True, False],
    )
    x = channels_of(draw, channels, dims, 0.15 if "Instance" in name else 0)
    if name == "BatchNorm1d" and draw.chance(0.4):
        x = draw.floats((batch(draw), channels))
    return Drawn(name, (channels,), options, [x])


@layer("LayerNorm", "RMSNorm")
def norms_of_rows(draw, name):
    shape = tuple(size(draw, 5) for _ in range(draw.integer(1, 2)))
    options = some(draw, eps=[1e-3, 1e-8], elementwise_affine=[True, False])
    if name == "LayerNorm":
        options |= some(draw, bias=[False])
    x = draw.floats((*(size(draw, 4) for _ in range(draw.integer(0, 2))), *shape))
    return Drawn(name, (shape[0] if len(shape) == 1 and draw.chance(0.5) else shape,), options, [x])


@layer("GroupNorm")
def group_norm(draw):
    groups = draw.integer(1, 3)
    channels = groups * size(draw, 3)
    x = draw.floats((batch(draw), channels, *spatial(draw, draw.integer(0, 2), 1, 5)))
    return Drawn("GroupNorm", (groups, channels), some(draw, eps=[1e-3], affine=[True, False]), [x])


@layer("LocalResponseNorm")
def local_response_norm(draw):
    x = draw.floats((batch(draw), size(draw), *spatial(draw, draw.integer(1, 2), 1, 4)))
    options = some(draw, alpha=[0.5], beta=[0.5, 1.0], k=[2.0, 0.5])
    return Drawn("LocalResponseNorm", (draw.integer(1, 4),), options, [x])


# --- activations

ACTIVATIONS = {
    name: {}
    for name in (
        "Sigmoid",
        "Tanh",
        "LogSigmoid",
        "Tanhshrink",
        "Softsign",
        "Softmax",
        "LogSoftmax",
        "Softmin",
    )
}
ACTIVATIONS |= {
    name: {"inplace": [True]}
    for name in ("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardsigmoid", "Hardswish")
}
ACTIVATIONS |= {
    "LeakyReLU": {"negative_slope": [0.3, 2, 0], "inplace": [True]},
    "ELU": {"alpha": [0.5, 2], "inplace": [True]},
    "CELU": {"alpha": [0.5, 2], "inplace": [True]},
    "Hardtanh": {"min_val": [-0.5, -2], "max_val": [0.1, 2], "inplace": [True]},
    "Softplus": {"beta": [2, 0.5], "threshold": [1, 20.0]},
    "Hardshrink": {"lambd": [0.1, 1]},
    "Softshrink": {"lambd": [0.1, 1]},
    "Threshold": {"inplace": [True]},
    "GELU": {"approximate": ["tanh", "none"]},
    "GLU": {"dim": [0, -1]},
    "PReLU": {"init": [0.1, 1.5]},
}


@layer(*ACTIVATIONS)
def activations(draw, name):
    options = some(draw, **ACTIVATIONS[name])
    shape = (size(draw), 2 * size(draw), *spatial(draw, draw.integer(0, 2), 1, 4))
    arguments = ()
    if "Soft" in name and name not in ("Softsign", "Softplus", "Softshrink"):
        arguments = (draw.choice([0, 1, -1]),)
    if name == "Threshold":
        arguments = (draw.choice([0, 0.1, -0.5]), draw.choice([0, 20, -1.5]))
    if name == "PReLU" and draw.chance(0.5):
        options["num_parameters"] = max(shape[1], 1)
    if name == "GLU":
        shape = (2 * shape[0], *shape[1:-1], 2 * shape[-1])
    return Drawn(name, arguments, options, [draw.floats(shape)])


# --- what changes sizes


@layer("Upsample")
def upsample(draw):
    dims = draw.integer(1, 2)
    mode = draw.choice(["nearest", "linear" if dims == 1 else "bilinear"])
    options = {"mode": mode} if mode != "nearest" or draw.chance(0.5) else {}
    if draw.chance(0.5):
        options["scale_factor"] = draw.choice([2, 1.5, 0.5, (2.0,) * dims])
    else:
        options["size"] = draw.choice([5, tuple(draw.integer(1, 9) for _ in range(dims))])
    if mode != "nearest":
        options |= some(draw, align_corners=[True, False])
    return Drawn(
        "Upsample", (), options, [draw.floats((batch(draw), size(draw, 4), *spatial(draw, dims, 2, 6)))]
    )


@layer("PixelShuffle", "PixelUnshuffle", "ChannelShuffle")
def shuffles(draw, name):
    factor, channels = draw.integer(1, 3), size(draw, 3)
    rows, columns = draw.integer(1, 3), draw.integer(1, 3)
    shape = {
        "PixelShuffle": (channels * factor**2, rows, columns),
        "PixelUnshuffle": (channels, rows * factor, columns * factor),
        "ChannelShuffle": (channels * factor, rows, columns),
    }[name]
    return Drawn(name, (factor,), {}, [draw.floats((batch(draw), *shape))])


@layer(
    *(f"{kind}Pad{dims}d" for kind in ("Zero", "Reflection", "Replication", "Circular") for dims in (1, 2, 3))
)
def pads(draw, name):
    dims = dims_of(name)
    padding = tuple(draw.integer(0, 2) for _ in range(2 * dims))
    x = channels_of(draw, size(draw, 3), dims)
    return Drawn(name, (draw.choice([padding, padding[0]]),), {}, [x])


# --- sequences


@layer("RNN", "LSTM", "GRU")
def recurrent(draw, name):
    features, units = max(size(draw, 5), 1), draw.integer(1, 6)
    options = some(
        draw, num_layers=[1, 2, 3], bias=[False, True], batch_first=[True, False], bidirectional=[True, False]
    )
    if name == "RNN":
        options |= some(draw, nonlinearity=["relu", "tanh"])
    if name == "LSTM" and units > 1:
        options |= some(draw, proj_size=[1, units - 1])
    shape = (
        (draw.integer(1, 5), features)
        if draw.chance(0.15)
        else (draw.integer(1, 4), draw.integer(1, 4), features)
    )
    return Drawn(name, (features, units), options, [draw.floats(shape)])


@layer("RNNCell", "LSTMCell", "GRUCell")
def cells(draw, name):
    features, units = draw.integer(1, 5), draw.integer(1, 6)
    shape = (features,) if draw.chance(0.2) else (draw.integer(1, 4), features)
    return Drawn(name, (features, units), some(draw, bias=[False]), [draw.floats(shape)])


@layer("MultiheadAttention")
def attention(draw):
    heads = draw.integer(1, 3)
    width = heads * draw.integer(1, 3)
    options = some(
        draw, bias=[False, True], batch_first=[True, False], add_bias_kv=[False], add_zero_attn=[False]
    )
    keywords = some(draw, need_weights=[True, False], average_attn_weights=[True, False])
    items, queries, keys = draw.integer(1, 3), draw.integer(1, 5), draw.integer(1, 5)

    def sequence(length, features=width):
        order = (items, length) if options.get("batch_first") else (length, items)
        return draw.floats((*order, features))

    if draw.chance(0.5):
        x = sequence(queries)
        return Drawn(
            "MultiheadAttention", (width, heads), options, [x], keywords, lambda m, x, **k: m(x, x, x, **k)
        )
    widths = (width, width)
    if draw.chance(0.3):
        widths = (draw.integer(1, 5), draw.integer(1, 5))
        options |= {"kdim": widths[0], "vdim": widths[1]}
    inputs = [sequence(queries), sequence(keys, widths[0]), sequence(keys, widths[1])]
    return Drawn("MultiheadAttention", (width, heads), options, inputs, keywords)


TRANSFORMERS = (
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerDecoder",
    "Transformer",
)


@layer(*TRANSFORMERS)
def transformers(draw, name):
    heads = draw.integer(1, 2)
    width = heads * draw.integer(1, 3)
    options = some(draw, batch_first=[True, False], norm_first=[True, False], activation=["relu", "gelu"])
    options |= some(draw, bias=[False, True], layer_norm_eps=[1e-3])
    options |= {"dropout": 0.0, "dim_feedforward": draw.integer(1, 6)}
    items, length, other = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 4)

    def sequence(length):
        order = (items, length) if options.get("batch_first") else (length, items)
        return draw.floats((*order, width))

    inputs = [sequence(length)] if "Encoder" in name else [sequence(length), sequence(other)]
    if name == "Transformer":
        options |= {"num_encoder_layers": draw.integer(1, 2), "num_decoder_layers": 1}
        return Drawn(name, (width, heads), options, inputs)
    if name.endswith("Layer"):
        return Drawn(name, (width, heads), options, inputs)
    inner = Drawn(f"{name}Layer", (width, heads), options)
    return Drawn(name, (inner, draw.integer(1, 2)), {}, inputs)


# --- losses


def probabilities(draw, shape):
    return draw.floats(shape, 0.02, 0.98)


@layer("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss")
def losses_of_pairs(draw, name):
    options = some(draw, reduction=["none", "sum", "mean"] + ["batchmean"] * (name == "KLDivLoss"))
    options |= {"SmoothL1Loss": some(draw, beta=[0.5, 2]), "HuberLoss": some(draw, delta=[0.5, 2])}.get(
        name, {}
    )
    if name == "KLDivLoss":
        options |= some(draw, log_target=[True])
    shape = draw.shape(1, 3, largest=6)
    both = name == "BCELoss"
    x = probabilities(draw, shape) if both else draw.floats(shape)
    if both and draw.chance(0.3) and x.layout != "expanded":
        x = Input(
            np.where(x.array > 0.5, 1 - x.array * 1e-4, x.array * 1e-4).astype(np.float32), x.layout, x.seed
        )
    target = (
        draw.floats(shape, -2, 2)
        if name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
        else probabilities(draw, shape)
    )
    return Drawn(name, (), options, [x, target])


@layer("CrossEntropyLoss", "NLLLoss")
def losses_of_classes(draw, name):
    classes, items = draw.integer(1, 6), batch(draw)
    options = some(draw, reduction=["none", "sum", "mean"], ignore_index=[0, 1])
    if name == "CrossEntropyLoss":
        options |= some(draw, label_smoothing=[0.1, 1.0])
    rest = spatial(draw, draw.choice([0, 0, 1, 2]), 1, 4)
    return Drawn(
        name, (), options, [draw.floats((items, classes, *rest)), draw.integers((items, *rest), 0, classes)]
    )


# --- several layers


@layer("Sequential")
def nets(draw):
    """A small net of convolutions and norms, or of linear layers."""
    channels, width = draw.integer(1, 4), draw.integer(1, 4)
    if draw.chance(0.5):
        layers = (
            Drawn("Conv2d", (channels, width, 3), {"padding": 1, "bias": draw.chance(0.5)}),
            Drawn("BatchNorm2d", (width,)),
            Drawn(draw.choice(["ReLU", "SiLU", "Hardswish", "Hardsigmoid"]), (), some(draw, inplace=[True])),
            Drawn(draw.choice(["MaxPool2d", "AvgPool2d"]), (2,)),
            Drawn("Flatten"),
        )
        return Drawn("Sequential", layers, {}, [draw.floats((draw.integer(1, 4), channels, 4, 6))])
    layers = (
        Drawn("Linear", (channels, width)),
        Drawn(draw.choice(["LayerNorm", "RMSNorm"]), (width,)),
        Drawn(draw.choice(["GELU", "Tanh", "Softplus", "ELU"])),
        Drawn("Linear", (width, draw.integer(0, 3)), some(draw, bias=[False])),
    )
    return Drawn("Sequential", layers, {}, [draw.floats((draw.integer(1, 4), 3, channels))])
