"""Methods that give elements to the host, as listeners hear of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ocl._C import Tensor
from ocl.seam.members import Layer

__all__ = ["reads_heard"]

_ELEMENTS = tuple(
    name
    for name in (
        "item", "tolist", "numpy", "__array__", "__dlpack__", "__contains__", "__bool__", "__int__",
        "__float__", "__index__", "is_nonzero",
    )
    if name in vars(Tensor)
)  # fmt: skip
_own = threading.local()


def _telling(name: str, method: Callable) -> Callable:
    @functools.wraps(method)
    def told(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        listeners = getattr(_own, "listeners", None)
        if listeners:
            listeners[-1](name, self)
        return method(self, *args, **kwargs)

    return told


_layer = Layer(0, lambda: _ELEMENTS, _telling)


@contextmanager
def reads_heard(listener: Callable[[str, Tensor], None]) -> Iterator[None]:
    """While it lasts, ``listener`` hears of this thread's reads beforehand: the method and the tensor."""
    _own.listeners = [*getattr(_own, "listeners", ()), listener]
    _layer.on()
    try:
        yield
    finally:
        _own.listeners = _own.listeners[:-1]
        _layer.off()
