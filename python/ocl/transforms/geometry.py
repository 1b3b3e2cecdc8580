"""Flips, rotations and other maps of the plane."""

from collections.abc import Sequence

import numpy as np

from ocl import host_random

from . import functional as F
from .functional.color import blurred
from .interpolation import InterpolationMode, to_mode
from .transform import RandomlyApplied, Transform, check_sequence, fill_or_zero, setup_angle

__all__ = [
    "ElasticTransform",
    "RandomAffine",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomRotation",
    "RandomVerticalFlip",
]


class RandomHorizontalFlip(RandomlyApplied):
    """Left to right with probability `p`, images and arrays.

    Matches torchvision.transforms.RandomHorizontalFlip."""

    apply = staticmethod(F.hflip)


class RandomVerticalFlip(RandomlyApplied):
    """Top to bottom with probability `p`, images and arrays. Matches
    torchvision.transforms.RandomVerticalFlip.
    """

    apply = staticmethod(F.vflip)


class RandomRotation(Transform):
    """Turns a Pillow image by a random angle. Matches torchvision.transforms.RandomRotation.

    Args:
        degrees: (least, largest), or the largest in both directions.
        expand: make the image large enough for all of it.
        center: (x, y) of what stays in place; None is the centre.
        fill: a number, or one for each channel, for what comes from outside.
    """

    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        self.degrees = setup_angle(degrees, "degrees")
        if center is not None:
            check_sequence(center, "center")
        self.center = center
        self.interpolation = to_mode(interpolation)
        self.expand = expand
        self.fill = fill_or_zero(fill)

    @staticmethod
    def get_params(degrees):
        """Draws an angle."""
        return host_random.uniform(*degrees)

    def __call__(self, img):
        angle = self.get_params(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self):
        center = "" if self.center is None else f", center={self.center}"
        return (
            f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}, "
            f"expand={self.expand}{center}, fill={self.fill})"
        )


class RandomAffine(Transform):
    """Turns, moves, scales and shears a Pillow image at random. Matches torchvision.transforms.RandomAffine.

    Args:
        degrees: (least, largest), or the largest in both directions.
        translate: the largest share of the width and of the height to move by.
        scale: (least, largest).
        shear: degrees along x (one number or two), or along x and y (four).
        fill: a number, or one for each channel, for what comes from outside.
        center: (x, y) of what stays in place; None is the centre.
    """

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        interpolation=InterpolationMode.NEAREST,
        fill=0,
        center=None,
    ):
        self.degrees = setup_angle(degrees, "degrees")
        if translate is not None:
            check_sequence(translate, "translate")
            if not all(0.0 <= share <= 1.0 for share in translate):
                raise ValueError("translation values should be between 0 and 1")
        self.translate = translate
        if scale is not None:
            check_sequence(scale, "scale")
            if any(factor <= 0 for factor in scale):
                raise ValueError("scale values should be positive")
        self.scale = scale
        self.shear = None if shear is None else setup_angle(shear, "shear", (2, 4))
        self.interpolation = to_mode(interpolation)
        self.fill = fill_or_zero(fill)
        if center is not None:
            check_sequence(center, "center")
        self.center = center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """Draws (angle, (x, y) to move by, scale, (shear along x, along y))."""
        angle = host_random.uniform(*degrees)
        move = (0, 0)
        if translate is not None:
            reaches = [share * length for share, length in zip(translate, img_size, strict=True)]
            move = tuple(int(round(host_random.uniform(-reach, reach))) for reach in reaches)
        scale = 1.0 if scale_ranges is None else host_random.uniform(*scale_ranges)
        shear_x = 0.0 if shears is None else host_random.uniform(*shears[:2])
        shear_y = 0.0 if shears is None or len(shears) == 2 else host_random.uniform(*shears[2:])
        return angle, move, scale, (shear_x, shear_y)

    def __call__(self, img):
        _, height, width = F.get_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=self.fill, center=self.center)

    def __repr__(self):
        shown = [f"degrees={self.degrees}"]
        shown += [
            f"{name}={getattr(self, name)}"
            for name in ("translate", "scale", "shear")
            if getattr(self, name) is not None
        ]
        if self.interpolation != InterpolationMode.NEAREST:
            shown.append(f"interpolation={self.interpolation.value}")
        if self.fill != 0:
            shown.append(f"fill={self.fill}")
        if self.center is not None:
            shown.append(f"center={self.center}")
        return f"{type(self).__name__}({', '.join(shown)})"


class RandomPerspective(RandomlyApplied):
    """A Pillow image seen at an angle with probability `p`. Matches torchvision.transforms.RandomPerspective.

    Args:
        distortion_scale: the share of half the width and height by which corners may move inwards.
    """

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__(p)
        self.interpolation = to_mode(interpolation)
        self.distortion_scale = distortion_scale
        self.fill = fill_or_zero(fill)

    @staticmethod
    def get_params(width, height, distortion_scale):
        """The corners, from the top left clockwise, and where they come to lie."""
        inward_x, inward_y = (int(distortion_scale * (length // 2)) for length in (width, height))

        def near_start(inward):
            return host_random.integer(0, inward + 1)

        def near_end(length, inward):
            return host_random.integer(length - inward - 1, length)

        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = [
            [near_start(inward_x), near_start(inward_y)],
            [near_end(width, inward_x), near_start(inward_y)],
            [near_end(width, inward_x), near_end(height, inward_y)],
            [near_start(inward_x), near_end(height, inward_y)],
        ]
        return corners, moved

    def apply(self, img):
        _, height, width = F.get_dimensions(img)
        corners, moved = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, corners, moved, self.interpolation, self.fill)


class ElasticTransform(Transform):
    """Moves the pixels of a Pillow image at random, neighbours alike.

    Matches torchvision.transforms.ElasticTransform.

    Args:
        alpha: how far, a float or (x, y).
        sigma: how alike neighbours move, a float or (x, y).
        interpolation: NEAREST or BILINEAR.
        fill: a number, or one for each channel, for what comes from outside.
    """

    shown = ("alpha", "sigma", "interpolation", "fill")

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0):
        self.alpha = _float_pair(alpha, "alpha")
        self.sigma = _float_pair(sigma, "sigma")
        self.interpolation = to_mode(interpolation)
        if not isinstance(fill, (int, float, list, tuple)):
            raise TypeError(f"fill should be int or float or a list or tuple of them. Got {type(fill)}")
        self.fill = [float(part) for part in (fill if isinstance(fill, (list, tuple)) else [fill])]

    @staticmethod
    def get_params(alpha, sigma, size):
        """Draws a displacement for images of `size` (height, width): float32 [1, height, width, 2]."""

        def drawn(reach, spread, length):
            moves = 2 * host_random.stream().random(size, np.float32) - 1
            if spread > 0:
                kernel = int(8 * spread + 1) | 1
                moves = blurred(moves, [kernel, kernel], sigma)
            return moves * reach / length

        parts = [drawn(*of_axis) for of_axis in zip(alpha, sigma, reversed(size), strict=True)]
        return np.stack(parts, -1)[None].astype(np.float32)

    def __call__(self, img):
        _, height, width = F.get_dimensions(img)
        displacement = self.get_params(self.alpha, self.sigma, [height, width])
        return F.elastic_transform(img, displacement, self.interpolation, self.fill)


def _float_pair(value, name):
    if isinstance(value, float):
        return [value, value]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if len(value) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(value)}")
    for element in value:
        if not isinstance(element, float):
            raise TypeError(f"{name} should be a sequence of floats. Got {type(element)}")
    return value
