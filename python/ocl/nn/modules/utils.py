"""Tuples of sizes, and names of state dicts, as torch.nn.modules.utils."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable:
    def parse(x: Any) -> tuple:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple, n: int) -> tuple:
    """Each element n times, the last first."""
    return tuple(x for x in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Takes `prefix` off the names of a state dict, in place.
    (torch.nn.modules.utils.consume_prefix_in_state_dict_if_present)
    """
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", {})
    for name in list(metadata):
        if name in (prefix, prefix.removesuffix(".")) and name:
            metadata[""] = metadata.pop(name)
        elif name.startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)
