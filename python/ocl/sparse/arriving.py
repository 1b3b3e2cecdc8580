"""Sparse gradients on their way to a leaf.

The tape carries dense gradients. A lookup with ``sparse=True`` takes its leaf's gradient out of the pass and
delivers it here: to ``.grad``, or to the ``autograd.grad`` that runs.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator, Sequence

from ocl import _C
from ocl._C import Tensor
from ocl.sparse.coo import SparseTensor
from ocl.sparse.elementwise import add, add_

_watched: dict[int, weakref.ref] = {}
_running = threading.local()


def watch(leaf: Tensor) -> None:
    """Prepares a leaf for sparse gradients: a dense one that follows is added to them."""
    key = id(leaf)
    if key in _watched:
        return
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

    leaf.register_hook(joined)
    _watched[key] = held


def deliver(leaf: Tensor, gradient: SparseTensor) -> None:
    """Adds a sparse gradient to what the leaf has, or to what ``autograd.grad`` has found for it."""
    captured = getattr(_running, "captured", None)
    if captured is not None:
        if id(leaf) in captured:
            captured[id(leaf)] = _sum(captured[id(leaf)], gradient)
        return
    before = leaf.grad
    if before is None or type(before) is SparseTensor or _C.is_grad_enabled():
        leaf.grad = _sum(before, gradient)
    else:
        add_(before, gradient)


def _sum(before: Tensor | None, gradient: SparseTensor) -> Tensor:
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


def joined(dense: Tensor | None, sparse: SparseTensor | None) -> Tensor | None:
    """The gradient that the tape has found for an input, and the sparse one that was delivered."""
    if sparse is None:
        return dense
    return sparse if dense is None else add(dense, sparse)
