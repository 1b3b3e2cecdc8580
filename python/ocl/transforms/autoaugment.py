"""Augmentations drawn from a set of operations with strengths, RandAugment and others."""

import math
from enum import Enum

import numpy as np

from ocl import host_random

from . import functional as F
from .interpolation import InterpolationMode
from .policies import POLICIES
from .transform import Transform

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]


class AutoAugmentPolicy(Enum):
    """The dataset that a policy was found on. Matches torchvision.transforms.AutoAugmentPolicy."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class _Augmentation(Transform):
    def __init__(self, interpolation, fill):
        self.interpolation = interpolation
        self.fill = fill

    def _apply(self, img, name, magnitude):
        operation = _OPERATIONS[name]
        if name in _MOVING:
            return operation(img, magnitude, interpolation=self.interpolation, fill=self.fill)
        return operation(img, magnitude)

    def _apply_any(self, img, space, bin_of):
        """One operation of `space`, at bin_of(magnitudes) and with a random sign where it has one."""
        name = host_random.choose(list(space))
        magnitudes, is_signed = space[name]
        magnitude = 0.0 if magnitudes.ndim == 0 else float(magnitudes[bin_of(magnitudes)])
        if is_signed and host_random.integer(0, 2):
            magnitude = -magnitude
        return self._apply(img, name, magnitude)


class RandAugment(_Augmentation):
    """`num_ops` random operations of one strength on a Pillow image. Matches
    torchvision.transforms.RandAugment.

    Args:
        magnitude: which of the `num_magnitude_bins` strengths.
        fill: a number, or one for each channel, for what comes from outside.
    """

    shown = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")

    def __init__(
        self,
        num_ops=2,
        magnitude=9,
        num_magnitude_bins=31,
        interpolation=InterpolationMode.NEAREST,
        fill=None,
    ):
        super().__init__(interpolation, fill)
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _augmentation_space(self, num_bins, image_size):
        return {"Identity": _NONE, **_space(num_bins, image_size)}

    def __call__(self, img):
        _, height, width = F.get_dimensions(img)
        space = self._augmentation_space(self.num_magnitude_bins, (height, width))
        for _ in range(self.num_ops):
            img = self._apply_any(img, space, lambda magnitudes: self.magnitude)
        return img


class TrivialAugmentWide(_Augmentation):
    """One random operation of random strength on a Pillow image.

    Matches torchvision.transforms.TrivialAugmentWide."""

    shown = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmentation_space(self, num_bins):
        wide = _space(num_bins, reach=(32.0, 32.0), factor=0.99, shear=0.99, angle=135.0, bits=6)
        return {"Identity": _NONE, **wide}

    def __call__(self, img):
        space = self._augmentation_space(self.num_magnitude_bins)
        return self._apply_any(img, space, lambda magnitudes: host_random.integer(0, len(magnitudes)))


class AutoAugment(_Augmentation):
    """Two operations that were found to help on a dataset, on a Pillow image.

    Matches torchvision.transforms.AutoAugment."""

    shown = ("policy", "fill")

    def __init__(
        self,
        policy=AutoAugmentPolicy.IMAGENET,
        interpolation=InterpolationMode.NEAREST,
        fill=None,
    ):
        super().__init__(interpolation, fill)
        if not isinstance(policy, AutoAugmentPolicy):
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy = policy
        self.policies = POLICIES[policy.value]

    def _augmentation_space(self, num_bins, image_size):
        return {**_space(num_bins, image_size), "Invert": _NONE}

    @staticmethod
    def get_params(transform_num):
        """Draws (which pair, two numbers to compare the probabilities with, two signs: 0 is minus)."""
        number = host_random.integer(0, transform_num)
        probabilities = [host_random.uniform() for _ in range(2)]
        return number, probabilities, [host_random.integer(0, 2) for _ in range(2)]

    def __call__(self, img):
        number, drawn, signs = self.get_params(len(self.policies))
        _, height, width = F.get_dimensions(img)
        space = self._augmentation_space(10, (height, width))
        for (name, probability, strength), draw, sign in zip(
            self.policies[number], drawn, signs, strict=True
        ):
            if draw <= probability:
                magnitudes, is_signed = space[name]
                magnitude = 0.0 if strength is None else float(magnitudes[strength])
                img = self._apply(img, name, -magnitude if is_signed and sign == 0 else magnitude)
        return img


class AugMix(_Augmentation):
    """A Pillow image mixed with chains of random operations on it. Matches torchvision.transforms.AugMix.

    The operations are those of images, as everywhere here; torchvision's are those of tensors.

    Args:
        severity: the strongest of the strengths to draw from, 1 to 10.
        mixture_width: how many chains.
        chain_depth: operations of a chain; below 1 it is drawn, 1 to 3.
        alpha: of the Dirichlet distribution of the shares in the mixture.
        all_ops: brightness, colour, contrast and sharpness too.
    """

    shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")
    _strengths = 10

    def __init__(
        self,
        severity=3,
        mixture_width=3,
        chain_depth=-1,
        alpha=1.0,
        all_ops=True,
        interpolation=InterpolationMode.BILINEAR,
        fill=None,
    ):
        super().__init__(interpolation, fill)
        if not 1 <= severity <= self._strengths:
            raise ValueError(f"The severity must be between [1, {self._strengths}]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _augmentation_space(self, num_bins, image_size):
        space = _space(num_bins, reach=[length / 3.0 for length in image_size], kept_bits=4)
        of_colours = {name: space.pop(name) for name in _COLOURS}
        return {**space, **of_colours} if self.all_ops else space

    def _sample_dirichlet(self, params):
        return host_random.stream().dirichlet(params).astype(np.float32)

    def __call__(self, img):
        _, height, width = F.get_dimensions(img)
        space = self._augmentation_space(self._strengths, (height, width))
        share, share_of_chains = self._sample_dirichlet([self.alpha] * 2)
        shares = self._sample_dirichlet([self.alpha] * self.mixture_width) * share_of_chains
        mixture = share * F.pil_to_tensor(img)
        for share_of_chain in shares:
            changed = img
            for _ in range(self.chain_depth if self.chain_depth > 0 else host_random.integer(1, 4)):
                changed = self._apply_any(changed, space, lambda _: host_random.integer(0, self.severity))
            mixture += share_of_chain * F.pil_to_tensor(changed)
        return F.to_pil_image(mixture.astype(np.uint8).transpose(1, 2, 0), img.mode)


# --- the operations and their strengths ---


def _shear_x(img, magnitude, **options):
    shear = [math.degrees(math.atan(magnitude)), 0.0]
    return F.affine(img, 0.0, [0, 0], 1.0, shear, center=[0, 0], **options)


def _shear_y(img, magnitude, **options):
    shear = [0.0, math.degrees(math.atan(magnitude))]
    return F.affine(img, 0.0, [0, 0], 1.0, shear, center=[0, 0], **options)


def _translate_x(img, magnitude, **options):
    return F.affine(img, 0.0, [int(magnitude), 0], 1.0, [0.0, 0.0], **options)


def _translate_y(img, magnitude, **options):
    return F.affine(img, 0.0, [0, int(magnitude)], 1.0, [0.0, 0.0], **options)


def _posterize(img, magnitude):
    """No bits leave black, which Pillow does not make."""
    return F.posterize(img, int(magnitude)) if magnitude else img.point(lambda _: 0)


_MOVING = {
    "ShearX": _shear_x,
    "ShearY": _shear_y,
    "TranslateX": _translate_x,
    "TranslateY": _translate_y,
    "Rotate": F.rotate,
}
_OPERATIONS = {
    **_MOVING,
    "Brightness": lambda img, magnitude: F.adjust_brightness(img, 1.0 + magnitude),
    "Color": lambda img, magnitude: F.adjust_saturation(img, 1.0 + magnitude),
    "Contrast": lambda img, magnitude: F.adjust_contrast(img, 1.0 + magnitude),
    "Sharpness": lambda img, magnitude: F.adjust_sharpness(img, 1.0 + magnitude),
    "Posterize": _posterize,
    "Solarize": F.solarize,
    "AutoContrast": lambda img, magnitude: F.autocontrast(img),
    "Equalize": lambda img, magnitude: F.equalize(img),
    "Invert": lambda img, magnitude: F.invert(img),
    "Identity": lambda img, magnitude: img,
}
_COLOURS = ("Brightness", "Color", "Contrast", "Sharpness")
_NONE = (np.array(0.0), False)


def _space(num_bins, image_size=None, *, reach=None, factor=0.9, shear=0.3, angle=30.0, bits=4, kept_bits=8):
    """(strengths, whether the sign is random) for each operation; `reach` is (down, right) in pixels."""
    reach = reach or tuple(150.0 / 331.0 * length for length in image_size)
    lost_bits = np.rint(np.arange(num_bins, dtype=np.float32) / np.float32((num_bins - 1) / bits))
    factors = (_linspace(0.0, factor, num_bins), True)
    return {
        "ShearX": (_linspace(0.0, shear, num_bins), True),
        "ShearY": (_linspace(0.0, shear, num_bins), True),
        "TranslateX": (_linspace(0.0, reach[1], num_bins), True),
        "TranslateY": (_linspace(0.0, reach[0], num_bins), True),
        "Rotate": (_linspace(0.0, angle, num_bins), True),
        **dict.fromkeys(_COLOURS, factors),
        "Posterize": (kept_bits - lost_bits.astype(np.int32), False),
        "Solarize": (_linspace(255.0, 0.0, num_bins), False),
        "AutoContrast": _NONE,
        "Equalize": _NONE,
    }


def _linspace(start, end, count):
    """float32, every bit as torch.linspace: from both ends towards the middle, rounded once."""
    start, end = np.float32(start), np.float32(end)
    step = np.float64((end - start) / np.float32(max(count - 1, 1)))
    numbers = np.arange(count)
    from_start, from_end = start + step * numbers, end - step * (count - 1 - numbers)
    return np.where(numbers < count // 2, from_start, from_end).astype(np.float32)
