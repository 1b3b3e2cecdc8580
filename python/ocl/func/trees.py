"""Nests of tuples, lists and dicts, as functions take and return them: what torch.utils._pytree is.

Everything else is a leaf, None too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

__all__ = ["leaves", "mapped", "structure"]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """That nest with ``function(leaf)`` for every leaf."""
    if isinstance(tree, dict):
        result = copy.copy(tree)
        for key, value in tree.items():
            result[key] = mapped(function, value)
        return result
    if isinstance(tree, (tuple, list)):
        entries = [mapped(function, entry) for entry in tree]
        return type(tree)(*entries) if hasattr(tree, "_fields") else type(tree)(entries)
    return function(tree)


def leaves(tree: Any, order: Any = None) -> list:
    """The leaves from left to right; the keys of dicts in the order of those of ``order``, a nest of the same
    structure."""
    order = tree if order is None else order
    if isinstance(tree, dict):
        pairs = [(tree[key], order[key]) for key in order]
    elif isinstance(tree, (tuple, list)):
        pairs = list(zip(tree, order, strict=True))
    else:
        return [tree]
    return [leaf for entry, its_order in pairs for leaf in leaves(entry, its_order)]


class _Leaf:
    def __repr__(self) -> str:
        return "*"


_LEAF = _Leaf()


def structure(tree: Any) -> Any:
    """The nest with the same mark for every leaf: equal for nests of the same form."""
    return mapped(lambda _: _LEAF, tree)
