"""Code that runs once another library has been imported, which need not be there."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Then = Callable[[ModuleType], None]


class _Loader(importlib.abc.Loader):
    """Like ``loader``, with what waits for the module behind it."""

    def __init__(self, loader: importlib.abc.Loader, waiting: dict[str, Then]) -> None:
        self._loader = loader
        self._waiting = waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        then = self._waiting.pop(module.__name__, None)
        if then is not None:
            then(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what the others find. Programs ask for specs without importing, so that nothing ends here."""

    def __init__(self) -> None:
        self.waiting: dict[str, Then] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.waiting)
        return spec


_finder = _Finder()


def when_imported(name: str, then: Then) -> None:
    """Calls ``then`` with the module of that name as soon as there is one."""
    if name in sys.modules:
        then(sys.modules[name])
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.waiting[name] = then
