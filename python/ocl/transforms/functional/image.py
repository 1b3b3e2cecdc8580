"""Images, and their sizes."""

import numpy as np

from ocl.pillow import Image

__all__ = ["as_pillow", "get_dimensions", "get_image_num_channels", "get_image_size", "is_array"]


def is_array(img):
    """An array; anything else that is no image of Pillow's either is a TypeError."""
    if isinstance(img, np.ndarray):
        if img.ndim < 2:
            raise TypeError(f"img should be an array [..., H, W]. Got {img.ndim} dimensions")
        return True
    if isinstance(img, Image.Image):
        return False
    raise TypeError(f"img should be PIL Image or ndarray. Got {type(img)}")


def as_pillow(img):
    """The image as Pillow's. TypeError for an array, except for uint8 [H, W]."""
    if isinstance(img, Image.Image):
        return img
    if isinstance(img, np.ndarray) and img.ndim == 2 and img.dtype == np.uint8:
        return Image.fromarray(img)
    advice = ": use it before ToTensor" if isinstance(img, np.ndarray) else ""
    raise TypeError(f"img should be PIL Image. Got {type(img)}{advice}")


def get_dimensions(img):
    """[channels, height, width]. Matches torchvision.transforms.functional.get_dimensions."""
    if is_array(img):
        return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]
    return [len(img.getbands()), img.height, img.width]


def get_image_size(img):
    """[width, height]. Matches torchvision.transforms.functional.get_image_size."""
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img):
    """Matches torchvision.transforms.functional.get_image_num_channels."""
    return get_dimensions(img)[0]
