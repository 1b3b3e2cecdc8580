"""``ocl.models`` against torchvision: names, modules, state dicts, initialisation, outputs and gradients."""

import contextlib
import copy
import pickle
import re

import numpy as np
import pytest
import torch
from comparisons import needs_torchvision
from net_comparison import assert_begins_alike, compare_gradients, compare_values, shapes, twin_of
from settling import settled
from support import repr_without_norm_bias
from validation.torchvision_files import load_torchvision

import ocl
from ocl import models, nn

pytestmark = [
    needs_torchvision("nets with torchvision's"),
    pytest.mark.filterwarnings("ignore"),
]

# Nets that are quick as they are: the side of their pictures, and arguments that both libraries take.
QUICK = {
    "resnet18": (64, {}),
    "squeezenet1_1": (64, {}),
    "shufflenet_v2_x0_5": (64, {}),
    "mnasnet0_5": (64, {}),
    "mobilenet_v3_small": (64, {}),
}
SLOW = {
    "alexnet": (64, {"num_classes": 10}),
    "vgg11_bn": (32, {"num_classes": 10}),
    "resnet50": (64, {"zero_init_residual": True, "replace_stride_with_dilation": [False, True, True]}),
    "resnext50_32x4d": (64, {}),
    "densenet121": (64, {}),
    "googlenet": (64, {"init_weights": False}),
    "inception_v3": (299, {"init_weights": False}),  # the auxiliary head takes no smaller ones
    "mobilenet_v2": (64, {"width_mult": 0.75}),
    "mobilenet_v3_large": (64, {"reduced_tail": True, "dilated": True, "width_mult": 0.75}),
    "regnet_x_400mf": (64, {}),
    "regnet_y_400mf": (64, {}),
    "efficientnet_b0": (64, {}),
    "efficientnet_v2_s": (64, {}),
    "convnext_tiny": (64, {}),
    "vit_b_32": (64, {"image_size": 64, "num_classes": 10, "representation_size": 24}),
    "swin_t": (64, {}),
    "swin_v2_t": (64, {}),
    "maxvit_t": (224, {"num_classes": 10}),
}
# Small nets of the classes that have no quick one: the side of their pictures, and what makes one of either.
SMALL = {
    "DenseNet": (
        64,
        lambda library: library.DenseNet(8, (2, 2, 2), 16, num_classes=10),
        lambda library: library.DenseNet(8, (2, 2, 2), 16, num_classes=10),
    ),
    "MobileNetV2": (
        64,
        lambda library: library.mobilenet_v2(inverted_residual_setting=[[1, 8, 1, 1], [4, 16, 2, 2]]),
        lambda library: library.mobilenet_v2(inverted_residual_setting=[[1, 8, 1, 1], [4, 16, 2, 2]]),
    ),
    "EfficientNet": (
        32,
        lambda library: library.EfficientNet([(True, 4, 3, 2, 8, 16, 2), (False, 4, 5, 2, 16, 16, 2)], 0.1),
        lambda library: library.EfficientNet(
            [
                library.efficientnet.FusedMBConvConfig(4, 3, 2, 8, 16, 2),
                library.efficientnet.MBConvConfig(4, 5, 2, 16, 16, 2),
            ],
            0.1,
        ),
    ),
    "RegNet": (
        64,
        lambda library: library.RegNet(4, 16, 8.0, 2.0, 8, se_ratio=0.25),
        lambda library: library.RegNet(
            library.regnet.BlockParams.from_init_params(4, 16, 8.0, 2.0, 8, se_ratio=0.25)
        ),
    ),
    "ConvNeXt": (
        64,
        lambda library: library.ConvNeXt([(16, 32, 1), (32, None, 2)], 0.1),
        lambda library: library.ConvNeXt(
            [library.convnext.CNBlockConfig(16, 32, 1), library.convnext.CNBlockConfig(32, None, 2)], 0.1
        ),
    ),
    "VisionTransformer": (
        32,
        lambda library: library.VisionTransformer(32, 16, 2, 2, 32, 64, representation_size=24),
        lambda library: library.VisionTransformer(32, 16, 2, 2, 32, 64, representation_size=24),
    ),
    "SwinTransformer": (
        40,  # windows of 4 x 4 cut 10 x 10 places, so that pictures are padded
        lambda library: library.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4]),
        lambda library: library.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4]),
    ),
    "SwinTransformer, second version": (
        40,
        lambda library: library.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], version=2),
        lambda library: library.SwinTransformer(
            [4, 4],
            16,
            [2, 2],
            [2, 4],
            [4, 4],
            block=library.swin_transformer.SwinTransformerBlockV2,
            downsample_layer=library.swin_transformer.PatchMergingV2,
        ),
    ),
    "MaxVit": (
        64,
        lambda library: library.MaxVit([64, 64], 8, 4, [8, 16], [1, 2], 4, 0.1),
        lambda library: library.MaxVit((64, 64), 8, 4, [8, 16], [1, 2], 4, 0.1),
    ),
}


