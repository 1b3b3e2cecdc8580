"""The part of ``torch.fx`` that model files need: programs are not traced here."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["wrap"]

Named = TypeVar("Named")


def wrap(function_or_name: Named) -> Named:
    """Returns its argument. (torch.fx.wrap, which keeps a function whole in traced programs)"""
    return function_or_name
