"""The names that model files need of ``torch.jit``. Nothing is compiled here: programs run as Python."""

from __future__ import annotations

from typing import Any, Final, TypeVar

__all__ = ["Final", "export", "ignore", "is_scripting", "is_tracing", "unused"]

Function = TypeVar("Function")


def is_scripting() -> bool:
    """False. (torch.jit.is_scripting)"""
    return False


def is_tracing() -> bool:
    """False. (torch.jit.is_tracing)"""
    return False


def unused(function: Function) -> Function:
    """The function itself. (torch.jit.unused)"""
    return function


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, as ``@ignore`` and as ``@ignore(drop=…)``. (torch.jit.ignore)"""
    return drop if callable(drop) else lambda function: function


def export(function: Function) -> Function:
    """The function itself. (torch.jit.export)"""
    return function


def _overload_method(function: Function) -> Function:
    return function
