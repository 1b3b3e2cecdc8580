"""Where loaded tensors go: what `map_location` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ocl import _C
from ocl._C import Tensor

MapLocation = (
    _C.device | str | int | None | Mapping[str, _C.device | str] | Callable[[Tensor, str], Tensor | None]
)


class Placement:
    """A device for all buffers, or a dict or a function that tells where each of them goes.

    The function is called with a buffer, a one-dimensional tensor on the default device, and the location
    that it was saved from ("cpu", "cuda:0"). It gives the buffer, moved or not; None leaves it there.
    """

    def __init__(self, map_location: MapLocation = None):
        self._move = map_location if callable(map_location) else None
        self._devices = map_location if isinstance(map_location, Mapping) else {}
        is_device = self._move is None and not isinstance(map_location, Mapping)
        given = map_location if is_device and map_location is not None else _C.get_default_device()
        self.device = _C.device(given)

    def empty(self, count: int, dtype: _C.dtype, location: str) -> Tensor:
        """Memory for a buffer that was saved from `location`."""
        return _C.empty(count, dtype=dtype, device=self.device_of(location))

    def device_of(self, location: str) -> _C.device:
        return _C.device(self._devices.get(location, self.device))

    def moved(self, tensor: Tensor, location: str) -> Tensor:
        """The tensor where the function puts its memory."""
        if not self._move:
            return tensor
        buffer = tensor.view(-1)
        moved = self._move(buffer, location)
        if moved is None or moved is buffer:
            return tensor
        if not isinstance(moved, Tensor) or (moved.dtype, moved.shape) != (buffer.dtype, buffer.shape):
            raise TypeError(f"map_location must return the buffer, moved or not, or None; got {type(moved)}")
        return moved.contiguous().view(tensor.shape)
