"""Images to arrays and back, and the arithmetic of arrays."""

import numbers

import numpy as np

import ocl
from ocl import host_random

from . import functional as F
from .crop import check_scale_and_ratio, draw_sides
from .transform import RandomlyApplied, Transform

__all__ = [
    "ConvertImageDtype",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "RandomErasing",
    "ToPILImage",
    "ToTensor",
]


class ToTensor(Transform):
    """A Pillow image, or an array [H, W, C] or [H, W], as a NumPy array [C, H, W].

    uint8 becomes float32 between 0 and 1; other dtypes are kept. Matches torchvision.transforms.ToTensor,
    which gives a tensor: here a loader uploads whole batches.
    """

    def __call__(self, pic):
        return F.to_tensor(pic)


class PILToTensor(Transform):
    """A Pillow image as a NumPy array [C, H, W] of its dtype. Matches torchvision.transforms.PILToTensor."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)


class ToPILImage(Transform):
    """An array [H, W, C] or [H, W], or an ocl tensor [C, H, W], as a Pillow image.

    Matches torchvision.transforms.ToPILImage; `mode` is Pillow's, None goes by channels and dtype.
    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Transform):
    """An array in another dtype, its range scaled to that one's.

    Matches torchvision.transforms.ConvertImageDtype."""

    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Transform):
    """(array - mean) / std for each channel of an array [..., C, H, W].

    Matches torchvision.transforms.Normalize."""

    shown = ("mean", "std")

    def __init__(self, mean, std, inplace=False):
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def __call__(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


class LinearTransformation(Transform):
    """(flat array - mean_vector) · transformation_matrix. Matches
    torchvision.transforms.LinearTransformation.

    Args:
        transformation_matrix: [D, D] with D = C · H · W. mean_vector: [D]. Arrays, or ocl tensors.
    """

    def __init__(self, transformation_matrix, mean_vector):
        matrix, mean = map(_host_array, (transformation_matrix, mean_vector))
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"transformation_matrix should be square. Got {matrix.shape} rectangular matrix."
            )
        if mean.shape[0] != matrix.shape[0]:
            raise ValueError(
                f"mean_vector should have the same length {mean.shape[0]} as any one of the dimensions of "
                f"the transformation_matrix [{matrix.shape}]"
            )
        if matrix.dtype != mean.dtype:
            raise ValueError(f"Input tensors should have the same dtype. Got {matrix.dtype} and {mean.dtype}")
        self.transformation_matrix = matrix
        self.mean_vector = mean

    def __call__(self, tensor):
        size = int(np.prod(tensor.shape[-3:]))
        if size != len(self.mean_vector):
            raise ValueError(
                "Input tensor and transformation matrix have incompatible shape."
                f"[{' x '.join(map(str, tensor.shape[-3:]))}] != {len(self.mean_vector)}"
            )
        centred = tensor.reshape(-1, size) - self.mean_vector
        return (centred @ self.transformation_matrix.astype(centred.dtype)).reshape(tensor.shape)

    def __repr__(self):
        return (
            f"{type(self).__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
            f"mean_vector={self.mean_vector.tolist()})"
        )


def _host_array(values):
    return values.numpy() if isinstance(values, ocl.Tensor) else np.asarray(values)


class RandomErasing(RandomlyApplied):
    """Overwrites a rectangle of an array [..., C, H, W] with probability `p`.

    Matches torchvision.transforms.RandomErasing.

    Args:
        scale: least and largest share of the area.
        ratio: least and largest height / width.
        value: a number, one for each channel, or "random" for normally distributed ones.
    """

    shown = ("p", "scale", "ratio", "value", "inplace")

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__(p)
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        check_scale_and_ratio(scale, ratio)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """Draws (top, left, height, width, what to put there); after 10 that do not fit the image itself."""
        channels, height, width = img.shape[-3:]
        for _ in range(10):
            h, w = draw_sides(height * width, scale, ratio)
            if h < height and w < width:
                if value is None:
                    fill = host_random.normal((channels, h, w))
                else:
                    fill = np.asarray(value, np.float32)[:, None, None]
                top = host_random.integer(0, height - h + 1)
                left = host_random.integer(0, width - w + 1)
                return top, left, h, w, fill
        return 0, 0, height, width, img

    def apply(self, img):
        value = self.value
        if isinstance(value, str):
            value = None
        elif isinstance(value, numbers.Number):
            value = [float(value)]
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{img.shape[-3]} (number of input channels)"
            )
        return F.erase(img, *self.get_params(img, self.scale, self.ratio, value), self.inplace)
