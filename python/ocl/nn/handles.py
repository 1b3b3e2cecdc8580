"""Handles of hooks that modules keep."""

from __future__ import annotations

from typing import Any

__all__ = ["Handle"]


class Handle:
    """A handle that a copy of its module has without the hook behind it.

    A copied module has copies of the hooks, which nothing removes. So such a hook asks its module whether
    it is still wanted.
    """

    def __init__(self, handle: Any = None) -> None:
        self._handle = handle

    def remove(self) -> None:
        """Removes the hook."""
        if self._handle is not None:
            self._handle.remove()

    def __reduce__(self) -> tuple:
        return Handle, ()
