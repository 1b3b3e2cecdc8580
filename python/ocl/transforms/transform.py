"""The common part of the classes."""

import numbers
from collections.abc import Sequence

from ocl import host_random

__all__ = [
    "RandomlyApplied",
    "Transform",
    "check_sequence",
    "fill_or_zero",
    "setup_angle",
    "setup_size",
]


class Transform:
    """Called with an image, gives another. `shown` names the attributes that repr shows."""

    shown = ()

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self.shown)})"


class RandomlyApplied(Transform):
    """Does ``apply`` with probability `p`, and nothing otherwise."""

    shown = ("p",)

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return self.apply(img) if host_random.uniform() < self.p else img


def setup_size(size, error="Please provide only two dimensions (h, w) for size."):
    """(height, width) of a number or a sequence of one or two."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error)
    return size


def setup_angle(value, name, lengths=(2,)):
    """[least, largest] of a number, which counts in both directions, or of such a sequence."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        value = [-value, value]
    else:
        check_sequence(value, name, lengths)
    return [float(angle) for angle in value]


def check_sequence(value, name, lengths=(2,)):
    message = f"{name} should be a sequence of length {' or '.join(map(str, lengths))}."
    if not isinstance(value, Sequence):
        raise TypeError(message)
    if len(value) not in lengths:
        raise ValueError(message)


def fill_or_zero(fill):
    if fill is not None and not isinstance(fill, (Sequence, numbers.Number)):
        raise TypeError("Fill should be either a sequence or a number.")
    return 0 if fill is None else fill
