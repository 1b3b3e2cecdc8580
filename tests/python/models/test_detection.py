"""``ocl.models.detection`` against torchvision: modules, state dicts, losses, gradients, detections.

torchvision's own nms is compiled, and its build has none for CPUs: box_references.py stands in for it.
"""

import copy
import pickle

import box_references
import numpy as np
import pytest
import torch
from comparisons import needs_torchvision
from net_comparison import assert_begins_alike, shapes, twin_of
from ocl.models.detection import ssdlite320_mobilenet_v3_large
from settling import settled
from support import repr_without_norm_bias, skip_without
from validation.torchvision_files import load_torchvision

import ocl
from ocl import models, nn
from ocl.models import detection

pytestmark = [
    needs_torchvision("detection with torchvision's"),
    pytest.mark.filterwarnings("ignore"),
]

CLASSES = 6
SIZES = (200, 260), (320, 320), (120, 90)  # height and width


def theirs_of(**options):
    make = load_torchvision().models.detection.ssdlite320_mobilenet_v3_large
    return make(weights_backbone=None, **options)


@pytest.fixture(autouse=True)
def nms(monkeypatch):
    monkeypatch.setattr(load_torchvision().ops.boxes, "batched_nms", box_references.batched_nms)


def pictures(seed=1):
    """Noise of every wavelength, so that no two places look alike."""
    rng, result = np.random.default_rng(seed), []
    for height, width in SIZES:
        picture = np.zeros((3, height, width))
        for step in (1, 4, 16, 64):
            noise = rng.random((3, -(-height // step), -(-width // step)))
            picture += noise.repeat(step, 1).repeat(step, 2)[:, :height, :width] / 4
        result.append(picture.astype(np.float32))
    return result


def targets(counts=(4, 1, 7), seed=2):
    """(boxes, labels) of each picture. The first box is so narrow that no default box is half of it; the last
    two are the same of two classes."""
    rng = np.random.default_rng(seed)
    result = []
    for (height, width), count in zip(SIZES, counts, strict=True):
        corner = rng.random((count, 2)) * [width / 2, height / 2]
        sides = (0.1 + 0.4 * rng.random((count, 2))) * [width, height]
        boxes = np.concatenate([corner, corner + sides], 1).astype(np.float32)
        if count:
            boxes[0] = 0, 0.4 * height, width, 0.42 * height
        if count > 2:
            boxes[-2] = boxes[-1]
        result.append((boxes, rng.integers(1, CLASSES, count)))
    return result


def given_to(library, dtype="float32", counts=(4, 1, 7)):
    def tensor(array):
        array = array.astype(dtype) if array.dtype.kind == "f" else array
        return ocl.tensor(array) if library is ocl else torch.from_numpy(array.copy())

    return [tensor(p) for p in pictures()], [
        {"boxes": tensor(boxes), "labels": tensor(labels)} for boxes, labels in targets(counts)
    ]


@pytest.mark.parametrize("options", [{}, {"num_classes": CLASSES, "image_mean": [0.485, 0.456, 0.406]}])
def test_state_dict_and_repr_are_those_of_torchvision(options):
    ours, theirs = ssdlite320_mobilenet_v3_large(**options), theirs_of(**options)
    assert shapes(ours) == shapes(theirs)
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    assert repr_without_norm_bias(ours) == repr_without_norm_bias(theirs)


def test_begins_as_torchvision():
    assert_begins_alike(ssdlite320_mobilenet_v3_large(), theirs_of())


@pytest.fixture(scope="module")
def pair():
    """Equal weights, as after a training: norms know their inputs, and scores lie far apart."""
    torch.manual_seed(0)
    theirs = theirs_of(num_classes=CLASSES)
    for module in theirs.head.classification_head.module_list:
        torch.nn.init.normal_(module[1].weight, std=0.1)
    norms = [module for module in theirs.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        theirs.train()(*given_to(torch))
    for norm in norms:
        norm.momentum = 0.03
    return twin_of(ssdlite320_mobilenet_v3_large(num_classes=CLASSES), settled(theirs, norms=False)), theirs


def gradient_of(net):
    return np.concatenate([p.grad.numpy().astype(np.float64).ravel() for p in net.parameters()])


def distances_from_last(values):
    """The difference of all the others, relative to the size of the last, which may be 0."""
    *others, exact = values
    return [np.linalg.norm(value - exact) / (np.linalg.norm(exact) + 1e-30) for value in others]


def test_training_gives_the_losses_and_gradients_of_pytorch(pair):
    """Roundings decide ReLUs and which boxes count as negative, so that one case says little of float32: the
    largest distance from float64 over all is at most 4 times PyTorch's own, for losses and for gradients."""
    of_losses, of_gradients = [], []
    for counts in ((4, 1, 7), (2, 2, 2), (0, 3, 0)):
        nets = [copy.deepcopy(net).train() for net in pair]
        nets.append(copy.deepcopy(nets[1]).double())
        libraries = (ocl, "float32"), (torch, "float32"), (torch, "float64")
        losses = [
            net(*given_to(library, dtype, counts))
            for net, (library, dtype) in zip(nets, libraries, strict=True)
        ]
        assert [list(loss) for loss in losses] == [["bbox_regression", "classification"]] * 3
        for name in losses[0]:
            of_losses.append(distances_from_last([np.float64(loss[name].item()) for loss in losses]))
        for loss in losses:
            sum(loss.values()).backward()
        of_gradients.append(distances_from_last(list(map(gradient_of, nets))))
    for distances in of_losses, of_gradients:
        ours, own = np.max(distances, 0)
        assert ours <= 4 * own


def test_targets_may_hold_more(pair):
    ours = copy.deepcopy(pair[0]).train()
    images, given = given_to(ocl)
    expected = {name: loss.item() for name, loss in ours(images, given).items()}
    more = [{"image_id": i, **target, "file": "a.png"} for i, target in enumerate(given)]
    assert {name: loss.item() for name, loss in ours(tuple(images), targets=tuple(more)).items()} == expected


def test_pictures_without_objects(pair):
    ours, theirs = (copy.deepcopy(net).train() for net in pair)
    losses = ours(*given_to(ocl, counts=(0, 0, 0)))
    expected = theirs(*given_to(torch, counts=(0, 0, 0)))
    assert {name: loss.item() for name, loss in losses.items()} == {
        name: loss.item() for name, loss in expected.items()
    }
    sum(losses.values()).backward()
    assert not gradient_of(ours).any()


def test_losses_and_gradients_of_float64_are_those_of_pytorch(pair):
    skip_without("float64")
    ours, theirs = (copy.deepcopy(net).double().train() for net in pair)
    actual, expected = ours(*given_to(ocl, "float64")), theirs(*given_to(torch, "float64"))
    for name, loss in expected.items():
        np.testing.assert_allclose(actual[name].item(), loss.item(), rtol=1e-9)
    for losses in (actual, expected):
        sum(losses.values()).backward()
    for (key, parameter), truth in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        distance = np.linalg.norm(parameter.grad.numpy() - truth.grad.numpy())
        # PyTorch's gradient of hardsigmoid has a sixth of float32 in float64 too.
        assert distance <= 1e-6 * truth.grad.norm().item() + 1e-12, key


def assert_same_detections(actual, expected):
    """Expects equal boxes, in the order of their scores; those of almost one score may be exchanged."""
    np.testing.assert_allclose(actual["scores"], expected["scores"], rtol=1e-4)
    assert (np.diff(actual["scores"]) <= 0).all()
    is_alike = (
        (actual["labels"][:, None] == expected["labels"])
        & np.isclose(actual["scores"][:, None], expected["scores"], rtol=1e-4)
        & np.isclose(actual["boxes"][:, None], expected["boxes"], rtol=1e-3, atol=0.02).all(2)
    )
    assert (is_alike.sum(0) == 1).all()
    assert (is_alike.sum(1) == 1).all()


SETTINGS = [
    {},
    {"score_thresh": 0.2, "detections_per_img": 20},
    {"nms_thresh": 0.2, "topk_candidates": 10},
    {"score_thresh": 1.0},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_evaluation_gives_the_detections_of_torchvision(pair, settings):
    ours, theirs = (copy.deepcopy(net).eval() for net in pair)
    for net in (ours, theirs):
        for name, value in {"score_thresh": 0.02, **settings}.items():
            setattr(net, name, value)
    with torch.no_grad(), ocl.no_grad():
        actual = ours(given_to(ocl)[0])
        expected = theirs(given_to(torch)[0])
    assert type(actual) is list
    assert [list(one) for one in actual] == [list(one) for one in expected]
    for one, other in zip(actual, expected, strict=True):
        assert {name: (str(t.dtype).split(".")[1], tuple(t.shape)) for name, t in one.items()} == {
            name: (str(t.dtype).split(".")[1], tuple(t.shape)) for name, t in other.items()
        }
        assert_same_detections(*({name: t.numpy() for name, t in found.items()} for found in (one, other)))
    found = sum(len(one["labels"]) for one in actual)
    assert found == 0 if settings.get("score_thresh") == 1.0 else found > 10


@pytest.mark.parametrize(
    "options", [{}, {"clip": False}, {"scales": [0.1, 0.3, 0.9, 1.2]}, {"steps": [16, 32, 100]}]
)
def test_default_boxes_are_those_of_torchvision(options):
    """In a net: a generator that is exchanged has other boxes, which only the losses show."""
    library = load_torchvision().models.detection
    ratios = [[2], [2, 3], []]
    theirs = library.anchor_utils.DefaultBoxGenerator(ratios, **options)
    ours = detection.DefaultBoxGenerator(ratios, **options)
    assert repr(ours) == repr(theirs)
    maps = [torch.zeros(1, 1, *size) for size in ((7, 9), (4, 4), (1, 2))]
    images = library.image_list.ImageList(torch.zeros(1, 3, 90, 120), [(90, 120)])
    (expected,) = theirs(images, maps)
    actual = ours.boxes([(7, 9), (4, 4), (1, 2)], (90, 120))
    np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies(pair, copied):
    net = copy.deepcopy(pair[0]).eval()
    net.score_thresh = 0.1
    twin, images = copied(net), given_to(ocl)[0]
    assert type(twin) is detection.SSD
    assert repr(twin) == repr(net)
    with ocl.no_grad():
        for one, other in zip(twin(images), net(images), strict=True):
            for name in ("boxes", "labels", "scores"):
                np.testing.assert_array_equal(one[name].numpy(), other[name].numpy())


def test_weights_are_files(tmp_path, pair):
    torch.save(pair[1].state_dict(), tmp_path / "net.pth")
    net = ssdlite320_mobilenet_v3_large(
        weights=tmp_path / "net.pth", num_classes=CLASSES, trainable_backbone_layers=2
    )
    for key, value in pair[1].state_dict().items():
        np.testing.assert_array_equal(net.state_dict()[key].numpy(), value.numpy())
    theirs = load_torchvision().models.detection.ssdlite
    backbone = load_torchvision().models.mobilenet_v3_large(reduced_tail=True)
    expected = theirs._mobilenet_extractor(backbone, 2, torch.nn.BatchNorm2d)
    assert [p.requires_grad for p in net.backbone.parameters()] == [
        p.requires_grad for p in expected.parameters()
    ]
    assert not all(p.requires_grad for p in net.backbone.parameters())
    new = ssdlite320_mobilenet_v3_large(trainable_backbone_layers=2)
    assert all(p.requires_grad for p in new.parameters())  # nothing is learned yet that could be kept


def test_weights_of_the_backbone_are_files(tmp_path):
    large = models.mobilenet_v3_large()
    ocl.save(large.state_dict(), tmp_path / "large.safetensors")
    net = ssdlite320_mobilenet_v3_large(
        weights_backbone=tmp_path / "large.safetensors", trainable_backbone_layers=0
    )
    mine = [value.numpy().tobytes() for value in net.backbone.features.state_dict().values()]
    assert mine == [value.numpy().tobytes() for value in large.features.state_dict().values()]
    assert not any(p.requires_grad for p in net.backbone.features.parameters())
    assert all(p.requires_grad for p in net.backbone.extra.parameters())
    assert net.backbone.out_channels[1] == 960
    with pytest.raises(ValueError, match=r"layers should be in the range \[0,6\], got 7"):
        ssdlite320_mobilenet_v3_large(
            weights_backbone=tmp_path / "large.safetensors", trainable_backbone_layers=7
        )


def test_another_head_for_other_classes(pair):
    net = copy.deepcopy(pair[0])
    anchors = net.anchor_generator.num_anchors_per_location()
    channels = net.backbone.out_channels
    net.head.classification_head = detection.SSDLiteClassificationHead(channels, anchors, 3, nn.BatchNorm2d)
    images, given = given_to(ocl)
    for target in given:
        target["labels"] = ocl.ones_like(target["labels"])
    losses = net.train()(images, given)
    sum(losses.values()).backward()
    assert net.head.classification_head.module_list[0][1].weight.grad is not None
    labels = [set(one["labels"].tolist()) for one in net.eval()(images)]
    assert set().union(*labels) <= {1, 2}


def test_it_learns_a_picture():
    ocl.manual_seed(0)
    net = ssdlite320_mobilenet_v3_large(num_classes=CLASSES).train()
    images, given = given_to(ocl)
    optimizer = ocl.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    totals = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = sum(net(images, given).values())
        loss.backward()
        optimizer.step()
        totals.append(loss.item())
    assert totals[-1] < 0.9 * totals[0]


def changed(**entries):
    images, given = given_to(ocl)
    given[1] = {**given[1], **entries}
    return images, given


def test_what_is_refused(pair):
    net = copy.deepcopy(pair[0]).train()
    images, given = given_to(ocl)
    flat = ocl.tensor(np.array([[1, 2, 3, 4], [5, 6, 5, 9]], np.float32))
    refused = [
        ((images,), ValueError, "targets should not be none when in training mode"),
        ((images, given[:2]), ValueError, "expected a target for each of 3 images, got 2"),
        ((images, [1, 2, 3]), TypeError, "a target of SSD must be a dict of tensors, got int"),
        (changed(boxes=ocl.ones(3)), ValueError, r"target boxes to be a tensor of shape \[N, 4\], got \[3\]"),
        (changed(boxes=ocl.ones(1, 4).long()), TypeError, "boxes of a floating dtype, got int64"),
        (changed(boxes="here"), TypeError, "'boxes' of a target of SSD must be a Tensor, got str"),
        (changed(labels=ocl.ones(2).long()), ValueError, r"expected labels \[1\], one for each target box"),
        (changed(labels=ocl.ones(1)), TypeError, "labels of dtype int64, got float32"),
        (
            changed(boxes=flat, labels=ocl.ones(2).long()),
            ValueError,
            "Found invalid box .* for target at index 1",
        ),
        ((images, [{"boxes": ocl.ones(1, 4)}] * 3), ValueError, "a target of SSD has no 'labels'"),
        ((ocl.ones(3, 8, 8), given), ValueError, r"3d tensors of shape \[C, H, W\]"),
        (
            ([ocl.ones(1, 8, 8)] * 3, given),
            ValueError,
            r"3d tensors of shape \[C, H, W\] with C = 3, got \[1, 8, 8\]",
        ),
        (([ocl.ones(3, 8, 8).long()] * 3, given), TypeError, "images to be of floating type"),
        (("picture", given), TypeError, "expected a list of images, got str"),
        (([], []), ValueError, "expected one image at least"),
    ]
    for arguments, error, message in refused:
        with pytest.raises(error, match=message):
            net(*arguments)
    with pytest.raises(IndexError):
        net(*changed(labels=ocl.tensor(np.array([CLASSES]))))["classification"].item()
    with pytest.raises(ValueError, match="positive_fraction above 0"):
        ssdlite320_mobilenet_v3_large(positive_fraction=0.0)
    with pytest.raises(ValueError, match="SSDLiteRegressionHead: in_channels has 2 numbers, num_anchors 1"):
        detection.SSDLiteRegressionHead([8, 8], [6])
    with pytest.raises(ValueError, match="aspect_ratios and steps should have the same length"):
        detection.DefaultBoxGenerator([[2], [2]], steps=[8])


def test_names_of_nets():
    assert models.list_models(models.detection) == ["ssdlite320_mobilenet_v3_large"]
    assert set(models.list_models()) <= set(load_torchvision().models.list_models())
    net = models.get_model("ssdlite320_mobilenet_v3_large", num_classes=3, score_thresh=0.25)
    assert (net.score_thresh, net.head.classification_head.num_classes) == (0.25, 3)
