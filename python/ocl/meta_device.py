"""The device "meta" under ``ocl.as_torch()``, on which programs make a net before they load its weights.

There are no tensors on it. Within ``with torch.device("meta")`` tensors are made on the default device, with
memory, and say that they are on "meta". So transformers does not draw weights that it loads afterwards.
"""

from __future__ import annotations

import threading
from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = ["MetaDevice", "placed", "put_answers"]


class _Entered(threading.local):
    times = 0


_entered = _Entered()


class MetaDevice:
    """The device "meta": programs compare with it, and make nets within it."""

    type, index = "meta", None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetaDevice)

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"

    def __enter__(self) -> None:
        _entered.times += 1

    def __exit__(self, *raised: Any) -> None:
        _entered.times -= 1


def placed(device: Any) -> Any:
    """Where a tensor lies that a program places there: the default device for "meta" within ``with``."""
    if not isinstance(device, MetaDevice) and not (isinstance(device, str) and device == "meta"):
        return device
    if not _entered.times:
        raise NotImplementedError(
            "there are no tensors on the device 'meta'; ocl.shapes_only() gives shapes alone"
        )
    return _C.get_default_device()


def put_answers() -> None:
    """Has tensors say that they are on "meta" within it."""
    where = Tensor.device

    def device(self: Tensor) -> Any:
        return MetaDevice() if _entered.times else where.__get__(self)

    Tensor.device = property(device, doc=where.__doc__)
