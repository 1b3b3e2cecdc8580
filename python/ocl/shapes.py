"""Shapes without elements."""

from ocl import _C
from ocl.modes import Mode

__all__ = ["shapes_only"]


def is_shapes_only() -> bool:
    """Whether this thread is inside ``shapes_only``."""
    before = _C._set_shapes_only(True)
    _C._set_shapes_only(before)
    return before


class shapes_only(Mode):  # noqa: N801  (as no_grad)
    """Operators of this thread give shapes, dtypes and strides, and no device runs a command; ``with`` block
    or decorator::

        with ocl.shapes_only():
            net = ocl.models.resnet50()
            print(net(ocl.empty(64, 3, 224, 224)).shape)

    Tensors made inside have no memory, whatever their size. Losses, gradients and an optimizer's step come
    to be as ever, arguments are checked as ever, and random numbers are not drawn. An operation that needs
    elements (``item()``, ``print``, ``nonzero``) raises RuntimeError, inside and later. Elements of tensors
    from outside stay as they are, also where they are written in place. (PyTorch: FakeTensorMode, the
    device "meta".)
    """

    def _switch(self) -> bool:
        return _C._set_shapes_only(True)

    def _restore(self, before: bool) -> None:
        _C._set_shapes_only(before)
