"""Every module class that PyTorch has too: signature, attributes, copies and subclasses as there."""

import copy
import inspect
import pickle
import re
import typing

import numpy as np
import pytest
import torch

import ocl
from ocl import nn

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

# Arguments to construct one, or what gives them of a library; and the shape of an input for layers of one
# floating tensor.
LAYERS = {
    "Linear": ((3, 5), (4, 3)),
    "Conv1d": ((2, 4, 3), (2, 2, 9)),
    "Conv2d": ((2, 4, 3), (2, 2, 9, 8)),
    "Conv3d": ((2, 4, 2), (2, 2, 4, 5, 3)),
    "ConvTranspose1d": ((2, 4, 3), (2, 2, 5)),
    "ConvTranspose2d": ((2, 4, 3), (2, 2, 5, 4)),
    "ConvTranspose3d": ((2, 4, 2), (2, 2, 3, 4, 3)),
    "BatchNorm1d": ((3,), (4, 3, 5)),
    "BatchNorm2d": ((3,), (4, 3, 5, 2)),
    "BatchNorm3d": ((3,), (2, 3, 4, 5, 2)),
    "SyncBatchNorm": ((3,), (2, 3, 4, 5, 2)),
    "InstanceNorm1d": ((3,), (4, 3, 5)),
    "InstanceNorm2d": ((3,), (4, 3, 5, 2)),
    "LayerNorm": (((5,),), (4, 5)),
    "RMSNorm": (((5,),), (4, 5)),
    "GroupNorm": ((2, 4), (3, 4, 5)),
    "LocalResponseNorm": ((2,), (3, 4, 5)),
    "Embedding": ((7, 3), None),
    "Dropout": ((), (4, 3)),
    "Dropout2d": ((), (2, 4, 3, 3)),
    "Flatten": ((), (2, 3, 4)),
    "Unflatten": ((1, (2, 3)), (4, 6)),
    "Identity": ((), (2, 3)),
    "MaxPool1d": ((2,), (2, 3, 8)),
    "MaxPool2d": ((2,), (2, 3, 8, 6)),
    "MaxPool3d": ((2,), (2, 3, 4, 6, 5)),
    "AvgPool1d": ((2,), (2, 3, 8)),
    "AvgPool2d": ((2,), (2, 3, 8, 6)),
    "AvgPool3d": ((2,), (2, 3, 4, 6, 5)),
    "AdaptiveAvgPool1d": ((3,), (2, 3, 8)),
    "AdaptiveAvgPool2d": ((3,), (2, 3, 8, 6)),
    "AdaptiveAvgPool3d": ((3,), (2, 3, 4, 6, 5)),
    "AdaptiveMaxPool1d": ((3,), (2, 3, 8)),
    "AdaptiveMaxPool2d": ((3,), (2, 3, 8, 6)),
    "AdaptiveMaxPool3d": ((3,), (2, 3, 4, 6, 5)),
    "MaxUnpool1d": ((2,), None),
    "MaxUnpool2d": ((2,), None),
    "MaxUnpool3d": ((2,), None),
    "CTCLoss": ((), None),
    "FractionalMaxPool2d": ((2, 3), None),
    "FractionalMaxPool3d": ((2, 3), None),
    "AdaptiveLogSoftmaxWithLoss": ((8, 9, [3, 6], 2.0), None),
    "InstanceNorm3d": ((3,), (2, 3, 4, 5, 2)),
    "Dropout1d": ((), (2, 4, 3)),
    "Dropout3d": ((), (2, 4, 3, 3, 2)),
    "AlphaDropout": ((), (2, 4, 3)),
    "FeatureAlphaDropout": ((), (2, 4, 3)),
    "CrossMapLRN2d": ((3,), (2, 3, 4, 5)),
    "ConstantPad1d": ((1, 2.5), (2, 3, 5)),
    "ConstantPad2d": ((1, 2.5), (2, 3, 5, 4)),
    "ConstantPad3d": ((1, 2.5), (2, 3, 5, 4, 3)),
    "UpsamplingNearest2d": ((None, 2), (2, 3, 4, 5)),
    "UpsamplingBilinear2d": ((None, 2), (2, 3, 4, 5)),
    "LPPool1d": ((2.0, 2), (2, 3, 8)),
    "LPPool2d": ((2.0, 2), (2, 3, 8, 6)),
    "LPPool3d": ((2.0, 2), (2, 3, 4, 6, 5)),
    "Upsample": ((None, 2), (2, 3, 4)),
    "PixelShuffle": ((2,), (2, 4, 3, 3)),
    "PixelUnshuffle": ((2,), (2, 1, 4, 4)),
    "ChannelShuffle": ((2,), (2, 4, 3, 3)),
    "Unfold": ((2,), (2, 3, 4, 5)),
    "Fold": (((3, 4), 2), (2, 8, 6)),
    "Bilinear": ((3, 4, 5), None),
    "PairwiseDistance": ((), None),
    "CosineSimilarity": ((), None),
    "EmbeddingBag": ((7, 3), None),
    "MultiheadAttention": ((8, 2), None),
    "RNN": ((3, 4), (5, 2, 3)),
    "GRU": ((3, 4), (5, 2, 3)),
    "LSTM": ((3, 4), (5, 2, 3)),
    "RNNCell": ((3, 4), (2, 3)),
    "GRUCell": ((3, 4), (2, 3)),
    "LSTMCell": ((3, 4), (2, 3)),
    "TransformerEncoderLayer": ((8, 2, 16), (5, 3, 8)),
    "TransformerDecoderLayer": ((8, 2, 16), None),
    "TransformerEncoder": (lambda lib: (lib.nn.TransformerEncoderLayer(8, 2, 16), 2), (5, 3, 8)),
    "TransformerDecoder": (lambda lib: (lib.nn.TransformerDecoderLayer(8, 2, 16), 2), None),
    "Transformer": ((8, 2, 1, 1, 16), None),
    "Sequential": (lambda lib: (lib.nn.Linear(2, 3), lib.nn.ReLU()), (4, 2)),
    "ModuleList": (lambda lib: ([lib.nn.Linear(2, 3), lib.nn.ReLU()],), None),
    "ModuleDict": (lambda lib: ({"a": lib.nn.Linear(2, 3), "b": lib.nn.ReLU()},), None),
    "ParameterList": (lambda lib: ([lib.ones(2), lib.ones(3, 1)],), None),
    "ParameterDict": (lambda lib: ({"a": lib.ones(2), "b": lib.ones(3, 1)},), None),
    "PReLU": ((), (4, 3)),
    "GLU": ((), (4, 6)),
    "GELU": ((), (4, 3)),
    "Softplus": ((), (4, 3)),
    "Threshold": ((0.1, 2.0), (4, 3)),
    "Softmax": ((1,), (4, 3)),
    "LogSoftmax": ((1,), (4, 3)),
    "Softmin": ((1,), (4, 3)),
    "Softmax2d": ((), (2, 3, 4, 5)),
}
for activation in (
    "Sigmoid Tanh LogSigmoid Tanhshrink Softsign ReLU ReLU6 SiLU Mish SELU Hardsigmoid Hardswish LeakyReLU "
    "ELU CELU Hardtanh Hardshrink Softshrink RReLU"
).split():
    LAYERS[activation] = ((), (4, 3))