def slow_unless(names, is_quick):
    return [name if is_quick(name) else pytest.param(name, marks=pytest.mark.slow) for name in names]


def torchvision_models():
    return load_torchvision().models


def without_chance(net):
    for module in net.modules():
        if type(module).__name__ in ("Dropout", "StochasticDepth"):
            module.p = 0.0
    return net


def test_the_nets_are_those_of_torchvision():
    theirs = torchvision_models()
    assert models.list_models(module=models) == theirs.list_models(module=theirs)
    assert models.list_models(include="resnet*", exclude=["*18", "*34"]) == [
        "resnet101",
        "resnet152",
        "resnet50",
    ]
    assert set(models.list_models(module=models)) <= set(models.__all__)


# On PyTorch's device without memory, where its functions take that.
WITH_MEMORY = re.compile("regnet")


@pytest.mark.parametrize(
    "name", slow_unless(models.list_models(models), lambda name: name in QUICK | SLOW and name != "vgg11_bn")
)
def test_state_dict_and_repr_are_those_of_torchvision(name):
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    with torch.device("cpu" if WITH_MEMORY.match(name) else "meta"):
        theirs = torchvision_models().get_model(name, **options)
    ours = models.get_model(name)
    assert shapes(ours) == shapes(theirs)
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    assert repr_without_norm_bias(ours) == repr_without_norm_bias(theirs)


def pair_of(name):
    """A net of either library, with the same weights, and the side of its pictures."""
    torch.manual_seed(0)
    if name in SMALL:
        side, make_ours, make_theirs = SMALL[name]
        ours, theirs = make_ours(models), make_theirs(torchvision_models())
    else:
        side, options = (QUICK | SLOW)[name]
        ours, theirs = models.get_model(name, **options), torchvision_models().get_model(name, **options)
    assert repr_without_norm_bias(ours) == repr_without_norm_bias(theirs)
    settled(theirs)
    return without_chance(twin_of(ours, theirs)), without_chance(theirs), side


@pytest.mark.parametrize("name", [*QUICK, *SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)])
def test_gives_the_numbers_of_pytorch(name):
    """The distance from float64 is at most 4 times PyTorch float32's own, in outputs and in gradients."""
    ours, theirs, side = pair_of(name)
    nets = ours, theirs, copy.deepcopy(theirs).double()
    rng = np.random.default_rng(1)

    def compute_on_other_pictures():
        x = rng.standard_normal((2, 3, side, side)).astype(np.float32)
        inputs = ocl.tensor(x), torch.from_numpy(x), torch.from_numpy(x).double()
        with torch.no_grad(), ocl.no_grad():
            compare_values(*(net.eval()(given).numpy() for net, given in zip(nets, inputs, strict=True)))
        for net, given in zip(nets, inputs, strict=True):
            net.zero_grad()
            outputs = net.train()(given)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            sum((output**2).mean() for output in outputs).backward()

    # Where rounding takes an activation across its kink, a gradient is another one: of mnasnet0_5, in one of
    # six batches of pictures PyTorch's own (1e-2 from float64's, else 2e-4), in two or three of them ours.
    # An argument that is wrong is wrong in all.
    for _ in range(3):
        compute_on_other_pictures()
        with contextlib.suppress(AssertionError):
            return compare_gradients(*nets)
    compute_on_other_pictures()
    compare_gradients(*nets)


@pytest.mark.parametrize(
    "name",
    slow_unless([*QUICK, *SLOW], lambda name: name in QUICK),
)
def test_begins_as_torchvision(name):
    """Expects one distribution in every tensor: constants exactly, of all else the mean, deviation and
    ends.
    """
    options = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    assert_begins_alike(models.get_model(name, **options), torchvision_models().get_model(name, **options))


