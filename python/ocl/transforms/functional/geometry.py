"""Where pixels lie: cuts, flips, sizes, rotations."""

import math
import numbers
import warnings

import numpy as np

from ocl.pillow import Image, ImageOps

from ..interpolation import InterpolationMode, pillow_filter
from .image import as_pillow, get_dimensions, get_image_num_channels, is_array

__all__ = [
    "affine",
    "center_crop",
    "crop",
    "five_crop",
    "hflip",
    "pad",
    "perspective",
    "resize",
    "resized_crop",
    "rotate",
    "ten_crop",
    "vflip",
]


def hflip(img):
    """Left to right. Matches torchvision.transforms.functional.hflip."""
    return img[..., ::-1].copy() if is_array(img) else img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    """Top to bottom. Matches torchvision.transforms.functional.vflip."""
    return img[..., ::-1, :].copy() if is_array(img) else img.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def crop(img, top, left, height, width):
    """A rectangle, 0 where it is outside of the image. Matches torchvision.transforms.functional.crop."""
    if not is_array(img):
        return img.crop((left, top, left + width, top + height))
    _, image_height, image_width = get_dimensions(img)
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    margins = [(max(-top, 0), max(bottom - image_height, 0)), (max(-left, 0), max(right - image_width, 0))]
    if any(map(any, margins)):
        return _pad_array(inside, margins, "constant", 0)[..., :height, :width]
    return inside.copy()


def center_crop(img, output_size):
    """A rectangle (height, width) or a square in the middle, 0 where the image is smaller.

    Matches torchvision.transforms.functional.center_crop.
    """
    crop_height, crop_width = _pair(output_size)
    _, height, width = get_dimensions(img)
    if crop_width > width or crop_height > height:
        missing_width, missing_height = max(crop_width - width, 0), max(crop_height - height, 0)
        margins = [
            missing_width // 2,
            missing_height // 2,
            (missing_width + 1) // 2,
            (missing_height + 1) // 2,
        ]
        img = pad(img, margins, fill=0)
        _, height, width = get_dimensions(img)
        if crop_width == width and crop_height == height:
            return img
    top, left = int(round((height - crop_height) / 2.0)), int(round((width - crop_width) / 2.0))
    return crop(img, top, left, crop_height, crop_width)


def five_crop(img, size):
    """(top left, top right, bottom left, bottom right, centre).

    Matches torchvision.transforms.functional.five_crop."""
    crop_height, crop_width = size = _pair(size)
    _, height, width = get_dimensions(img)
    if crop_width > width or crop_height > height:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(height, width)}")
    bottom, right = height - crop_height, width - crop_width
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    cuts = [crop(img, top, left, crop_height, crop_width) for top, left in corners]
    return (*cuts, center_crop(img, [crop_height, crop_width]))


def ten_crop(img, size, vertical_flip=False):
    """``five_crop`` of the image and of the flipped image. Matches
    torchvision.transforms.functional.ten_crop.
    """
    flipped = vflip(img) if vertical_flip else hflip(img)
    return five_crop(img, size) + five_crop(flipped, size)


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """A Pillow image in another size. Matches torchvision.transforms.functional.resize.

    Args:
        size: (height, width), or the length of the shorter edge, whose image keeps its proportions.
        max_size: the largest length of the longer edge, which overrules `size`.
        antialias: images of Pillow always are; False warns.

    Raises:
        TypeError: an array, or an unknown interpolation. ValueError: sizes that do not fit each other.
    """
    resample = pillow_filter(interpolation)
    size = [size] if isinstance(size, int) else list(size)
    if len(size) not in (1, 2):
        raise ValueError(
            f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list"
        )
    if max_size is not None and len(size) != 1:
        raise ValueError(
            "max_size should only be passed if size specifies the length of the smaller edge, "
            "i.e. size should be an int or a sequence of length 1."
        )
    img = as_pillow(img)
    height, width = _resized(img.height, img.width, size, max_size)
    if (height, width) == (img.height, img.width):
        return img
    if antialias is False:
        warnings.warn(
            "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.",
            stacklevel=2,
        )
    return img.resize((width, height), resample)