for mode in ("Zero", "Reflection", "Replication", "Circular"):
    for axes, shape in ((1, (2, 3, 5)), (2, (2, 3, 5, 4)), (3, (2, 3, 5, 4, 3))):
        LAYERS[f"{mode}Pad{axes}d"] = ((1,), shape)
LOSSES = [
    f"{name}Loss"
    for name in (
        *("CrossEntropy", "NLL", "MSE", "L1", "SmoothL1", "Huber", "BCE", "BCEWithLogits", "KLDiv"),
        *("PoissonNLL", "GaussianNLL", "HingeEmbedding", "MarginRanking", "TripletMargin", "CosineEmbedding"),
        *(
            "SoftMargin",
            "MultiMargin",
            "MultiLabelMargin",
            "MultiLabelSoftMargin",
            "TripletMarginWithDistance",
        ),
    )
]
for loss in LOSSES:
    LAYERS[loss] = ((), None)

# docs/pytorch-differences.md says why.
MISSING_ARGUMENTS = {
    **{name: {"size_average", "reduce"} for name in LOSSES},
    "Hardtanh": {"min_value", "max_value"},
}
# Arguments that came with PyTorch 2.13.
NEW_ARGUMENTS = {
    name: {"bias"}
    for name in (
        *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
        *("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "GroupNorm"),
    )
    if torch.__version__ < (2, 13)
}
# Attributes of PyTorch's own machinery.
INTERNAL = {
    *("output_padding", "transposed", "name"),
    "activation_relu_or_gelu",
    "use_nested_tensor",
}


def arguments_of(lib, name):
    arguments = LAYERS[name][0]
    return arguments(lib) if callable(arguments) else arguments


def make(lib, name, **options):
    return getattr(lib.nn, name)(*arguments_of(lib, name), **options)


def parameters_of(function):
    """Names and defaults; of a class that takes anything, those that it declares."""
    overloads = typing.get_overloads(function.__init__)
    signature = inspect.signature(overloads[0] if overloads else function)
    return {
        name: getattr(p.default, "__name__", p.default) if p.default is not p.empty else p.empty
        for name, p in signature.parameters.items()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and name != "self"
    }


def public_attributes(module):
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and name not in INTERNAL
        and isinstance(value, (int, float, str, tuple, type(None)))
    }


