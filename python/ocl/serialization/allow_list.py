"""Classes and functions beyond the built-in ones that files may name, as torch.serialization's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ocl.modes import Mode

_NEVER = ("sys", "os", "posix", "nt")

_allowed: dict[str, Any] = {}


def _by_name(globals_: Iterable[Callable | tuple[Callable, str]]) -> dict[str, Any]:
    named = {}
    for item in globals_:
        what, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        if name.partition(".")[0] in _NEVER:
            raise ValueError(f"add_safe_globals: {name} is never safe")
        named[name] = what
    return named


def add_safe_globals(safe_globals: Iterable[Callable | tuple[Callable, str]]) -> None:
    """Files of PyTorch's may name these classes and functions from now on, which :func:`ocl.load` then calls.

    Only name what is safe with whatever arguments a file gives it, as ``argparse.Namespace`` is. A tuple
    ``(what, "module.name")`` gives what a file names otherwise. Matches torch.serialization.add_safe_globals.
    """
    _allowed.update(_by_name(safe_globals))


def get_safe_globals() -> list[Callable | tuple[Callable, str]]:
    """The objects that :func:`add_safe_globals` was given, as torch.serialization.get_safe_globals."""
    return list(_allowed.values())


def clear_safe_globals() -> None:
    """Undoes every :func:`add_safe_globals`, as torch.serialization.clear_safe_globals."""
    _allowed.clear()


class safe_globals(Mode):
    """``with safe_globals([argparse.Namespace]):`` allows them inside, as in torch.serialization."""

    def __init__(self, safe_globals: Iterable[Callable | tuple[Callable, str]]):
        self._added = _by_name(safe_globals)

    def _switch(self):
        before = dict(_allowed)
        _allowed.update(self._added)
        return before

    def _restore(self, before):
        _allowed.clear()
        _allowed.update(before)


def allowed(name: str) -> Any:
    """The object that was allowed under a name, or None."""
    return _allowed.get(name)


def is_allowed(what: Any) -> bool:
    return any(what is one for one in _allowed.values())
