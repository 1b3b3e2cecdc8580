"""The part of torch.overrides that model files ask for: no subclass replaces functions here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["has_torch_function", "is_tensor_like"]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """False: ``__torch_function__`` is not asked. (torch.overrides.has_torch_function)"""
    return False


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor. (torch.overrides.is_tensor_like)"""
    from ocl._C import Tensor

    return isinstance(inp, Tensor)