def output(module, name, seed=0):
    shape = LAYERS[name][1]
    module.eval()
    result = module(ocl.tensor(np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)))
    return (result[0] if isinstance(result, tuple) else result).detach().numpy()


WITH_INPUT = [name for name, (_, shape) in LAYERS.items() if shape is not None]


def test_every_class_is_here():
    bases = {"Module", "RNNBase", "RNNCellBase"}
    classes = {
        name
        for name in dir(nn)
        if isinstance(getattr(nn, name), type)
        and issubclass(getattr(nn, name), nn.Module)
        and not name.startswith("Lazy")  # nn/test_lazy.py has those
    }
    assert {name for name in classes if hasattr(torch.nn, name)} - bases == set(LAYERS)


@pytest.mark.parametrize("name", LAYERS)
def test_signature(name):
    theirs, ours = parameters_of(getattr(torch.nn, name)), parameters_of(getattr(nn, name))
    wanted = {k: v for k, v in theirs.items() if k not in MISSING_ARGUMENTS.get(name, ())}
    ours = {k: v for k, v in ours.items() if k not in NEW_ARGUMENTS.get(name, ())}
    assert list(ours) == list(wanted)
    same = {
        k: v in (wanted[k], *((wanted[k],) * n for n in (1, 2, 3))) for k, v in ours.items()
    }  # (1, 1) is 1
    assert all(same.values()), same


@pytest.mark.parametrize("name", LAYERS)
def test_attributes(name):
    theirs, ours = make(torch, name), make(ocl, name)
    for attribute, value in public_attributes(theirs).items():
        got = getattr(ours, attribute)
        assert got == value and type(got) is type(value), attribute


@pytest.mark.parametrize("name", LAYERS)
def test_attributes_can_be_set(name):
    module = make(ocl, name)
    for attribute in public_attributes(make(torch, name)):
        if attribute == "head_dim":  # follows from two others
            continue
        before = getattr(module, attribute)
        setattr(module, attribute, before)
        assert getattr(module, attribute) == before, attribute


