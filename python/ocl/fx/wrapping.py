"""Functions that a trace keeps whole, and what stands in their places while one runs."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Patches", "keeping", "wrap", "wrapped_names"]

Named = TypeVar("Named")

wrapped_names: dict[tuple[int, str], dict[str, Any]] = {}  # the globals in which a name is wrapped


def wrap(fn_or_name: Named) -> Named:
    """Says that a trace shall not look into a function: it becomes a ``call_function`` node.

    Called at the top of a module, with the function, or with the name of a function of that module or of
    Python's own. (torch.fx.wrap)
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("wrap: expected a function of a module, or the name of one")
    caller = inspect.currentframe().f_back
    if isinstance(fn_or_name, str):
        name = fn_or_name
    else:
        name = fn_or_name.__code__.co_name if hasattr(fn_or_name, "__code__") else fn_or_name.__name__
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    wrapped_names[(id(caller.f_globals), name)] = caller.f_globals
    return fn_or_name


def keeping(function: Callable, find_proxy: Callable[[Any], Any]) -> Callable:
    """The function, which becomes a node where one of its arguments is, or holds, a proxy."""

    @functools.wraps(function)
    def kept(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    kept.is_kept_by_fx = True
    return kept


class Patches:
    """Names in dicts and classes that stand for something else until the block ends."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._seen: set[int] = set()

    def __enter__(self) -> Patches:
        return self

    def __exit__(self, *exception: object) -> None:
        while self._undo:
            self._undo.pop()()

    def in_class(self, owner: type, name: str, member: Any) -> None:
        before = vars(owner)[name]
        setattr(owner, name, member)
        self._undo.append(lambda: setattr(owner, name, before))

    def in_dict(self, names: dict[str, Any], name: str, wrapped: Callable[[Callable], Callable]) -> None:
        if name not in names:
            names[name] = wrapped(getattr(builtins, name))
            self._undo.append(lambda: names.pop(name))
            return
        before = names[name]
        if getattr(before, "is_kept_by_fx", False):
            return
        names[name] = wrapped(before)
        self._undo.append(lambda: names.__setitem__(name, before))

    def each(self, names: dict[str, Any], functions: set[int], wrapped: Callable) -> None:
        """Wraps those of ``functions``, by their ids, that stand in ``names``; looks once at each dict."""
        if id(names) in self._seen or not functions:
            return
        self._seen.add(id(names))
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self.in_dict(names, name, wrapped)
