"""How pixels between pixels are found."""

from enum import Enum

__all__ = ["InterpolationMode", "pillow_filter", "to_mode"]


class InterpolationMode(Enum):
    """Matches torchvision.transforms.InterpolationMode."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PILLOW_FILTERS = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
    InterpolationMode.NEAREST_EXACT: 0,
}
_MODES = {number: mode for mode, number in reversed(_PILLOW_FILTERS.items())}


def to_mode(interpolation):
    """The mode of one of Pillow's integers; anything else as it is."""
    return _MODES[int(interpolation)] if isinstance(interpolation, int) else interpolation


def pillow_filter(interpolation):
    """Pillow's integer for a mode or for that integer. TypeError for anything else."""
    mode = to_mode(interpolation)
    if not isinstance(mode, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant"
        )
    return _PILLOW_FILTERS[mode]