def test_changed_settings_count_from_the_next_call():
    def outcome(lib, name, shape, train=False, **changes):
        module = make(lib, name)
        module.train(train)
        for p in module.parameters():
            lib.nn.init.constant_(p, 0.5)
        for attribute, value in changes.items():
            setattr(module, attribute, value)
        x = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
        y = module(lib.tensor(x))
        results = (*y, *module.buffers()) if isinstance(y, tuple) else (y, *module.buffers())
        return [np.asarray(t.detach().tolist()) for t in results], repr(module)

    for name, shape, changes in (
        ("Conv2d", (2, 2, 9, 8), {"stride": (2, 2), "padding": (1, 2), "dilation": (2, 1)}),
        ("Conv1d", (2, 2, 9), {"padding": "same"}),
        ("Conv3d", (2, 2, 4, 5, 3), {"stride": (1, 2, 1), "padding": "valid", "dilation": (2, 1, 1)}),
        ("BatchNorm2d", (4, 3, 5, 2), {"eps": 0.5, "momentum": 0.7, "train": True}),
        ("BatchNorm1d", (4, 3, 5), {"momentum": None, "train": True}),
        ("BatchNorm1d", (4, 3, 5), {"track_running_stats": False, "train": True}),
        ("LayerNorm", (4, 5), {"eps": 0.3}),
        ("GroupNorm", (3, 4, 5), {"num_groups": 4}),
        ("MaxPool2d", (2, 3, 8, 6), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
        ("AvgPool2d", (2, 3, 8, 6), {"kernel_size": (3, 2), "divisor_override": 5}),
        ("AdaptiveAvgPool2d", (2, 3, 8, 6), {"output_size": (2, None)}),
        ("MaxPool3d", (2, 3, 4, 6, 5), {"kernel_size": (1, 2, 3), "stride": 2, "padding": (0, 1, 1)}),
        ("AdaptiveMaxPool3d", (2, 3, 4, 6, 5), {"output_size": (2, None, 1)}),
        ("Upsample", (2, 3, 4), {"scale_factor": 3.0, "mode": "linear", "align_corners": True}),
        ("LeakyReLU", (4, 3), {"negative_slope": 0.7}),
        ("Hardtanh", (4, 3), {"min_val": -0.2, "max_val": 0.1}),
        ("Hardshrink", (4, 3), {"lambd": 0.1}),
        ("Softshrink", (4, 3), {"lambd": 0.2}),
        ("Softmax", (4, 3), {"dim": 0}),
        ("Flatten", (2, 3, 4), {"start_dim": 0}),
        ("ZeroPad2d", (2, 3, 5, 4), {"padding": (1, 0, 2, 1)}),
        ("GELU", (4, 3), {"approximate": "tanh"}),
        ("Unfold", (2, 3, 4, 5), {"kernel_size": (3, 2), "padding": 1, "stride": 2, "dilation": (1, 2)}),
        ("Fold", (2, 8, 6), {"output_size": (4, 3)}),
        ("RReLU", (4, 3), {"lower": 0.1, "upper": 0.5}),
        ("Dropout", (4, 3), {"p": 0.0, "train": True}),
        ("Dropout", (4, 3), {"p": 1.0, "train": True}),
        ("GRU", (5, 2, 3), {"batch_first": True}),
        ("TransformerEncoderLayer", (5, 3, 8), {"norm_first": True}),
    ):
        (ours, our_repr), (theirs, their_repr) = (
            outcome(lib, name, shape, **changes) for lib in (ocl, torch)
        )
        for mine, theirs_ in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, theirs_, rtol=1e-5, atol=1e-6, err_msg=name)
        assert our_repr.replace(", bias=True", "") == their_repr.replace(", bias=True", "")


@pytest.mark.parametrize("name", ["BatchNorm2d", "GroupNorm", "InstanceNorm2d", "SyncBatchNorm", "LayerNorm"])
def test_norms_without_a_bias(name):
    affine = {"affine": True} if name == "InstanceNorm2d" else {}
    sizes = {"GroupNorm": (2, 4), "LayerNorm": ((5, 5),)}.get(name, (4,))
    layer = getattr(nn, name)(*sizes, bias=False, **affine)
    assert layer.bias is None and layer.weight is not None
    assert "bias=False" in repr(layer) and list(layer._parameters) == ["weight", "bias"]
    assert "bias" not in layer.state_dict()
    x = ocl.randn(3, 4, 5, 5, requires_grad=True)
    whole = getattr(nn, name)(*sizes, **affine)
    np.testing.assert_array_equal(layer(x).tolist(), whole(x).tolist())  # whose bias is 0
    layer(x).square().sum().backward()
    assert layer.weight.grad is not None
    again = copy.deepcopy(layer)
    assert again.bias is None and repr(again) == repr(layer)
    layer.bias = nn.Parameter(ocl.ones_like(layer.weight))
    assert "bias=True" in repr(layer)
    if name != "LayerNorm":
        with pytest.raises(TypeError, match="positional arguments"):
            getattr(nn, name)(*sizes, *[None] * 9)


def test_loss_reduction_is_live():
    loss = nn.MSELoss()
    x, y = ocl.tensor([1.0, 2.0]), ocl.tensor([0.0, 0.0])
    loss.reduction = "sum"
    assert loss(x, y).item() == 5
    loss.reduction = "none"
    assert loss(x, y).tolist() == [1, 4]


