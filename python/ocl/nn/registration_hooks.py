"""Hooks that hear of the parameters, the buffers and the submodules that all modules register.

While such hooks exist, what registers is wrapped: constructors, assignments, ``register_parameter`` and its
kin, and the changes of containers. Afterwards the entries that are new or others go through the hooks.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C._nn import Module
from ocl.nn.global_hooks import Handle

__all__ = [
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_HOOKS: dict[str, OrderedDict] = {kind: OrderedDict() for kind in ("_parameters", "_buffers", "_modules")}
_METHODS = (
    *("__init__", "__setattr__", "register_parameter", "register_buffer", "add_module", "register_module"),
    *("append", "extend", "insert", "update", "setdefault", "__setitem__", "__iadd__", "__add__"),
)
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
_plain: dict[tuple[type, str], Callable] = {}  # while hooks exist: what stands behind the wrappers
_threads = threading.local()


def _entries(module: Module) -> dict[tuple[str, str], Any]:
    try:
        return {(kind, name): value for kind in _HOOKS for name, value in module._entries(kind).items()}
    except (AttributeError, RuntimeError, TypeError):  # before its constructor has run
        return {}


def _tell(module: Module, before: dict[tuple[str, str], Any]) -> None:
    """Calls the hooks for the entries that were not there; what they return takes the entry's place."""
    for (kind, name), value in _entries(module).items():
        if before.get((kind, name), before) is value or (value is None and kind == "_parameters"):
            continue
        for hook in list(_HOOKS[kind].values()):
            replaced = hook(module, name, value)
            if replaced is not None:
                value = replaced
                module._set_entry(kind, name, value)


def _tell_of_all(module: Module) -> None:
    """Calls the hooks for all that a constructor in C++ has made, submodules first."""
    for child in module._entries("_modules").values():
        if child is not None:
            _tell_of_all(child)
    _tell(module, {})


def _wrapped(plain: Callable, name: str, is_container: bool) -> Callable:
    @functools.wraps(plain)
    def registering(self: Module, *args: Any, **kwargs: Any) -> Any:
        if getattr(_threads, "is_inside", False):
            return plain(self, *args, **kwargs)
        before = {} if name == "__init__" else _entries(self)
        _threads.is_inside = True
        try:
            result = plain(self, *args, **kwargs)
        finally:
            _threads.is_inside = False
        if name == "__init__" and not is_container:
            _tell_of_all(self)
        else:
            _tell(self, before)
        return result

    return registering


def _classes() -> list[type]:
    found = [c for c in vars(_C._nn).values() if isinstance(c, type) and issubclass(c, Module)]
    return list(dict.fromkeys([Module, *found]))


def _follow() -> None:
    """Wraps what registers while hooks exist, and puts it back afterwards."""
    if any(_HOOKS.values()):
        if _plain:
            return
        for cls in _classes():
            for name in _METHODS:
                if name in vars(cls):
                    _plain[cls, name] = vars(cls)[name]
        for (cls, name), plain in _plain.items():
            setattr(cls, name, _wrapped(plain, name, cls.__name__ in _CONTAINERS or cls is Module))
        return
    for (cls, name), plain in _plain.items():
        setattr(cls, name, plain)
    _plain.clear()


def _added(kind: str, hook: Callable) -> Handle:
    handle = Handle(_HOOKS[kind], _follow)
    _HOOKS[kind][handle.id] = hook
    _follow()
    return handle


def register_module_parameter_registration_hook(hook: Callable) -> Handle:
    """Calls hook(module, name, parameter) when any module registers one; what it returns, unless None, takes
    its place. (torch.nn.modules.module.register_module_parameter_registration_hook)
    """
    return _added("_parameters", hook)


def register_module_buffer_registration_hook(hook: Callable) -> Handle:
    """Calls hook(module, name, buffer) when any module registers one; what it returns, unless None, takes its
    place. (torch.nn.modules.module.register_module_buffer_registration_hook)
    """
    return _added("_buffers", hook)


def register_module_module_registration_hook(hook: Callable) -> Handle:
    """Calls hook(module, name, submodule) when any module registers one; what it returns, unless None, takes
    its place. (torch.nn.modules.module.register_module_module_registration_hook)
    """
    return _added("_modules", hook)
