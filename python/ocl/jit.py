"""What model files ask of ``torch.jit``. Nothing is compiled here: programs run as Python."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["export", "ignore", "is_scripting", "is_tracing", "unused"]

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


def ignore(function: Function) -> Function:
    """The function itself. (torch.jit.ignore)"""
    return function


def export(function: Function) -> Function:
    """The function itself. (torch.jit.export)"""
    return function


def _overload_method(function: Function) -> Function:
    return function