def small_resnet(**options):
    return models.resnet18(layers=[1, 1, 1, 1], num_classes=10, **options)


PICTURE = np.random.default_rng(0).standard_normal((2, 3, 32, 32)).astype(np.float32)


def test_another_head_counts():
    net = models.resnet18(num_classes=10)
    net.fc = nn.Sequential(nn.Linear(512, 4), nn.ReLU())
    output = net(ocl.tensor(PICTURE))
    assert output.shape == (2, 4)
    assert output.detach().numpy().min() >= 0
    output.sum().backward()
    assert net.fc[0].weight.grad is not None and net.layer1[0].conv1.weight.grad is not None
    squeeze = models.squeezenet1_1()
    squeeze.classifier[1] = nn.Conv2d(512, 7, 1)
    assert squeeze(ocl.tensor(PICTURE)).shape == (2, 7)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
@pytest.mark.parametrize(
    "make",
    [
        small_resnet,
        lambda: models.mobilenet_v3_small(width_mult=0.25, num_classes=10),
        lambda: models.DenseNet(8, (2, 2), 16, num_classes=10),
        lambda: models.regnet_y_400mf(depth=4, num_classes=10),
        lambda: models.efficientnet_b0(
            inverted_residual_setting=[(False, 4, 3, 2, 8, 16, 2), (True, 4, 3, 2, 16, 16, 2)]
        ),
        lambda: models.convnext_tiny(block_setting=[(8, 16, 1), (16, None, 1)]),
        lambda: models.vit_b_16(image_size=32, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=8),
        lambda: models.swin_t(embed_dim=8, depths=(1, 2), num_heads=(2, 4), window_size=(4, 4)),
        lambda: models.swin_v2_t(embed_dim=8, depths=(1, 2), num_heads=(2, 4), window_size=(4, 4)),
        lambda: models.maxvit_t(
            input_size=(32, 32),
            stem_channels=8,
            block_channels=(8,),
            block_layers=(2,),
            head_dim=4,
            partition_size=4,
        ),
    ],
)
def test_copies(make, copied):
    net = make().eval()
    for parameter in net.parameters():  # heads that begin as zeros
        if not parameter.any():
            nn.init.normal_(parameter)
    twin = copied(net)
    assert type(twin) is type(net)
    assert repr(twin) == repr(net)
    x = ocl.tensor(PICTURE)
    with ocl.no_grad():
        np.testing.assert_array_equal(twin(x).numpy(), net(x).numpy())
        for parameter in twin.parameters():
            parameter.zero_()
        assert net(x).abs().max().item() > 0
    assert list(twin.state_dict()) == list(net.state_dict())


def test_hooks_and_dtypes():
    net = small_resnet().eval()
    seen = []
    handle = net.layer1[0].conv1.register_forward_hook(lambda module, args, output: seen.append(output.shape))
    net(ocl.tensor(PICTURE))
    handle.remove()
    assert seen == [(2, 64, 8, 8)]
    half = net.to(ocl.float16)
    assert {parameter.dtype for parameter in half.parameters()} == {ocl.float16}
    assert half(ocl.tensor(PICTURE).half()).dtype == ocl.float16


def test_classes_are_those_of_torchvision_and_can_be_derived_from():
    assert isinstance(small_resnet(), models.ResNet)
    assert isinstance(small_resnet().layer2[0], models.resnet.BasicBlock)
    from ocl.models.resnet import BasicBlock, Bottleneck

    assert (BasicBlock.expansion, Bottleneck.expansion) == (1, 4)

    class Net(models.ResNet):
        def __init__(self):
            super().__init__(BasicBlock, [1, 1, 1, 1], num_classes=10)
            self.scale = nn.Parameter(ocl.full((1,), 2.0))

        def forward(self, x):
            return super().forward(x) * self.scale

    net, plain = Net().eval(), small_resnet().eval()
    plain.load_state_dict({key: value for key, value in net.state_dict().items() if key != "scale"})
    x = ocl.tensor(PICTURE)
    np.testing.assert_allclose(net(x).detach().numpy(), 2 * plain(x).detach().numpy(), rtol=1e-6)
    assert net.layer1[0].downsample is None
    assert isinstance(net.layer2[0].downsample, nn.Sequential)


