"""Images to arrays and back, and the arithmetic of arrays."""

import sys

import numpy as np

import ocl
from ocl.pillow import Image

from .image import get_image_num_channels

__all__ = ["convert_image_dtype", "erase", "normalize", "pil_to_tensor", "to_pil_image", "to_tensor"]

_INT16_MODE = "I;16" if sys.byteorder == "little" else "I;16B"
_DTYPE_OF_MODE = {"I": np.int32, _INT16_MODE: np.int16, "F": np.float32}
_MODE_OF_DTYPE = {np.dtype(dtype): mode for mode, dtype in _DTYPE_OF_MODE.items()} | {np.dtype(np.uint8): "L"}
_MODES_OF_CHANNELS = {2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"]}


def to_tensor(pic):
    """A Pillow image or an array [H, W, C] or [H, W] as an array [C, H, W].

    uint8 becomes float32 between 0 and 1; other dtypes are kept.
    Matches torchvision.transforms.functional.to_tensor.

    Raises:
        TypeError: neither image nor array. ValueError: an array not of 2 or 3 dimensions.
    """
    if isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        pixels = pic.reshape(*pic.shape, 1) if pic.ndim == 2 else pic
    elif isinstance(pic, Image.Image):
        pixels = np.asarray(pic, _DTYPE_OF_MODE.get(pic.mode, np.uint8))
        if pic.mode == "1":
            pixels = pixels * np.uint8(255)
        pixels = pixels.reshape(pic.height, pic.width, get_image_num_channels(pic))
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    channels_first = pixels.transpose(2, 0, 1)
    if channels_first.dtype != np.uint8:
        return np.array(channels_first, order="C")
    scaled = channels_first.astype(np.float32, order="C")
    scaled /= np.float32(255)
    return scaled


def pil_to_tensor(pic):
    """A Pillow image as an array [C, H, W] of its own dtype.

    Matches torchvision.transforms.functional.pil_to_tensor."""
    if not isinstance(pic, Image.Image):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    pixels = np.array(pic).reshape(pic.height, pic.width, get_image_num_channels(pic))
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def to_pil_image(pic, mode=None):
    """An array as a Pillow image. Matches torchvision.transforms.functional.to_pil_image.

    Args:
        pic: an array [H, W, C] or [H, W], as for torchvision; or an ocl tensor [C, H, W]; floats are
            scaled by 255.
        mode: Pillow's; None goes by channels and dtype.

    Raises:
        TypeError: no array, or a dtype without a mode.
        ValueError: dimensions, channels or a mode that do not fit.
    """
    if isinstance(pic, ocl.Tensor):
        pic = pic.numpy(force=True)
        pic = pic.transpose(1, 2, 0) if pic.ndim == 3 else pic
    elif not isinstance(pic, np.ndarray):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim == 2:
        pic = pic[:, :, None]
    if pic.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    channels = pic.shape[-1]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if np.issubdtype(pic.dtype, np.floating) and mode != "F":
        with np.errstate(invalid="ignore"):
            pic = (pic * 255).astype(np.uint8)
    mode = _mode_for(pic.dtype, channels, mode)
    if channels == 1:
        gray = np.ascontiguousarray(pic[:, :, 0])
        return Image.fromarray(gray.view(np.uint16) if mode == _INT16_MODE else gray)
    return _merged(np.ascontiguousarray(pic), mode)


def _mode_for(dtype, channels, mode):
    if channels == 1:
        expected = _MODE_OF_DTYPE.get(dtype)
        if mode is not None and mode != expected:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {dtype}. Should be {expected}")
        mode = expected
    else:
        permitted = _MODES_OF_CHANNELS[channels]
        if mode is not None and mode not in permitted:
            raise ValueError(f"Only modes {permitted} are supported for {channels}D inputs")
        if mode is None and dtype == np.uint8:
            mode = permitted[0]
    if mode is None:
        raise TypeError(f"Input type {dtype} is not supported")
    return mode


def _merged(pixels, mode):
    height, width, _ = pixels.shape
    return Image.frombytes(mode, (width, height), pixels.astype(np.uint8, copy=False).tobytes())


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std for each channel of an array of floats [..., C, H, W].

    Matches torchvision.transforms.functional.normalize.

    Raises:
        TypeError: no array, or none of floats. ValueError: fewer than 3 dimensions, or a std of 0.
    """
    if not isinstance(tensor, np.ndarray):
        raise TypeError(f"img should be an array, as ToTensor gives. Got {type(tensor)}")
    if not np.issubdtype(tensor.dtype, np.floating):
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.shape}"
        )
    mean, std = (np.asarray(values, tensor.dtype) for values in (mean, std))
    if (std == 0).any():
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero."
        )
    result = tensor if inplace else np.empty(tensor.shape, tensor.dtype)
    np.subtract(tensor, _per_channel(mean), out=result)
    return np.divide(result, _per_channel(std), out=result)


def _per_channel(values):
    return values.reshape(-1, 1, 1) if values.ndim == 1 else values


def erase(img, i, j, h, w, v, inplace=False):
    """Puts `v` into the rectangle at row i, column j of an array.

    Matches torchvision.transforms.functional.erase."""
    if not isinstance(img, np.ndarray):
        raise TypeError(f"img should be an array, as ToTensor gives. Got {type(img)}")
    if not inplace:
        img = img.copy()
    img[..., i : i + h, j : j + w] = v
    return img


def convert_image_dtype(image, dtype=np.float32):
    """An array in another dtype, its range of values scaled to that one's.

    Matches torchvision.transforms.functional.convert_image_dtype; `dtype` is NumPy's, or one of ocl's.

    Raises:
        TypeError: no array. RuntimeError: floats to integers that float cannot hold exactly.
    """
    if not isinstance(image, np.ndarray):
        raise TypeError("Input img should be an array")
    dtype = np.dtype(str(dtype).removeprefix("ocl.") if isinstance(dtype, ocl.dtype) else dtype)
    if image.dtype == dtype:
        return image
    to_float = np.issubdtype(dtype, np.floating)
    if np.issubdtype(image.dtype, np.floating):
        return image.astype(dtype) if to_float else _floats_to_integers(image, dtype)
    largest_input = _largest(image.dtype)
    if to_float:
        return image.astype(dtype) / dtype.type(largest_input)
    largest_output = _largest(dtype)
    if largest_input > largest_output:
        return (image // ((largest_input + 1) // (largest_output + 1))).astype(dtype)
    return image.astype(dtype) * dtype.type((largest_output + 1) // (largest_input + 1))


def _floats_to_integers(image, dtype):
    if (image.dtype == np.float32 and dtype in (np.int32, np.int64)) or (
        image.dtype == np.float64 and dtype == np.int64
    ):
        raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
    return (image * image.dtype.type(_largest(dtype) + 1.0 - 1e-3)).astype(dtype)


def _largest(dtype):
    return 1 if dtype == np.bool_ else np.iinfo(dtype).max
