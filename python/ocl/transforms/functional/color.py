"""The colours of Pillow's images. Functions raise TypeError for arrays but uint8 [H, W]."""

import numpy as np

from ocl.pillow import Image, ImageEnhance, ImageOps

from .convert import to_pil_image
from .image import as_pillow

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "gaussian_blur",
    "invert",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


def adjust_brightness(img, brightness_factor):
    """0 is black, 1 the image. Matches torchvision.transforms.functional.adjust_brightness."""
    return ImageEnhance.Brightness(as_pillow(img)).enhance(brightness_factor)


def adjust_contrast(img, contrast_factor):
    """0 is gray, 1 the image. Matches torchvision.transforms.functional.adjust_contrast."""
    return ImageEnhance.Contrast(as_pillow(img)).enhance(contrast_factor)


def adjust_saturation(img, saturation_factor):
    """0 is without colours, 1 the image. Matches torchvision.transforms.functional.adjust_saturation."""
    return ImageEnhance.Color(as_pillow(img)).enhance(saturation_factor)


def adjust_sharpness(img, sharpness_factor):
    """0 is blurred, 1 the image. Matches torchvision.transforms.functional.adjust_sharpness."""
    return ImageEnhance.Sharpness(as_pillow(img)).enhance(sharpness_factor)


def adjust_hue(img, hue_factor):
    """Turns the hues by a fraction of the circle, -0.5 to 0.5.

    Matches torchvision.transforms.functional.adjust_hue.

    Raises:
        ValueError: `hue_factor` out of range.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    img = as_pillow(img)
    if img.mode in {"L", "1", "I", "F"}:
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.asarray(hue) + np.int32(hue_factor * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert(img.mode)


def adjust_gamma(img, gamma, gain=1):
    """255 · gain · (pixel / 255) ** gamma. Matches torchvision.transforms.functional.adjust_gamma.

    Raises:
        ValueError: `gamma` below 0.
    """
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    img = as_pillow(img)
    table = [int((255 + 1 - 1e-3) * gain * pow(pixel / 255.0, gamma)) for pixel in range(256)]
    return img.convert("RGB").point(table * 3).convert(img.mode)


def invert(img):
    """Matches torchvision.transforms.functional.invert."""
    return ImageOps.invert(as_pillow(img))


def posterize(img, bits):
    """Keeps the highest `bits` of each channel. Matches torchvision.transforms.functional.posterize."""
    return ImageOps.posterize(as_pillow(img), bits)


def solarize(img, threshold):
    """Inverts the pixels from `threshold` on. Matches torchvision.transforms.functional.solarize."""
    return ImageOps.solarize(as_pillow(img), threshold)


def autocontrast(img):
    """Stretches each channel to the full range. Matches torchvision.transforms.functional.autocontrast."""
    return ImageOps.autocontrast(as_pillow(img))


def equalize(img):
    """Makes the values of each channel equally frequent. Matches
    torchvision.transforms.functional.equalize.
    """
    return ImageOps.equalize(as_pillow(img))


def to_grayscale(img, num_output_channels=1):
    """Gray in one channel or in three equal ones. Matches torchvision.transforms.functional.to_grayscale.

    Raises:
        ValueError: another number of channels.
    """
    gray = as_pillow(img).convert("L")
    if num_output_channels == 1:
        return gray
    if num_output_channels == 3:
        return Image.merge("RGB", (gray, gray, gray))
    raise ValueError("num_output_channels should be either 1 or 3")


def rgb_to_grayscale(img, num_output_channels=1):
    """Another name of ``to_grayscale``. Matches torchvision.transforms.functional.rgb_to_grayscale."""
    return to_grayscale(img, num_output_channels)


def gaussian_blur(img, kernel_size, sigma=None):
    """A Pillow image blurred by a Gaussian kernel. Matches torchvision.transforms.functional.gaussian_blur.

    A pixel differs from torchvision's by 1 where its value before rounding is halfway between two.

    Args:
        kernel_size: one odd number, or (x, y).
        sigma: one positive number, or (x, y); None is 0.15 * kernel_size + 0.35.

    Raises:
        TypeError, ValueError: arguments of another type or value.
    """
    kernel_size, sigma = _checked_kernel(kernel_size, sigma)
    img = as_pillow(img)
    pixels = blurred(np.asarray(img), kernel_size, sigma)
    return to_pil_image(np.rint(pixels).astype(np.uint8), img.mode)


def blurred(pixels, kernel_size, sigma):
    """An array [H, W, ...], by kernels and widths (x, y)."""
    for axis, size, spread in zip((1, 0), kernel_size, sigma, strict=True):
        pixels = _filtered(pixels, axis, _gaussian(size, spread))
    return pixels


def _checked_kernel(kernel_size, sigma):
    if not isinstance(kernel_size, (int, list, tuple)):
        raise TypeError(f"kernel_size should be int or a sequence of integers. Got {type(kernel_size)}")
    kernel_size = [kernel_size] * 2 if isinstance(kernel_size, int) else kernel_size
    if len(kernel_size) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(kernel_size)}")
    if any(size % 2 == 0 or size < 0 for size in kernel_size):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        return kernel_size, [size * 0.15 + 0.35 for size in kernel_size]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    sigma = [sigma] if isinstance(sigma, (int, float)) else list(sigma)
    sigma = sigma * 2 if len(sigma) == 1 else sigma
    if len(sigma) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    if any(spread <= 0.0 for spread in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return kernel_size, sigma


def _gaussian(size, sigma):
    weights = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2)
    return weights / weights.sum()


def _filtered(pixels, axis, weights):
    margins = [(0, 0)] * pixels.ndim
    margins[axis] = (len(weights) // 2,) * 2
    padded = np.pad(pixels, margins, "reflect")
    length = pixels.shape[axis]
    shifted = (np.take(padded, range(start, start + length), axis) for start in range(len(weights)))
    return sum(weight * part for weight, part in zip(weights, shifted, strict=True))
