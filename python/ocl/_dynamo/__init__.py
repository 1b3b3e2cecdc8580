"""The names of torch._dynamo that programs ask for. Nothing is compiled here."""

from __future__ import annotations

from typing import Any

from ocl._dynamo import config, eval_frame
from ocl.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, reset

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "eval_frame",
    "graph_break",
    "is_compiling",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "reset",
]


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph. (torch._dynamo.graph_break)"""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Nothing: every size may change. (torch._dynamo.mark_dynamic)"""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing: every size may change. (torch._dynamo.mark_static)"""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Nothing: every tensor may move. (torch._dynamo.mark_static_address)"""
