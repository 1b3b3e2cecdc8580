"""Parts of torchvision beside its nets, imported as a package: python torchvision_parts.py OUT.npz"""

import os
import sys

import numpy as np
import torch
import torchvision_first

# isort: split
import torchvision
from PIL import Image
from torchvision import transforms, tv_tensors
from torchvision.datasets import FakeData, ImageFolder
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names
from torchvision.transforms import v2
from torchvision.transforms.functional import InterpolationMode, rotate

numbers = np.random.default_rng(0)
picture = Image.fromarray(numbers.integers(0, 256, (40, 48, 3), dtype=np.uint8))
whole = torch.from_numpy(numbers.integers(0, 256, (3, 40, 48), dtype=np.uint8))
found = {}


def keep(name, value):
    found[name] = value.numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


NORMALIZE = ((0.5, 0.4, 0.3), (0.2, 0.3, 0.4))
keep("ToTensor", transforms.ToTensor()(picture))
preset = transforms.Compose(
    [
        transforms.Resize(36),
        transforms.CenterCrop(32),
        transforms.ToTensor(),
        transforms.Normalize(*NORMALIZE),
    ]
)
keep("preset of pictures", preset(picture))
keep("preset of weights", torchvision.models.ResNet18_Weights.DEFAULT.transforms()(whole.float() / 255))
keep("Resize", transforms.Resize((20, 24), antialias=True)(whole.float()))
keep("Pad", transforms.Pad(3, padding_mode="reflect")(whole))
keep("Grayscale", transforms.Grayscale()(whole))
keep("rotate", rotate(whole.float(), 30.0, InterpolationMode.BILINEAR))
keep("GaussianBlur", transforms.GaussianBlur(5, (1.0, 1.0))(whole.float()))
keep("adjust_hue", transforms.functional.adjust_hue(whole.float() / 255, 0.1))
keep("FiveCrop", torch.stack(transforms.FiveCrop(16)(whole)))

net = torchvision.models.resnet18(num_classes=4).eval()
with torch.no_grad():
    for parameter in net.parameters():
        parameter.copy_(torch.from_numpy(numbers.normal(0, 0.1, parameter.shape).astype(np.float32)))
extractor = create_feature_extractor(net, {"layer1": "first", "layer2.0.relu_1": "second", "flatten": "last"})
for name, features in extractor(whole[None].float() / 255).items():
    keep(f"features of {name}", features.detach())
keep("names of nodes", get_graph_node_names(net)[0])

composed = v2.Compose([v2.ToImage(), v2.CenterCrop(32), v2.ToDtype(torch.float32, scale=True)])
image = composed(picture)
assert type(image) is tv_tensors.Image
keep("v2", v2.Normalize(*NORMALIZE)(image))
boxes = tv_tensors.BoundingBoxes(
    torch.tensor([[4.0, 5.0, 20.0, 30.0], [0.0, 0.0, 10.0, 9.0]]), format="XYXY", canvas_size=(40, 48)
)
flipped, its_boxes = v2.RandomHorizontalFlip(p=1.0)(tv_tensors.Image(whole), boxes)
assert type(flipped) is tv_tensors.Image and type(its_boxes) is tv_tensors.BoundingBoxes
keep("flipped", flipped)
keep("flipped boxes", its_boxes)
resized, its_boxes = v2.Resize((20, 20), antialias=True)(tv_tensors.Image(whole), boxes)
assert its_boxes.canvas_size == (20, 20)
keep("resized boxes", its_boxes)

drawn = transforms.Compose(
    [
        transforms.RandomResizedCrop(32, antialias=True),
        transforms.RandomHorizontalFlip(),
        transforms.ColorJitter(0.2, 0.2, 0.2, 0.1),
        transforms.RandomAffine(10, (0.1, 0.1)),
        transforms.ToTensor(),
        transforms.RandomErasing(p=1.0),
    ]
)
data = FakeData(8, (3, 40, 40), 10, transform=drawn)
batches = list(torch.utils.data.DataLoader(data, batch_size=4))
assert [tuple(x.shape) for x, _ in batches] == [(4, 3, 32, 32)] * 2 and batches[0][0].dtype == torch.float32
for kind in (v2.RandAugment(), v2.TrivialAugmentWide(), v2.AugMix(), v2.ElasticTransform()):
    made = kind(whole)
    assert made.shape == whole.shape and made.dtype == torch.uint8, kind
mixed, labels = v2.MixUp(num_classes=10)(batches[0][0], batches[0][1])
assert mixed.shape == (4, 3, 32, 32) and labels.shape == (4, 10)

folder = os.path.join(os.path.dirname(sys.argv[1]), "pictures")
os.makedirs(os.path.join(folder, "a"), exist_ok=True)
picture.save(os.path.join(folder, "a", "0.png"))
keep("ImageFolder", ImageFolder(folder, transform=transforms.ToTensor())[0][0])
keep("make_grid", torchvision.utils.make_grid(torch.stack([whole, whole]).float() / 255))

if torchvision_first.IS_OCL:  # torchvision has no build of these here
    some = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 11], [30, 30, 40, 40]])
    assert torchvision.ops.nms(some, torch.tensor([0.5, 0.6, 0.7]), 0.5).tolist() == [2, 1]
    x = torch.randn(1, 2, 16, 16, requires_grad=True)
    rois = torch.tensor([[0.0, 1.0, 2.0, 9.0, 12.0]])
    ours = torchvision.ops.roi_align(x, rois, (3, 3), 1.0, 2, True)
    in_python = torchvision.ops.roi_align.__globals__["_roi_align"](x, rois, 1.0, 3, 3, 2, True)
    np.testing.assert_allclose(ours.detach().numpy(), in_python.detach().numpy(), atol=1e-5)
    ours.square().sum().backward()
    first, x.grad = x.grad, None
    in_python.square().sum().backward()
    np.testing.assert_allclose(first.numpy(), x.grad.numpy(), atol=1e-4)
    with torch.autocast("cuda", dtype=torch.float16):
        assert torchvision.ops.roi_align(x.half(), rois.half(), (3, 3)).dtype == torch.float16
    try:
        torchvision.ops.roi_pool(x, rois, (3, 3))
    except NotImplementedError as error:
        assert "torchvision::roi_pool is compiled for PyTorch" in str(error)
    else:
        raise AssertionError("roi_pool")
np.savez(sys.argv[1], **found)
print("DONE")
