"""Pictures to train and to test on, and what is done to them on the way to the net."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from ocl import transforms as T
from ocl.datasets import MNIST, ImageFolder
from ocl.datasets.folder import default_loader
from ocl.utils.data import Dataset, Subset

from .nets import require_side, suitable_side

__all__ = ["MadePictures", "Pictures", "Preparation", "draw_shape", "load_pictures", "one_picture"]

# Names for --augment, and the transforms that they stand for.
AUGMENTATIONS = {
    "none": lambda: [],
    "randaugment": lambda: [T.RandAugment()],
    "trivial": lambda: [T.TrivialAugmentWide()],
    "autoaugment": lambda: [T.AutoAugment()],
}


@dataclass(frozen=True)
class Preparation:
    """How a picture becomes the net's input: [channels, side, side], normalised."""

    side: int
    channels: int
    is_gray: bool
    mean: tuple
    std: tuple

    @classmethod
    def of(cls, side, channels, digits):
        """By the statistics of MNIST's digits or of ImageNet's photographs."""
        if digits:
            mean, std = (0.1307,), (0.3081,)
        elif channels == 3:
            mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
        else:
            mean, std = (0.449,), (0.226,)
        wide = channels // len(mean)
        return cls(side, channels, digits or channels == 1, mean * wide, std * wide)

    def to_test(self):
        """The middle of the picture."""
        resize = T.Resize(8 * self.side // 7)  # 256 where the net sees 224, as torchvision's
        return T.Compose([resize, T.CenterCrop(self.side), *self._to_array()])

    def to_train(self, augment, flip, least_scale, erase):
        """A random part of the picture, changed at random."""
        steps = [T.RandomResizedCrop(self.side, scale=(least_scale, 1))]
        steps += [T.RandomHorizontalFlip()] if flip else []
        steps += AUGMENTATIONS[augment]()
        steps += self._to_array()
        steps += [T.RandomErasing(erase)] if erase else []
        return T.Compose(steps)

    def _to_array(self):
        gray = [T.Grayscale(self.channels)] if self.is_gray else []
        return [*gray, T.ToTensor(), T.Normalize(self.mean, self.std)]


@dataclass
class Pictures:
    """Two datasets of (picture, class number), the names of the classes, and the pictures' preparation."""

    train: Dataset
    test: Dataset
    classes: list
    preparation: Preparation


def load_pictures(options):
    """The pictures that the options of examples/train.py ask for: a folder's, MNIST's, or made ones."""
    digits = options.mnist is not None
    if options.side:
        require_side(options.net, options.side)
    side = options.side or suitable_side(options.net, 224 if options.data else 28 if digits else 32)
    channels = options.channels or (1 if digits else 3)
    preparation = Preparation.of(side, channels, digits)
    to_test = preparation.to_test()
    to_train = preparation.to_train(
        options.augment,
        flip=not digits,
        least_scale=0.7 if digits else options.least_scale,
        erase=options.erase,
    )
    if options.data:
        train, test = _folders(Path(options.data), to_train, to_test, options.test_share)
    elif digits:
        train, test = (
            MNIST(options.mnist, part, t, download=False) for part, t in ((1, to_train), (0, to_test))
        )
    else:
        train = MadePictures(options.fake_size, side, to_train)
        test = MadePictures(max(options.fake_size // 4, 1), side, to_test, first=options.fake_size)
    classes = (train.dataset if isinstance(train, Subset) else train).classes
    return Pictures(train, test, list(classes), preparation)


def _folders(root, to_train, to_test, test_share):
    """`train` and `val` (or `test`) below `root`; or else some of the classes' pictures kept back to test."""
    for name in ("val", "test"):
        if (root / "train").is_dir() and (root / name).is_dir():
            train, test = ImageFolder(str(root / "train"), to_train), ImageFolder(str(root / name), to_test)
            if train.classes != test.classes:
                raise ValueError(f"{root}: train and {name} have different classes")
            return train, test
    train, test = ImageFolder(str(root), to_train), ImageFolder(str(root), to_test)
    order = np.random.default_rng(0).permutation(len(train)).tolist()
    kept = max(1, round(len(order) * test_share))
    if kept >= len(order):
        raise ValueError(f"{root}: kept back to test, {kept} of {len(order)} pictures leave none to train on")
    return Subset(train, order[kept:]), Subset(test, order[:kept])


def one_picture(path, preparation):
    """The file as the net's input: float32 [1, channels, side, side]."""
    return preparation.to_test()(default_loader(path))[None]


class MadePictures(Dataset):
    """Shapes drawn in random places, sizes and colours on a noisy ground; the same ones at every call."""

    classes = ["circle", "cross", "diamond", "ring", "square", "triangle"]

    def __init__(self, size, side, transform=None, first=0):
        self.size, self.side, self.transform, self.first = size, side, transform, first

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(index)
        rng = np.random.default_rng((self.first + index, 0))
        target = int(rng.integers(len(self.classes)))
        image = self._drawn(self.classes[target], rng)
        return (self.transform(image) if self.transform else image), target

    def _drawn(self, shape, rng):
        ground = rng.integers(0, 256, 3)
        colour = (ground + rng.integers(80, 176, 3)) % 256
        noise = rng.normal(0, 20, (self.side, self.side, 3))
        image = Image.fromarray(np.clip(ground + noise, 0, 255).astype(np.uint8))
        radius = self.side * rng.uniform(0.2, 0.35)
        x, y = rng.uniform(radius, self.side - radius, 2)
        draw_shape(ImageDraw.Draw(image), shape, (x, y), radius, tuple(colour.tolist()))
        return image


def draw_shape(canvas, shape, centre, radius, colour):
    """Draws one of MadePictures' classes with an ImageDraw."""
    _DRAW[shape](canvas, *centre, radius, colour)


def _polygon(*corners):
    def draw(canvas, x, y, r, colour):
        canvas.polygon([(x + dx * r, y + dy * r) for dx, dy in corners], fill=colour)

    return draw


def _cross(canvas, x, y, r, colour):
    third = r / 3
    canvas.rectangle((x - r, y - third, x + r, y + third), fill=colour)
    canvas.rectangle((x - third, y - r, x + third, y + r), fill=colour)


def _ring(canvas, x, y, r, colour):
    canvas.ellipse((x - r, y - r, x + r, y + r), outline=colour, width=max(1, round(r / 4)))


_DRAW = {
    "circle": lambda canvas, x, y, r, colour: canvas.ellipse((x - r, y - r, x + r, y + r), fill=colour),
    "cross": _cross,
    "diamond": _polygon((0, -1), (0.7, 0), (0, 1), (-0.7, 0)),
    "ring": _ring,
    "square": _polygon((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    "triangle": _polygon((0, -1), (0.9, 0.8), (-0.9, 0.8)),
}
