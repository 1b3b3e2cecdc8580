"""``torch.ocl.nvtx``: named ranges, as torch.cuda.nvtx. They stand in the traces of torch.profiler, above the
operators that ran within them; no other tool is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_of_thread = threading.local()


def _open() -> list[torch.autograd.profiler.record_function]:
    if not hasattr(_of_thread, "ranges"):
        _of_thread.ranges = []
    return _of_thread.ranges


def range_push(msg: str) -> int:
    """Begins a range within those that this thread has begun; gives how many those are."""
    opened = _open()
    opened.append(torch.autograd.profiler.record_function(msg))
    opened[-1].__enter__()
    return len(opened) - 1


def range_pop() -> int:
    """Ends the range that was begun last; gives how many are around it. -1: there was none."""
    opened = _open()
    if opened:
        opened.pop().__exit__(None, None, None)
        return len(opened)
    return -1


def mark(msg: str) -> None:
    """An empty range."""
    with torch.autograd.profiler.record_function(msg):
        pass


@contextmanager
def range(msg: str, *arguments: Any, **named: Any) -> Iterator[None]:
    """A range around a block or, as a decorator, a function. ``msg`` is formatted with the arguments."""
    range_push(msg.format(*arguments, **named))
    try:
        yield
    finally:
        range_pop()
