"""What model files ask of ``torch.fx``: programs are not traced here."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["wrap"]

Named = TypeVar("Named")


def wrap(function_or_name: Named) -> Named:
    """What is given. (torch.fx.wrap, which keeps a function whole in traced programs)"""
    return function_or_name
