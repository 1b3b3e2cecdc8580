"""Nests of lists and dicts, as the seam gives the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ocl import _C
from ocl._C import Tensor

__all__ = ["elements_key", "mapped", "parts", "tensors_in"]


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """That nest of lists, tuples and dicts with ``function(leaf)`` for every leaf."""
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(function, each) for each in value]
    return function(value)


def parts(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """The leaves of such a nest with their paths, in order."""
    if isinstance(value, (dict, list, tuple)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            yield from parts(each, (*path, key))
    else:
        yield path, value


def tensors_in(value: Any) -> list[Tensor]:
    return [leaf for _, leaf in parts(value) if isinstance(leaf, Tensor)]


def elements_key(tensor: Tensor) -> tuple:
    """Two tensors of one key have the same elements."""
    return (
        _C._storage_key(tensor),
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
    )
