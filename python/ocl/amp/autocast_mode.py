"""Operators in the dtype that suits them, as torch.autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl import _C, device_names
from ocl._C import Tensor
from ocl.modes import Mode

__all__ = [
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
]


def is_autocast_available(device_type: str) -> bool:
    """Whether ``autocast(device_type)`` does anything: for "ocl" and "cpu", which are OpenCL devices.

    After ``ocl.as_torch()`` for "cuda" too.
    """
    if not isinstance(device_type, str):
        raise TypeError(f"expected a device type as a str, got {type(device_type).__name__}")
    return device_type in ("ocl", "cpu") or (device_type == "cuda" and device_names.stand_for_ocl)


class autocast(Mode):  # noqa: N801  (PyTorch's name)
    """Runs operators in the dtype that suits them (torch.autocast); ``with`` block or decorator::

        layer = nn.Linear(3, 2)
        with ocl.autocast("ocl", dtype=ocl.bfloat16):
            loss = layer(x).square().mean()
        loss.backward()

    Products of matrices, convolutions, attention and recurrent layers take their floating inputs in ``dtype``
    (bfloat16, the default, or float16); exponentials, norms, sums and losses theirs in float32; a few take
    the widest of theirs; all others what they are given. Tensors of float64 stay. Parameters stay float32,
    and so do their gradients; their 16-bit copies are kept until autocast ends, unless ``cache_enabled`` is
    False. With ``enabled=False`` autocast is off inside. It holds for the thread that enters it, on every
    OpenCL device. RuntimeError for another ``device_type`` than "ocl" or "cpu", TypeError for another
    ``dtype``.
    """

    def __init__(
        self,
        device_type: str = "ocl",
        dtype: _C.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = _C.bfloat16 if dtype is None else dtype
        if self.fast_dtype not in (_C.bfloat16, _C.float16):
            raise TypeError(f"autocast: expected dtype bfloat16 or float16, got {self.fast_dtype}")
        self._enabled = bool(enabled)
        self._cache_enabled = True if cache_enabled is None else bool(cache_enabled)

    def _switch(self) -> tuple[bool, _C.dtype, bool]:
        return _C._set_autocast_mode(self._enabled, self.fast_dtype, self._cache_enabled)

    def _restore(self, before: tuple[bool, _C.dtype, bool]) -> None:
        _C._set_autocast_mode(*before)


def is_autocast_enabled(device_type: str = "ocl") -> bool:
    """Whether autocast is on in this thread."""
    return is_autocast_available(device_type) and _C._autocast_mode()[0]


def get_autocast_dtype(device_type: str = "ocl") -> _C.dtype:
    """The dtype that operators take their inputs in where autocast is on, and bfloat16 where it is off."""
    if not is_autocast_available(device_type):
        raise RuntimeError(f"unsupported device type '{device_type}'")
    return _C._autocast_mode()[1]


def current() -> autocast:
    """The modes of this thread, to be entered again elsewhere."""
    enabled, dtype, cache_enabled = _C._autocast_mode()
    return autocast("ocl", dtype, enabled, cache_enabled)


def cast(value: Any, dtype: _C.dtype) -> Any:
    """The floating tensors in ``value``, a nest of lists, tuples and dicts, in ``dtype``; float64 stays."""
    if isinstance(value, Tensor):
        is_castable = value.is_floating_point() and value.dtype != _C.float64
        return value.to(dtype) if is_castable else value
    if isinstance(value, dict):
        return {key: cast(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(cast(item, dtype) for item in value)
    return value


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str = "ocl", cast_inputs: _C.dtype | None = None
) -> Callable:
    """Decorates ``forward`` of an autograd.Function for autocast (torch.amp.custom_fwd).

    With ``cast_inputs`` it gets floating tensors in that dtype and runs with autocast off, where autocast is
    on; else it runs as autocast is.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    if not is_autocast_available(device_type):
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._autocast = current()
        if cast_inputs is None or not ctx._autocast._enabled:
            return fwd(ctx, *args, **kwargs)
        ctx._autocast = autocast(device_type, enabled=False)
        with ctx._autocast:
            return fwd(ctx, *cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Callable | None = None, *, device_type: str = "ocl") -> Callable:
    """Decorates ``backward`` of an autograd.Function whose forward has ``custom_fwd``: it runs with autocast
    as forward did (torch.amp.custom_bwd)."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any) -> Any:
        with ctx._autocast:
            return bwd(ctx, *args)

    return backward