@pytest.mark.parametrize("name", LAYERS)
def test_repr_and_state_dict(name):
    theirs, ours = make(torch, name), make(ocl, name)
    shown = repr(ours)
    if "bias" not in repr(torch.nn.LayerNorm(1)):  # PyTorch before 2.13
        shown = re.sub(r"(Norm\w*\([^\n]*), bias=\w+", r"\1", shown)
    assert shown == re.sub(r"torch\.(FloatTensor|float32)", "ocl.float32", repr(theirs))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for key, value in theirs.state_dict().items():
        assert tuple(ours.state_dict()[key].shape) == tuple(value.shape)
        assert str(ours.state_dict()[key].dtype) == str(value.dtype).replace("torch", "ocl")


@pytest.mark.parametrize("way", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), copy.copy])
@pytest.mark.parametrize("name", LAYERS)
def test_copies(name, way):
    module = make(ocl, name)
    module.note = ["kept"]
    module.train(False)
    state = ocl.get_rng_state() if hasattr(ocl, "get_rng_state") else None
    twin = way(module)
    assert state is None or (ocl.get_rng_state().tolist() == state.tolist())
    assert type(twin) is type(module) and twin is not module
    assert repr(twin) == repr(module) and not twin.training and twin.note == ["kept"]
    ours, theirs = module.state_dict(), twin.state_dict()
    assert list(ours) == list(theirs)
    for key in ours:
        np.testing.assert_array_equal(ours[key].numpy(), theirs[key].numpy())
    assert [p.requires_grad for p in module.parameters()] == [p.requires_grad for p in twin.parameters()]
    if name in WITH_INPUT:
        np.testing.assert_array_equal(output(module, name), output(twin, name))
    if way is copy.deepcopy:
        for p in twin.parameters():
            with ocl.no_grad():
                p.add_(1)
        for key in ours:
            np.testing.assert_array_equal(ours[key].numpy(), module.state_dict()[key].numpy())


@pytest.mark.parametrize("name", LAYERS)
def test_subclasses(name):
    class Sub(getattr(nn, name)):
        def __init__(self, *arguments, extra=1, **options):
            super().__init__(*arguments, **options)
            self.extra = extra

        def forward(self, *arguments, **options):
            self.called = True
            return super().forward(*arguments, **options)

    sub = Sub(*arguments_of(ocl, name), extra=3)
    twin = copy.deepcopy(sub)
    assert twin.extra == 3 and type(twin) is Sub
    if name in WITH_INPUT:
        np.testing.assert_array_equal(output(sub, name), output(twin, name))
        output(nn.Sequential(twin), name)
        assert twin.called


@pytest.mark.parametrize("name", [n for n in LAYERS if "dtype" in parameters_of(getattr(torch.nn, n))])
def test_device_and_dtype(name):
    module = make(ocl, name, device="ocl:0", dtype=ocl.float16)
    assert {t.dtype for t in module.state_dict().values()} <= {ocl.float16, ocl.int64}
    assert make(ocl, name, dtype=None, device=None).state_dict().keys() == module.state_dict().keys()
    with pytest.raises(TypeError):
        make(ocl, name, dtype=ocl.int64)


@pytest.mark.parametrize("name", [n for n in LAYERS if hasattr(getattr(torch.nn, n), "reset_parameters")])
def test_reset_parameters(name):
    module = make(ocl, name)
    for p in module.parameters():
        nn.init.constant_(p, 7.5)
    module.reset_parameters()
    assert all((p != 7.5).any().item() for p in module.parameters())


@pytest.mark.parametrize("name", [n for n in LAYERS if not n.startswith("Identity")])
def test_wrong_arguments_are_named(name):
    with pytest.raises(TypeError, match=rf"{name}.*unexpected keyword argument 'colour'"):
        make(ocl, name, colour=1)
    if arguments_of(ocl, name) and list(parameters_of(getattr(torch.nn, name)).values())[:1] == [
        inspect.Parameter.empty
    ]:
        with pytest.raises(
            TypeError, match=f"{name}.*missing 1 required|{name}.*missing 2|{name}.*missing 3"
        ):
            getattr(nn, name)()
