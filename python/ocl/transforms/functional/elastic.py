"""Pixels moved each its own way."""

import numpy as np

from ..interpolation import InterpolationMode, to_mode
from .convert import pil_to_tensor, to_pil_image
from .image import as_pillow

__all__ = ["elastic_transform"]


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """A Pillow image, each of whose pixels comes from `displacement` beside its place.

    Matches torchvision.transforms.functional.elastic_transform. A pixel differs from torchvision's by 1
    where its value before rounding is halfway between two.

    Args:
        displacement: array [1, H, W, 2], (x, y) as shares of half the width and height.
        interpolation: NEAREST or BILINEAR.
        fill: a number, or one for each channel, for what comes from outside; None is 0.

    Raises:
        ValueError: a displacement of another shape, another interpolation, another number of fills.
    """
    mode = to_mode(interpolation)
    if mode not in _SAMPLED:
        raise ValueError(f"elastic_transform: interpolation {mode.value} is neither nearest nor bilinear")
    img = as_pillow(img)
    pixels = pil_to_tensor(img)
    channels, height, width = pixels.shape
    if np.shape(displacement) != (1, height, width, 2):
        shapes = f"{(1, height, width, 2)}, but given {np.shape(displacement)}"
        raise ValueError(f"Argument displacement shape should be {shapes}")
    fills = None if fill is None else np.float32(fill).reshape(-1, 1, 1)
    if fills is not None and len(fills) not in (1, channels):
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(fills)} != {channels})"
        )
    x = np.arange(width, dtype=np.float32) + displacement[0, :, :, 0] * np.float32(width / 2)
    y = np.arange(height, dtype=np.float32)[:, None] + displacement[0, :, :, 1] * np.float32(height / 2)
    sampled = _SAMPLED[mode](pixels.astype(np.float32), x, y, fills)
    return to_pil_image(np.rint(sampled).astype(pixels.dtype).transpose(1, 2, 0), img.mode)


def _nearest(pixels, x, y, fills):
    values, is_inside = _gathered(pixels, np.rint(x).astype(int), np.rint(y).astype(int))
    return values if fills is None else np.where(is_inside, values, fills)


def _bilinear(pixels, x, y, fills):
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    values, share = np.zeros_like(pixels), np.zeros_like(x)
    for rows, of_row in ((top, top + 1 - y), (top + 1, y - top)):
        for columns, of_column in ((left, left + 1 - x), (left + 1, x - left)):
            weight = (of_row * of_column).astype(np.float32)
            gathered, is_inside = _gathered(pixels, columns, rows)
            values += weight * gathered
            share += weight * is_inside
    return values if fills is None else values * share + (1 - share) * fills


def _gathered(pixels, columns, rows):
    """Pixels, 0 where they are outside, and which are inside."""
    _, height, width = pixels.shape
    is_inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    return pixels[:, rows.clip(0, height - 1), columns.clip(0, width - 1)] * is_inside, is_inside


_SAMPLED = {InterpolationMode.NEAREST: _nearest, InterpolationMode.BILINEAR: _bilinear}