def _resized(height, width, size, max_size):
    if len(size) == 2:
        return tuple(size)
    (new_short,) = size
    short, long = sorted((height, width))
    new_long = int(new_short * long / short)
    if max_size is not None:
        if max_size <= new_short:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested "
                f"size for the smaller edge size = {size}"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def resized_crop(
    img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True
):
    """``crop``, then ``resize``. Matches torchvision.transforms.functional.resized_crop."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def pad(img, padding, fill=0, padding_mode="constant"):
    """An image with margins. Matches torchvision.transforms.functional.pad.

    Args:
        padding: one width, (left and right, top and bottom) or (left, top, right, bottom); negative ones cut.
        fill: a number, or one for each channel, for the mode "constant".
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Raises:
        TypeError, ValueError: arguments of another type or value.
    """
    fill = 0 if fill is None else fill
    check_padding(padding, fill)
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    check_padding_mode(padding_mode)
    left, top, right, bottom = margins_of(padding)
    if is_array(img):
        return _cut_and_pad_array(img, (left, top, right, bottom), padding_mode, fill)
    if padding_mode == "constant":
        padded = ImageOps.expand(img, (left, top, right, bottom), _fill_of(fill, img))
    else:
        padded = _pad_with_own_pixels(img, (left, top, right, bottom), padding_mode)
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded


def check_padding(padding, fill):
    """TypeError for what is no number and no sequence of numbers."""
    if not isinstance(padding, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if not isinstance(fill, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate fill arg")


def check_padding_mode(mode):
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")


def margins_of(padding):
    """(left, top, right, bottom) of what ``pad`` takes. ValueError for another number of widths."""
    if isinstance(padding, numbers.Number):
        return (padding,) * 4
    if len(padding) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
        )
    return tuple(padding) * (4 // len(padding))


def _pad_with_own_pixels(img, margins, mode):
    left, top, right, bottom = margins
    if min(margins) < 0:
        cuts = [max(-margin, 0) for margin in margins]
        img = img.crop((cuts[0], cuts[1], img.width - cuts[2], img.height - cuts[3]))
    widths = [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))]
    pixels = np.asarray(img)
    return Image.fromarray(np.pad(pixels, widths + [(0, 0)] * (pixels.ndim - 2), mode))


def _cut_and_pad_array(img, margins, mode, fill):
    left, top, right, bottom = margins
    height, width = img.shape[-2:]
    inside = img[..., max(-top, 0) : height + min(bottom, 0), max(-left, 0) : width + min(right, 0)]
    return _pad_array(inside, [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))], mode, fill or 0)


def _pad_array(img, widths, mode, fill):
    if not isinstance(fill, numbers.Number):
        if len(fill) != 1:
            raise TypeError("Got inappropriate fill arg: only a number is supported for arrays")
        (fill,) = fill
    options = {"constant_values": fill} if mode == "constant" else {}
    return np.pad(img, [(0, 0)] * (img.ndim - 2) + widths, mode, **options)


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """A Pillow image turned by `angle` degrees counter-clockwise.

    Matches torchvision.transforms.functional.rotate.

    Args:
        expand: make the image large enough for all of it; holds for a rotation around the centre.
        center: (x, y) of what stays in place; None is the centre.
        fill: a number, or one for each channel, for what comes from outside; None is 0.
    """
    resample = pillow_filter(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    img = as_pillow(img)
    return img.rotate(angle, resample, expand, center, fillcolor=_fill_of(fill, img))


def affine(
    img,
    angle,
    translate,
    scale,
    shear,
    interpolation=InterpolationMode.NEAREST,
    fill=None,
    center=None,
):
    """A Pillow image turned clockwise, moved, scaled and sheared.

    Matches torchvision.transforms.functional.affine.

    Args:
        angle: degrees.
        translate: (x, y) in pixels.
        shear: degrees along x, or along x and y.
        fill, center: as those of ``rotate``.
    """
    resample = pillow_filter(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    shear = _shear(shear)
    img = as_pillow(img)
    if center is None:
        center = [img.width * 0.5, img.height * 0.5]
    matrix = _inverse_affine_matrix(center, float(angle), translate, scale, shear)
    fill = _fill_of(fill, img)
    return img.transform(img.size, Image.Transform.AFFINE, matrix, resample, fillcolor=fill)


def _shear(shear):
    if isinstance(shear, numbers.Number):
        return [shear, 0.0]
    if not isinstance(shear, (list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = list(shear) * (2 if len(shear) == 1 else 1)
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    return shear


def _inverse_affine_matrix(center, angle, translate, scale, shear):
    """From the result's coordinates to the image's: (turn · shear · scale around the centre, then move)⁻¹."""
    turn, shear_x, shear_y = map(math.radians, (angle, *shear))
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    xx, xy, yx, yy = (value / scale for value in (d, -b, -c, a))
    (center_x, center_y), (move_x, move_y) = center, translate
    back_x, back_y = -center_x - move_x, -center_y - move_y
    return [xx, xy, xx * back_x + xy * back_y + center_x, yx, yy, yx * back_x + yy * back_y + center_y]


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """A Pillow image whose corners `startpoints` come to lie at `endpoints`.

    Matches torchvision.transforms.functional.perspective; four points [x, y] each, from the top left
    clockwise.
    """
    coefficients = _perspective_coefficients(startpoints, endpoints)
    resample = pillow_filter(interpolation)
    img = as_pillow(img)
    fill = _fill_of(fill, img)
    return img.transform(img.size, Image.Transform.PERSPECTIVE, coefficients, resample, fillcolor=fill)


def _perspective_coefficients(startpoints, endpoints):
    """a to h of (x, y) → ((ax + by + c) / (gx + hy + 1), (dx + ey + f) / (gx + hy + 1)), end to start."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and "
            f"{len(endpoints)} endpoints."
        )
    rows = []
    for (x, y), (start_x, start_y) in zip(endpoints, startpoints, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -start_x * x, -start_x * y])
        rows.append([0, 0, 0, x, y, 1, -start_y * x, -start_y * y])
    solution, *_ = np.linalg.lstsq(
        np.array(rows, np.float64), np.array(startpoints, np.float64).reshape(8), rcond=None
    )
    return solution.astype(np.float32).tolist()


def _fill_of(fill, img):
    """Pillow's form of a fill: one number, or a tuple with one for each channel; integers but for mode F."""
    channels = get_image_num_channels(img)
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)):
        fill = (fill,) * channels if channels > 1 else fill
    else:
        fill = tuple(fill) * (channels if len(fill) == 1 else 1)
        if len(fill) != channels:
            raise ValueError(
                "The number of elements in 'fill' does not match the number of channels of the image "
                f"({len(fill)} != {channels})"
            )
    if img.mode == "F":
        return fill
    return tuple(map(int, fill)) if isinstance(fill, tuple) else int(fill)


def _pair(size):
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return tuple(size)
