"""Derivatives along directions, beside the values: torch.autograd.forward_ad.

::

    with ocl.autograd.forward_ad.dual_level():
        x = ocl.autograd.forward_ad.make_dual(primal, tangent)
        value, product = ocl.autograd.forward_ad.unpack_dual(x.sin())  # product is cos(primal) * tangent

There is no second mechanism: a level records what is computed of its dual tensors, and ``unpack_dual`` takes
the two backward passes of ``ocl.func.jvp``. So functions must be differentiable twice, and under ``no_grad``
there is no tangent.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from ocl._C import Tensor
from ocl.autograd import set_grad_enabled
from ocl.func.transforms import _Level, _pushed

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_thread = threading.local()


class UnpackedDualTensor(NamedTuple):
    """A value, and its derivative along the tangents of what it was computed of; None where there is none."""

    primal: Tensor
    tangent: Tensor | None


class _DualLevel:
    def __init__(self) -> None:
        self.level = _Level()
        self.duals: list[tuple[Tensor, Tensor]] = []  # each with its direction
        self._recording = set_grad_enabled(True)
        self._recording.__enter__()

    def end(self) -> None:
        self._recording.__exit__(None, None, None)


def _current() -> _DualLevel | None:
    return getattr(_thread, "level", None)


def enter_dual_level() -> int:
    """Begins a level, and gives its number, 0 (torch.autograd.forward_ad.enter_dual_level).

    RuntimeError inside of another one: levels do not nest. Until it ends the thread records.
    """
    if _current() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _thread.level = _DualLevel()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level (torch.autograd.forward_ad.exit_dual_level). RuntimeError where there is none, or
    another."""
    current = _current()
    if current is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    _thread.level = None
    current.end()


class dual_level:  # noqa: N801  (PyTorch's name)
    """A level as a ``with`` block (torch.autograd.forward_ad.dual_level)."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a direction of the same shape and dtype (torch.autograd.forward_ad.make_dual).

    Results that are computed of it have a derivative along that direction. RuntimeError outside of a level
    and for a tangent that does not fit, ValueError for tensors of no floating dtype.
    """
    current = _current()
    if current is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")
    if tensor.shape != tangent.shape or tensor.dtype != tangent.dtype:
        raise RuntimeError(
            f"Expected the tangent to have the shape and dtype of the primal, {tuple(tensor.shape)} of "
            f"{tensor.dtype}, but got {tuple(tangent.shape)} of {tangent.dtype}"
        )
    inside = current.level.inside(tensor)
    current.duals.append((inside, tangent))
    return inside.clone()  # which may be written in place


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A value and its tangent (torch.autograd.forward_ad.unpack_dual); outside of a level it has none."""
    current = _current()
    if current is None or level not in (None, 0):
        return UnpackedDualTensor(tensor, None)
    own = current.level.outside(tensor)
    if not tensor.requires_grad or not current.duals:
        return UnpackedDualTensor(own, None)
    inputs, directions = zip(*current.duals, strict=True)
    try:
        (tangent,) = _pushed(current.level, [tensor], list(inputs), list(directions), strict=True)
    except RuntimeError as error:
        if "independent of the inputs" not in str(error):
            raise
        tangent = None
    return UnpackedDualTensor(own, tangent)
