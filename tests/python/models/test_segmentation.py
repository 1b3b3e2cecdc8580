"""``ocl.models.segmentation`` against torchvision: modules, state dicts, first weights, numbers."""

import copy
import pickle

import numpy as np
import pytest
import torch
from comparisons import needs_torchvision
from net_comparison import assert_begins_alike, compare_gradients, compare_values, shapes, text_of, twin_of
from ocl.models.segmentation import deeplabv3_mobilenet_v3_large
from settling import settled
from validation.torchvision_files import load_torchvision

import ocl
from ocl import models, nn

pytestmark = [
    needs_torchvision("segmentation with torchvision's"),
    pytest.mark.filterwarnings("ignore"),
]

SIDE = 48


def theirs_of(**options):
    make = load_torchvision().models.segmentation.deeplabv3_mobilenet_v3_large
    return make(weights_backbone=None, **options)


def pictures(count=4, seed=1):
    return np.random.default_rng(seed).standard_normal((count, 3, SIDE, SIDE)).astype(np.float32)


@pytest.mark.parametrize("options", [{}, {"aux_loss": True, "num_classes": 5}, {"aux_loss": False}])
def test_state_dict_and_repr_are_those_of_torchvision(options):
    with torch.device("meta"):
        theirs = theirs_of(**options)
    ours = deeplabv3_mobilenet_v3_large(**options)
    assert shapes(ours) == shapes(theirs)
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    assert text_of(ours) == text_of(theirs)
    assert (ours.aux_classifier is None) == (theirs.aux_classifier is None)
    assert ours.backbone.return_layers == theirs.backbone.return_layers


@pytest.fixture(scope="module")
def pair():
    torch.manual_seed(0)
    theirs = settled(theirs_of(num_classes=5, aux_loss=True))
    for module in theirs.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    ours = deeplabv3_mobilenet_v3_large(num_classes=5, aux_loss=True)
    for module in ours.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return twin_of(ours, theirs), theirs


def test_evaluation_gives_the_numbers_of_pytorch(pair):
    ours, theirs = (copy.deepcopy(net).eval() for net in pair)
    truth, x = copy.deepcopy(theirs).double(), pictures()
    with torch.no_grad(), ocl.no_grad():
        results = ours(ocl.tensor(x)), theirs(torch.from_numpy(x)), truth(torch.from_numpy(x).double())
    assert [list(result) for result in results] == [["out", "aux"]] * 3
    for name in ("out", "aux"):
        assert results[0][name].shape == (4, 5, SIDE, SIDE)
        compare_values(*(result[name].numpy() for result in results))


def test_training_gives_the_gradients_of_pytorch(pair):
    ours, theirs = (copy.deepcopy(net).train() for net in pair)
    truth, x = copy.deepcopy(theirs).double(), pictures()
    nets = ours, theirs, truth
    given = ocl.tensor(x), torch.from_numpy(x), torch.from_numpy(x).double()
    for net, picture in zip(nets, given, strict=True):
        outputs = net(picture)
        ((outputs["out"] ** 2).mean() + 0.5 * (outputs["aux"] ** 2).mean()).backward()
    compare_gradients(*nets)
    for (key, actual), single, exact in zip(
        ours.named_buffers(), theirs.buffers(), truth.buffers(), strict=True
    ):
        if not key.endswith("num_batches_tracked"):
            compare_values(actual.numpy(), single.numpy(), exact.numpy())


def test_begins_as_torchvision():
    assert_begins_alike(deeplabv3_mobilenet_v3_large(aux_loss=True), theirs_of(aux_loss=True))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies(copied):
    net = deeplabv3_mobilenet_v3_large(num_classes=3, aux_loss=True).eval()
    twin, x = copied(net), ocl.tensor(pictures(1))
    assert type(twin) is models.segmentation.DeepLabV3
    assert repr(twin) == repr(net)
    with ocl.no_grad():
        expected, actual = net(x), twin(x)
        for name in ("out", "aux"):
            np.testing.assert_array_equal(actual[name].numpy(), expected[name].numpy())
        for parameter in twin.parameters():
            parameter.zero_()
        assert net(x)["out"].abs().max().item() > 0


def test_weights_are_files(tmp_path, pair):
    theirs = pair[1]
    torch.save(theirs.state_dict(), tmp_path / "net.pth")
    ours = deeplabv3_mobilenet_v3_large(
        weights=tmp_path / "net.pth", num_classes=5
    )  # has aux_loss, as theirs
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[key].numpy(), value.numpy())
    with pytest.raises(ValueError, match="aux_classifier"):
        deeplabv3_mobilenet_v3_large(weights=tmp_path / "net.pth", num_classes=5, aux_loss=False)
    with pytest.raises(ValueError, match="weights must be None or the path of a file"):
        deeplabv3_mobilenet_v3_large(weights="DEFAULT")


def test_weights_of_the_backbone_are_files(tmp_path):
    large = models.mobilenet_v3_large()
    ocl.save(large.state_dict(), tmp_path / "large.safetensors")
    net = deeplabv3_mobilenet_v3_large(weights_backbone=tmp_path / "large.safetensors")
    state = net.state_dict()
    for key, value in large.features.state_dict().items():
        np.testing.assert_array_equal(state[f"backbone.{key}"].numpy(), value.numpy())
    with pytest.raises(
        ValueError, match="deeplabv3_mobilenet_v3_large.*weights_backbone must be None or the"
    ):
        deeplabv3_mobilenet_v3_large(weights_backbone="IMAGENET1K_V1")


def test_parts_can_be_replaced():
    class Backbone(nn.Module):
        def forward(self, x):
            return {"out": nn.functional.avg_pool2d(x, 8)}

    net = deeplabv3_mobilenet_v3_large(num_classes=3).eval()
    net.backbone, net.classifier = Backbone(), nn.Conv2d(3, 7, 1)
    assert net(ocl.ones(1, 3, 32, 24))["out"].shape == (1, 7, 32, 24)
    net.backbone = nn.Identity()
    with pytest.raises(
        TypeError, match="what the backbone of DeepLabV3 gives must be a dict of tensors, got"
    ):
        net(ocl.ones(1, 3, 32, 24))


def test_one_picture_is_too_few_to_train_on():
    with pytest.raises(ValueError, match="more than 1 value"):
        deeplabv3_mobilenet_v3_large().train()(ocl.ones(1, 3, 32, 32))


def test_names_of_nets():
    theirs = load_torchvision().models
    assert models.list_models(models.segmentation) == ["deeplabv3_mobilenet_v3_large"]
    assert set(models.list_models()) <= set(theirs.list_models())
    assert not hasattr(models, "deeplabv3_mobilenet_v3_large")
    net = models.get_model("deeplabv3_mobilenet_v3_large", num_classes=4)
    assert net.classifier[4].out_channels == 4
    with pytest.raises(TypeError, match="unexpected keyword argument 'classes'"):
        deeplabv3_mobilenet_v3_large(classes=3)