def test_norms_of_the_callers_choice():
    net = models.resnet18(norm_layer=lambda channels: nn.GroupNorm(8, channels), num_classes=10)
    theirs = torchvision_models().resnet18(norm_layer=lambda c: torch.nn.GroupNorm(8, c), num_classes=10)
    assert repr_without_norm_bias(net) == repr_without_norm_bias(theirs)
    assert "InstanceNorm2d" in repr(small_resnet(norm_layer="InstanceNorm2d"))
    with pytest.raises(TypeError, match="gave no module"):
        small_resnet(norm_layer=lambda channels: channels)


def test_auxiliary_outputs():
    net = models.googlenet(num_classes=5, init_weights=False)
    outputs = net(ocl.tensor(np.zeros((2, 3, 64, 64), np.float32)))
    assert type(outputs).__name__ == "GoogLeNetOutputs"
    assert [field.shape for field in (outputs.logits, outputs.aux_logits2, outputs.aux_logits1)] == [
        (2, 5)
    ] * 3
    assert net.eval()(ocl.tensor(PICTURE)).shape == (2, 5)
    plain = models.googlenet(num_classes=5, init_weights=False, aux_logits=False)
    assert plain.aux1 is None
    assert plain(ocl.tensor(PICTURE)).shape == (2, 5)


def test_weights_are_files(tmp_path):
    theirs = torchvision_models().resnet18(num_classes=10)
    torch.save(theirs.state_dict(), tmp_path / "resnet.pth")
    ours = models.resnet18(weights=tmp_path / "resnet.pth", num_classes=10)
    ocl.save(ours.state_dict(), tmp_path / "resnet.safetensors")
    again = models.get_model("ResNet18", weights=str(tmp_path / "resnet.safetensors"), num_classes=10)
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[key].numpy(), value.numpy())
    for weights in ("DEFAULT", "IMAGENET1K_V1", True, 3):
        with pytest.raises(ValueError, match="weights must be None or the path of a file"):
            models.resnet18(weights=weights)
    torch.save([torch.ones(1)], tmp_path / "list.pth")
    with pytest.raises(ValueError, match="holds no state dict"):
        models.resnet18(weights=tmp_path / "list.pth")
    with pytest.raises(ValueError, match="fc.weight"):
        models.resnet18(weights=tmp_path / "resnet.pth")


def test_older_names_in_files(tmp_path):
    state = models.DenseNet(8, (1,), 16, num_classes=2).state_dict()
    older = {
        re.sub(r"(denselayer\d+\.(?:norm|conv))([12])", r"\1.\2", key): value for key, value in state.items()
    }
    assert list(older) != list(state)
    ocl.save(older, tmp_path / "older.safetensors")
    net = models.densenet121(
        weights=tmp_path / "older.safetensors",
        growth_rate=8,
        block_config=(1,),
        num_init_features=16,
        num_classes=2,
    )
    for key, value in state.items():
        np.testing.assert_array_equal(net.state_dict()[key].numpy(), value.numpy())


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"Unknown model resnet19, did you mean resnet\d+"):
        models.get_model("resnet19")
    with pytest.raises(ValueError, match="list_models"):
        models.get_model("perceptron")
    with pytest.raises(TypeError, match="unexpected keyword argument 'classes'"):
        models.resnet18(classes=10)
    with pytest.raises(TypeError, match=r"resnet18\(\): argument 'num_classes' must be int, not str"):
        models.resnet18(num_classes="ten")
    with pytest.raises(ValueError, match="3-element tuple"):
        models.resnet50(replace_stride_with_dilation=[True])
    with pytest.raises(TypeError, match="must be BasicBlock or Bottleneck"):
        models.ResNet(nn.Linear, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="Unsupported SqueezeNet version"):
        models.SqueezeNet("2_0")
    with pytest.raises(ValueError, match="not divisible by partition size"):
        models.maxvit_t(input_size=(100, 100))


def test_parts_in_ops():
    parts = ocl.ops.Conv2dNormActivation(3, 8, norm_layer=nn.BatchNorm2d, activation_layer=None)
    theirs = load_torchvision().ops.Conv2dNormActivation(3, 8, activation_layer=None)
    assert repr_without_norm_bias(parts) == repr_without_norm_bias(theirs)
    assert ocl.ops.MLP(4, [8, 2])(ocl.ones(3, 4)).shape == (3, 2)
    assert ocl.ops.Permute([1, 0])(ocl.ones(3, 4)).shape == (4, 3)
