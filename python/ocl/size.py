"""The type of shapes, as torch.Size."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from ocl._C import Tensor

__all__ = ["Size"]


class Size(tuple):
    """A tuple of ints with ``numel()``: what ``shape`` and ``size()`` of a tensor give (torch.Size).

    Slices, sums and products of sizes are sizes. Raises TypeError for what is no whole number.
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        return tuple.__new__(cls, map(operator.index, sizes))

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return math.prod(self)

    def __getitem__(self, place: Any) -> Any:
        found = tuple.__getitem__(self, place)
        return _sized(found) if isinstance(place, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        found = tuple.__mul__(self, count)
        return found if found is NotImplemented else _sized(found)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"ocl.Size({list(self)})"

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)


def _sized(sizes: tuple) -> Size:
    """A Size of what is known to be ints."""
    return tuple.__new__(Size, sizes)


_shape = Tensor.shape.fget
_size = Tensor.size


# The defaults spare look-ups of names: shapes are asked for often.
def _shape_as_size(self: Tensor, _new: Any = tuple.__new__, _shape: Any = _shape) -> Size:
    return _new(Size, _shape(self))


def _size_as_size(self: Tensor, dim: Any = None) -> Any:
    return _shape_as_size(self) if dim is None else _size(self, dim)


_size_as_size.__name__ = "size"
_size_as_size.__doc__ = Tensor.size.__doc__
Tensor.shape = property(_shape_as_size, doc=Tensor.shape.__doc__)
Tensor.size = _size_as_size
