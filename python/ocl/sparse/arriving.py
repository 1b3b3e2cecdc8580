"""Sparse gradients on their way to a leaf.

The tape carries dense gradients. A lookup with ``sparse=True`` takes its leaf's gradient out of the pass and
delivers it here. At the end of the pass the sum goes through the leaf's hooks to ``.grad``, or to the
``autograd.grad`` that runs.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, Tensor
from ocl.seam.members import Layer
from ocl.sparse.coo import SparseTensor
from ocl.sparse.elementwise import add, add_

_watched: dict[int, weakref.ref] = {}
_refused: dict[int, str] = {}
_running = threading.local()


_KEY = "_hooks_for_sparse_gradients"  # in the leaf's __dict__, so that cycles through hooks are freed


class _LeafHooks:
    """The hooks of a leaf, for gradients that the tape does not carry. Copies of the leaf have none."""

    def __init__(self) -> None:
        self.before: dict[int, Callable] = {}
        self.after: dict[int, Callable] = {}

    def __reduce__(self) -> tuple:
        return _LeafHooks, ()


_numbers = itertools.count()


class LeafHandle:
    """The handle that register_hook of a leaf returns."""

    def __init__(self, handle: Any, hooks: dict[int, Callable], hook: Callable) -> None:
        self._handle, self._hooks = handle, hooks
        self._number = next(_numbers)
        hooks[self._number] = hook

    def remove(self) -> None:
        """Takes the hook away."""
        self._handle.remove()
        self._hooks.pop(self._number, None)

    def __enter__(self) -> LeafHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


_plain_register, _plain_register_after = Tensor.register_hook, Tensor.register_post_accumulate_grad_hook


def _hooks_of(leaf: Tensor) -> _LeafHooks:
    return leaf.__dict__.setdefault(_KEY, _LeafHooks())


@functools.wraps(_plain_register)
def _register_hook(self: Tensor, hook: Callable) -> Any:
    handle = _plain_register(self, hook)
    return LeafHandle(handle, _hooks_of(self).before, hook) if self.is_leaf else handle


@functools.wraps(_plain_register_after)
def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable) -> Any:
    return LeafHandle(_plain_register_after(self, hook), _hooks_of(self).after, hook)


Tensor.register_hook = _register_hook
Tensor.register_post_accumulate_grad_hook = _register_post_accumulate_grad_hook


def watch(leaf: Tensor) -> None:
    """Prepares a leaf for sparse gradients: a dense one that follows is added to them."""
    key = id(leaf)
    if key in _watched:
        return
    _follow_passes()
    held = weakref.ref(leaf, lambda _: _watched.pop(key, None))

    def joined(gradient: Tensor) -> Tensor | None:
        own = held()
        if own is None or getattr(_running, "captured", None) is not None:
            return None
        before = own.grad
        if type(before) is not SparseTensor:
            return None
        own.grad = None
        return add(gradient, before)

    _plain_register(leaf, joined)
    _watched[key] = held


def refuse(leaf: Tensor, told: str) -> None:
    """Makes a sparse gradient of that leaf a TypeError with those words."""
    key = id(leaf)
    _refused[key] = told
    weakref.finalize(leaf, _refused.pop, key, None)


def deliver(leaf: Tensor, gradient: SparseTensor) -> None:
    """Adds a sparse gradient to what the pass has found for the leaf, or ``autograd.grad``."""
    if id(leaf) in _refused:
        raise ArgumentTypeError(_refused[id(leaf)])
    captured = getattr(_running, "captured", None)
    if captured is not None:
        if id(leaf) in captured:
            captured[id(leaf)] = _sum(captured[id(leaf)], gradient)
        return
    arrived = getattr(_running, "arrived", None)
    if arrived is None:
        _accumulate(leaf, gradient, _C.is_grad_enabled())
        return
    before = arrived.get(id(leaf), (leaf, None, False))[1]
    arrived[id(leaf)] = leaf, _sum(before, gradient), _C.is_grad_enabled()


def _accumulate(leaf: Tensor, gradient: SparseTensor, is_recorded: bool) -> None:
    hooks = leaf.__dict__.get(_KEY)
    gradient = _through_hooks(leaf, gradient)
    before = leaf.grad
    if before is None or type(before) is SparseTensor or is_recorded:
        leaf.grad = _sum(before, gradient)
    else:
        add_(before, gradient)
    for hook in list(hooks.after.values()) if hooks else ():
        hook(leaf)


def _through_hooks(leaf: Tensor, gradient: SparseTensor) -> SparseTensor:
    hooks = leaf.__dict__.get(_KEY)
    for hook in list(hooks.before.values()) if hooks else ():
        replaced = hook(gradient)
        if replaced is None:
            continue
        if type(replaced) is not SparseTensor or replaced.shape != gradient.shape:
            name = getattr(hook, "__name__", type(hook).__name__)
            raise ArgumentTypeError(
                f"hook '{name}' has changed the type of value (was SparseTensor of shape "
                f"{tuple(gradient.shape)}, got {type(replaced).__name__} of shape {tuple(replaced.shape)})"
            )
        gradient = replaced
    return gradient


@contextlib.contextmanager
def passing(inputs: Sequence[Tensor]) -> Iterator[None]:
    """While a backward pass runs to all leaves, or to ``inputs`` where there are any."""
    outer = getattr(_running, "arrived", None)
    _running.arrived = arrived = {}
    try:
        yield
    finally:
        _running.arrived = outer
    wanted = {id(x) for x in inputs}
    for key, (leaf, gradient, is_recorded) in arrived.items():
        if not wanted or key in wanted:
            _accumulate(leaf, gradient, is_recorded)


_plain_backward = Tensor.backward


@functools.wraps(_plain_backward)
def _backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    wanted = [inputs] if isinstance(inputs, Tensor) else inputs
    with passing(wanted or ()):
        _plain_backward(self, gradient, retain_graph, create_graph, wanted)


_passes = Layer(-1, lambda: ("backward",), lambda _name, _member: _backward)


@functools.cache
def _follow_passes() -> None:
    """From the first sparse gradient on, the end of a pass is waited for."""
    _passes.on()


def _sum(before: Tensor | None, gradient: Tensor) -> Tensor:
    return gradient if before is None else add(before, gradient)


@contextlib.contextmanager
def captured(inputs: Sequence[Tensor]) -> Iterator[dict[int, SparseTensor | None]]:
    """While ``autograd.grad`` runs towards ``inputs``: the sparse gradients of each, by id."""
    outer = getattr(_running, "captured", None)
    _running.captured = {id(x): None for x in inputs if id(x) in _watched}
    try:
        yield _running.captured
    finally:
        _running.captured = outer


def is_watched(leaf: Tensor) -> bool:
    """Whether it may get sparse gradients."""
    return id(leaf) in _watched


def joined(leaf: Tensor, dense: Tensor | None, sparse: SparseTensor | None) -> Tensor | None:
    """The gradient that the tape has found for an input, and the sparse one that was delivered."""
    if sparse is None:
        return dense
    sparse = _through_hooks(leaf, sparse)
    return sparse if dense is None else add(dense, sparse)
