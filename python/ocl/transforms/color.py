"""Colours and sharpness of Pillow's images."""

import numbers
from collections.abc import Sequence

from ocl import host_random

from . import functional as F
from .transform import RandomlyApplied, Transform, setup_size

__all__ = [
    "ColorJitter",
    "GaussianBlur",
    "Grayscale",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
]


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue at random, in random order.

    Matches torchvision.transforms.ColorJitter.

    Args:
        brightness, contrast, saturation: (least, largest) factor, or how far it may be from 1.
        hue: (least, largest) fraction of the circle within ±0.5, or how far it may be from 0.
    """

    shown = ("brightness", "contrast", "saturation", "hue")

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        self.brightness = _bounds(brightness, "brightness")
        self.contrast = _bounds(contrast, "contrast")
        self.saturation = _bounds(saturation, "saturation")
        self.hue = _bounds(hue, "hue", center=0, limits=(-0.5, 0.5))

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """Draws (order, brightness, contrast, saturation, hue); None for a value without bounds."""
        order = host_random.permutation(4)
        drawn = (
            None if bounds is None else host_random.uniform(*bounds)
            for bounds in (brightness, contrast, saturation, hue)
        )
        return order, *drawn

    def __call__(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        adjust = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for number in order:
            if factors[number] is not None:
                img = adjust[number](img, factors[number])
        return img


def _bounds(value, name, center=1, limits=(0, float("inf"))):
    """(least, largest), None where that is the centre alone."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        value = [center - float(value), center + float(value)]
        if center == 1:
            value[0] = max(value[0], 0.0)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        value = [float(value[0]), float(value[1])]
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not limits[0] <= value[0] <= value[1] <= limits[1]:
        raise ValueError(f"{name} values should be between {limits}, but got {value}.")
    return None if value[0] == value[1] == center else tuple(value)


class Grayscale(Transform):
    """Gray in one or three channels. Matches torchvision.transforms.Grayscale."""

    shown = ("num_output_channels",)

    def __init__(self, num_output_channels=1):
        self.num_output_channels = num_output_channels

    def __call__(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)


class RandomGrayscale(RandomlyApplied):
    """Gray in as many channels, with probability `p`. Matches torchvision.transforms.RandomGrayscale."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def apply(self, img):
        return F.rgb_to_grayscale(img, F.get_image_num_channels(img))


class RandomInvert(RandomlyApplied):
    """Matches torchvision.transforms.RandomInvert."""

    apply = staticmethod(F.invert)


class RandomAutocontrast(RandomlyApplied):
    """Matches torchvision.transforms.RandomAutocontrast."""

    apply = staticmethod(F.autocontrast)


class RandomEqualize(RandomlyApplied):
    """Matches torchvision.transforms.RandomEqualize."""

    apply = staticmethod(F.equalize)


class _RandomlyAdjusted(RandomlyApplied):
    """One with an option, which repr shows without a blank after the comma, as torchvision's."""

    option = ""

    def apply(self, img):
        return self.function(img, getattr(self, self.option))

    def __repr__(self):
        return f"{type(self).__name__}({self.option}={getattr(self, self.option)},p={self.p})"


class RandomPosterize(_RandomlyAdjusted):
    """Keeps the highest `bits`, with probability `p`. Matches torchvision.transforms.RandomPosterize."""

    option = "bits"
    function = staticmethod(F.posterize)

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits


class RandomSolarize(_RandomlyAdjusted):
    """Inverts what is at least `threshold`, with probability `p`.

    Matches torchvision.transforms.RandomSolarize."""

    option = "threshold"
    function = staticmethod(F.solarize)

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold


class RandomAdjustSharpness(_RandomlyAdjusted):
    """Sharpens by a factor, with probability `p`. Matches torchvision.transforms.RandomAdjustSharpness."""

    option = "sharpness_factor"
    function = staticmethod(F.adjust_sharpness)

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor


class GaussianBlur(Transform):
    """Blurs by a kernel of random width. Matches torchvision.transforms.GaussianBlur.

    Args:
        kernel_size: one odd number, or (x, y).
        sigma: (least, largest), or the one.
    """

    shown = ("kernel_size", "sigma")

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        self.kernel_size = setup_size(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif not isinstance(sigma, Sequence) or len(sigma) != 2:
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError("sigma values should be positive and of the form (min, max).")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        """Draws a sigma."""
        return host_random.uniform(sigma_min, sigma_max)

    def __call__(self, img):
        sigma = self.get_params(*self.sigma)
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])
