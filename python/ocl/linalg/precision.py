"""Linear algebra under autocast: 16 bits are too few for it, so it runs as if autocast were off."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl.amp.autocast_mode import autocast, cast, custom_bwd, custom_fwd, is_autocast_enabled
from ocl.autograd.function import Function


def full_precision(function: Callable) -> Callable:
    """``function``, which under autocast takes 16-bit tensors in float32 and runs with autocast off.

    PyTorch's autocast on the CPU does this for most of torch.linalg.
    """

    @functools.wraps(function)
    def precise(*args: Any, **kwargs: Any) -> Any:
        if not is_autocast_enabled():
            return function(*args, **kwargs)
        with autocast(enabled=False):
            return function(*cast(args, _C.float32), **cast(kwargs, _C.float32))

    return precise


class PreciseFunction(Function):
    """A Function whose backward runs with autocast as its forward did."""

    def __init_subclass__(cls) -> None:
        cls.forward = staticmethod(custom_fwd(cls.forward))
        cls.backward = staticmethod(custom_bwd(cls.backward))
