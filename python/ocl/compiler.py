"""The names of torch.compiler: nothing is compiled, so that functions and modules stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ocl.compiling import compile

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
]

Named = TypeVar("Named")


def is_compiling() -> bool:
    """False. (torch.compiler.is_compiling)"""
    return False


def is_dynamo_compiling() -> bool:
    """False. (torch.compiler.is_dynamo_compiling)"""
    return False


def is_exporting() -> bool:
    """False. (torch.compiler.is_exporting)"""
    return False


def disable(fn: Callable | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, as ``@disable`` and as ``@disable(…)``. (torch.compiler.disable)"""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Named) -> Named:
    """The function or functions themselves. (torch.compiler.allow_in_graph)"""
    return fn


def assume_constant_result(fn: Named) -> Named:
    """The function itself. (torch.compiler.assume_constant_result)"""
    return fn


def reset() -> None:
    """Nothing: there is nothing compiled. (torch.compiler.reset)"""


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no graphs of CUDA. (torch.compiler.cudagraph_mark_step_begin)"""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """No names: there are no compilers. (torch.compiler.list_backends)"""
    return []


class set_stance:  # noqa: N801  (PyTorch's name)
    """Changes nothing, as a call, with ``with`` and as a decorator. (torch.compiler.set_stance)"""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        pass

    def __call__(self, fn: Named) -> Named:
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: Any) -> None:
        pass
