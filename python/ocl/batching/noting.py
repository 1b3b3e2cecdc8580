"""While a vmap runs, methods of tensors of which only listeners hear tell it of their tensors.

Elements that are read must be the same for all examples. Listeners hear of indexing and of methods that write
in place, with the memory of their tensors; interceptors do not. The histories of these tensors are noted
here. A write of a batch into a tensor that has none is refused before it is done.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ocl._C import Tensor
from ocl.batching.example import READS, WRITTEN, Example, current
from ocl.seam.members import Layer
from ocl.seam.parts import tensors_in
from ocl.seam.reading import reads_heard

__all__ = ["methods_note"]

_READING = ("__getitem__",)
_WRITING_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "pow", "mod", "and", "or", "xor")


def _names() -> list[str]:
    writing = [name for name in dir(Tensor) if name.endswith("_") and not name.startswith("_")]
    operators = [f"__i{name}__" for name in _WRITING_OPERATORS]
    return [
        n
        for n in (*_READING, "__setitem__", *operators, *writing)
        if n != "requires_grad_" and n in vars(Tensor)
    ]


def _note_reading(name: str, tensor: Tensor) -> None:
    """Hears that elements are to be read, of a tensor of whatever class."""
    trace = current()
    if trace is None or isinstance(tensor, Example):  # which refuses itself
        return
    trace.catch_up()
    if trace.has_batch(tensor):
        raise RuntimeError(f"vmap: It looks like you're calling .{name}() on a Tensor. {READS}")


def _note(written: bool, tensor: Any, others: tuple) -> None:
    """Hears of a method that takes tensors of which no interceptor hears: indexing, or one that writes."""
    trace = current()
    if trace is None:
        return
    if (
        written
        and not isinstance(tensor, Example)
        and any(isinstance(t, Example) for t in tensors_in(list(others)))
    ):
        raise RuntimeError(WRITTEN.format("a write"))
    if written and isinstance(tensor, Example):
        trace.adopt(tensor)
    for each in (tensor, *tensors_in(list(others))):
        if each.requires_grad and not isinstance(each, Example):
            trace.know(each)


def _noting(name: str, method: Callable) -> Callable:
    writes = name not in _READING

    @functools.wraps(method)
    def noted(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        _note(writes, self, (args, kwargs))
        return method(self, *args, **kwargs)

    return noted


_layer = Layer(1, _names, _noting)


@contextmanager
def methods_note() -> Iterator[None]:
    """Until the last thread that is within leaves."""
    _layer.on()
    try:
        with reads_heard(_note_reading):
            yield
    finally:
        _layer.off()
