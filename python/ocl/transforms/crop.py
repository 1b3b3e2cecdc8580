"""Sizes, cuts and margins."""

import math
import warnings
from collections.abc import Sequence

from ocl import host_random

from . import functional as F
from .functional.geometry import check_padding, check_padding_mode, margins_of
from .interpolation import InterpolationMode, to_mode
from .transform import Transform, setup_size

__all__ = ["CenterCrop", "FiveCrop", "Pad", "RandomCrop", "RandomResizedCrop", "Resize", "TenCrop"]


class Resize(Transform):
    """A Pillow image in another size. Matches torchvision.transforms.Resize.

    Args:
        size: (height, width), or the length of the shorter edge.
        max_size: the largest length of the longer edge, which overrules `size`.
    """

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.max_size = max_size
        self.interpolation = to_mode(interpolation)
        self.antialias = antialias

    def __call__(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(Transform):
    """The middle of an image or array. Matches torchvision.transforms.CenterCrop."""

    shown = ("size",)

    def __init__(self, size):
        self.size = setup_size(size)

    def __call__(self, img):
        return F.center_crop(img, self.size)


class FiveCrop(Transform):
    """A tuple of the corners and the middle. Matches torchvision.transforms.FiveCrop."""

    shown = ("size",)

    def __init__(self, size):
        self.size = setup_size(size)

    def __call__(self, img):
        return F.five_crop(img, self.size)


class TenCrop(Transform):
    """A tuple of the corners and the middle, of the image and its mirror image.

    Matches torchvision.transforms.TenCrop."""

    shown = ("size", "vertical_flip")

    def __init__(self, size, vertical_flip=False):
        self.size = setup_size(size)
        self.vertical_flip = vertical_flip

    def __call__(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)


class Pad(Transform):
    """Margins for an image or array. Matches torchvision.transforms.Pad.

    Args:
        padding: one width, (left and right, top and bottom) or (left, top, right, bottom).
        padding_mode: "constant", "edge", "reflect" or "symmetric".
    """

    shown = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant"):
        check_padding(padding, fill)
        check_padding_mode(padding_mode)
        margins_of(padding)
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def __call__(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class RandomCrop(Transform):
    """A rectangle somewhere in an image or array. Matches torchvision.transforms.RandomCrop.

    Args:
        size: (height, width), or both.
        padding: margins that come first, as those of Pad.
        pad_if_needed: add margins where the image is smaller than `size`.

    Raises:
        ValueError: (when called) the image is smaller.
    """

    shown = ("size", "padding")

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        self.size = tuple(setup_size(size))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img, output_size):
        """Draws (top, left, height, width)."""
        _, height, width = F.get_dimensions(img)
        crop_height, crop_width = output_size
        if height < crop_height or width < crop_width:
            raise ValueError(
                f"Required crop size {(crop_height, crop_width)} is larger than input image size "
                f"{(height, width)}"
            )
        if (height, width) == (crop_height, crop_width):
            return 0, 0, height, width
        top = host_random.integer(0, height - crop_height + 1)
        left = host_random.integer(0, width - crop_width + 1)
        return top, left, crop_height, crop_width

    def __call__(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = F.get_dimensions(img)
            if width < self.size[1]:
                img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
            if height < self.size[0]:
                img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))


class RandomResizedCrop(Transform):
    """A part of a Pillow image of random size and proportions, resized.

    Matches torchvision.transforms.RandomResizedCrop.

    Args:
        size: (height, width) of the result, or both.
        scale: least and largest share of the area.
        ratio: least and largest width / height.
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation=InterpolationMode.BILINEAR,
        antialias=True,
    ):
        self.size = setup_size(size)
        check_scale_and_ratio(scale, ratio)
        self.interpolation = to_mode(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img, scale, ratio):
        """Draws (top, left, height, width); after 10 that do not fit the largest in the middle."""
        _, height, width = F.get_dimensions(img)
        for _ in range(10):
            crop_width, crop_height = draw_sides(height * width, scale, ratio)
            if 0 < crop_width <= width and 0 < crop_height <= height:
                top = host_random.integer(0, height - crop_height + 1)
                left = host_random.integer(0, width - crop_width + 1)
                return top, left, crop_height, crop_width
        crop_width, crop_height = width, height
        if width / height < min(ratio):
            crop_height = int(round(width / min(ratio)))
        elif width / height > max(ratio):
            crop_width = int(round(height * max(ratio)))
        return (height - crop_height) // 2, (width - crop_width) // 2, crop_height, crop_width

    def __call__(self, img):
        box = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *box, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        scale, ratio = (tuple(round(bound, 4) for bound in bounds) for bounds in (self.scale, self.ratio))
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


def check_scale_and_ratio(scale, ratio):
    if not isinstance(scale, Sequence):
        raise TypeError("Scale should be a sequence")
    if not isinstance(ratio, Sequence):
        raise TypeError("Ratio should be a sequence")
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=3)


def draw_sides(area, scale, ratio):
    """Two sides of a rectangle whose area is a random share of `area` and whose quotient is random."""
    target = area * host_random.uniform(*scale)
    quotient = math.exp(host_random.uniform(math.log(ratio[0]), math.log(ratio[1])))
    return int(round(math.sqrt(target * quotient))), int(round(math.sqrt(target / quotient)))
