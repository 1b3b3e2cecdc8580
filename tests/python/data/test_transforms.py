"""ocl.transforms by themselves: seeds, arrays of one channel, messages."""

import pickle

import numpy as np
import pytest
from PIL import Image
from processes import run

import ocl
from ocl import transforms
from ocl.transforms import functional as F

IMAGE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8))
PIPELINE = transforms.Compose(
    [
        transforms.RandomResizedCrop(16),
        transforms.RandomChoice([transforms.RandomRotation(20), transforms.ColorJitter(0.5)], p=[1, 3]),
        transforms.RandomOrder([transforms.RandomHorizontalFlip(), transforms.RandAugment()]),
        transforms.RandomApply([transforms.RandomInvert(1.0)], p=0.3),
        transforms.ToTensor(),
        transforms.RandomErasing(value="random"),
    ]
)


def drawn(seed, count=6):
    ocl.manual_seed(seed)
    return np.stack([PIPELINE(IMAGE) for _ in range(count)])


def test_draws_follow_manual_seed():
    first = drawn(1)
    np.testing.assert_array_equal(first, drawn(1))
    assert (first != drawn(2)).any()
    assert len({image.tobytes() for image in first}) == len(first)


def test_transforms_are_sent_to_workers():
    copied = pickle.loads(pickle.dumps(PIPELINE))
    assert repr(copied) == repr(PIPELINE)
    assert repr(PIPELINE).startswith("Compose(\n    RandomResizedCrop(size=(16, 16)")


def test_chances():
    ocl.manual_seed(3)
    flip = transforms.RandomHorizontalFlip(0.25)
    flipped = F.hflip(IMAGE).tobytes()
    share = np.mean([flip(IMAGE).tobytes() == flipped for _ in range(2000)])
    assert abs(share - 0.25) < 0.04
    choice = transforms.RandomChoice([lambda x: 0, lambda x: 1, lambda x: 2], p=[0, 1, 3])
    counts = np.bincount([choice(None) for _ in range(2000)], minlength=3) / 2000
    np.testing.assert_allclose(counts, [0, 0.25, 0.75], atol=0.04)


def test_ranges_of_what_is_drawn():
    ocl.manual_seed(4)
    boxes = np.array([transforms.RandomCrop.get_params(IMAGE, (20, 30)) for _ in range(200)])
    assert boxes.min(0).tolist() == [0, 0, 20, 30] and boxes.max(0).tolist() == [4, 2, 20, 30]
    angles = [transforms.RandomRotation.get_params([-10.0, 5.0]) for _ in range(200)]
    assert -10 <= min(angles) < -8 and 3 < max(angles) <= 5
    shares = [
        np.prod(transforms.RandomResizedCrop.get_params(IMAGE, (0.25, 0.5), (1, 1))[2:]) / (24 * 32)
        for _ in range(200)
    ]
    assert 0.2 < min(shares) and max(shares) < 0.56


def test_a_gray_array_is_an_image():
    digit = np.random.default_rng(1).integers(0, 256, (28, 28), np.uint8)
    as_image = Image.fromarray(digit)
    for name in ("RandomRotation", "Resize", "ColorJitter", "RandomPosterize"):
        transform = getattr(transforms, name)(3)
        results = []
        for given in (digit, as_image):
            ocl.manual_seed(1)
            results.append(np.asarray(transform(given)))
        np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(F.to_tensor(digit), F.to_tensor(as_image))
    np.testing.assert_array_equal(F.hflip(digit), np.asarray(F.hflip(as_image)))


@pytest.mark.parametrize("name", ["resize", "rotate", "adjust_brightness"])
def test_arrays_are_refused_with_advice(name):
    with pytest.raises(TypeError, match="before ToTensor"):
        getattr(F, name)(F.to_tensor(IMAGE), 8)


def test_what_is_no_image_is_refused():
    with pytest.raises(TypeError, match="PIL Image or ndarray"):
        F.to_tensor([1, 2])
    with pytest.raises(TypeError, match="PIL Image or ndarray"):
        F.hflip("image")
    with pytest.raises(ValueError, match="Got 4 dimensions"):
        F.to_tensor(np.zeros((1, 2, 3, 4)))
    with pytest.raises(TypeError, match="ToTensor"):
        F.normalize(IMAGE, 0, 1)
    with pytest.raises(TypeError, match="float tensor"):
        F.normalize(np.zeros((1, 2, 2), np.uint8), [0], [1])
    with pytest.raises(ValueError, match="zero"):
        F.normalize(np.zeros((1, 2, 2), np.float32), [0], [0])
    with pytest.raises(ValueError, match="larger than input"):
        transforms.RandomCrop(100)(IMAGE)


def test_images_of_tensors():
    tensor = ocl.tensor(F.to_tensor(IMAGE))
    np.testing.assert_array_equal(np.asarray(transforms.ToPILImage()(tensor)), np.asarray(IMAGE))


WITHOUT_PILLOW = """
import sys
sys.modules["PIL"] = None
import ocl.datasets
from ocl.utils.data import DataLoader
try:
    ocl.transforms
except ImportError as error:
    print(error)
"""


def test_without_pillow_the_message_names_it():
    output, _ = run(WITHOUT_PILLOW)
    assert "pip install pillow" in output
