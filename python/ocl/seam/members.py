"""Members of Tensor that something stands before for a while.

Each of those who do so has a layer. Layers of one member lie on each other by rank, whoever came first. The
member itself comes back when the last one goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from ocl._C import Tensor

__all__ = ["Layer"]

_lock = threading.RLock()
_own: dict[str, Any] = {}  # members that layers lie on
_present: list[Layer] = []  # the innermost one first


class Layer:
    """``wrap(name, member)`` stands for each of the members ``names()``, once for all that have it ``on``."""

    def __init__(
        self, rank: int, names: Callable[[], Iterable[str]], wrap: Callable[[str, Any], Any]
    ) -> None:
        self._rank, self._names_now, self._wrap = rank, names, wrap
        self._names: frozenset[str] = frozenset()
        self._users = 0

    def on(self) -> None:
        with _lock:
            self._users += 1
            if self._users > 1:
                return
            self._names = frozenset(self._names_now())
            _present.append(self)
            _present.sort(key=lambda layer: layer._rank)
            _renew(self._names)

    def off(self) -> None:
        with _lock:
            self._users -= 1
            if not self._users:
                _present.remove(self)
                _renew(self._names)


def _renew(names: Iterable[str]) -> None:
    for name in names:
        if name not in _own:
            _own[name] = vars(Tensor)[name]
        member, is_covered = _own[name], False
        for layer in _present:
            if name in layer._names:
                member, is_covered = layer._wrap(name, member), True
        setattr(Tensor, name, member)
        if not is_covered:
            del _own[name]
