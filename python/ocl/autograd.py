"""Recording of gradients: what torch.autograd has, and its context managers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ocl import _C
from ocl._C import Tensor, is_grad_enabled

__all__ = ["backward", "enable_grad", "grad", "gradcheck", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class set_grad_enabled:  # noqa: N801  (PyTorch's name)
    """Switches recording on or off: from the call on, in a ``with`` block, or inside a decorated function."""

    def __init__(self, mode: bool) -> None:
        self._previous = is_grad_enabled()
        self._mode = mode
        _C._set_grad_enabled(mode)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._previous)

    def __call__(self, function: Callable) -> Callable:
        _C._set_grad_enabled(self._previous)  # used as a decorator: the mode is the function's alone
        return _within(lambda: set_grad_enabled(self._mode), function)


def _within(context: Callable, function: Callable) -> Callable:
    """``function``, run inside a fresh ``context()`` at each call."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with context():
            return function(*args, **kwargs)

    return wrapped


class _GradMode:
    """A context manager and decorator that records, or does not, inside."""

    _mode: bool

    def __new__(cls, function: Callable | None = None):
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        self._previous = is_grad_enabled()
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._previous)

    def __call__(self, function: Callable) -> Callable:
        return _within(type(self), function)


class no_grad(_GradMode):  # noqa: N801
    """Records nothing inside: ``with ocl.no_grad():``, ``@ocl.no_grad()`` or ``@ocl.no_grad``."""

    _mode = False


class enable_grad(_GradMode):  # noqa: N801
    """Records inside, also within no_grad."""

    _mode = True


def _sequence(tensors: Tensor | Sequence[Tensor | None] | None) -> list[Tensor]:
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph: bool = False) -> None:
    """Adds the gradients of ``tensors`` to ``.grad`` of the leaves below them (torch.autograd.backward)."""
    _C.backward(_sequence(tensors), _sequence(grad_tensors), retain_graph)


def grad(outputs, inputs, grad_outputs=None, retain_graph: bool = False, allow_unused: bool = False):
    """Gradients of ``outputs`` with respect to ``inputs``, a tuple; touches no ``.grad`` (as in torch).

    An input that the outputs do not depend on raises RuntimeError, or gives None with ``allow_unused``.
    """
    tensors = _sequence(outputs), _sequence(inputs), _sequence(grad_outputs)
    return tuple(_C.grad(*tensors, retain_graph, allow_unused))


def gradcheck(func, inputs, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3) -> bool:
    """Compares the tape's gradients of ``func(*inputs)`` with central differences; inputs must be float64.

    Raises RuntimeError that says where they differ (torch.autograd.gradcheck).
    """
    return _C.gradcheck(lambda tensors: func(*tensors), _sequence(inputs), eps, atol, rtol)
