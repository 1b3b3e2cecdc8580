"""Functions of parameters that take no sparse gradients, as PyTorch's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl._C import ArgumentTypeError, Tensor
from ocl.sparse import coo


def _require_dense(name: str, tensors: list[Any]) -> None:
    if any(type(tensor) is coo.SparseTensor for tensor in tensors):
        raise ArgumentTypeError(f"{name}: not implemented for gradients of layout ocl.sparse_coo")


def of_dense_gradients(function: Callable) -> Callable:
    """``function``, which raises TypeError where a gradient is sparse."""

    @functools.wraps(function)
    def checked(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if coo.is_in_use:
            parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
            _require_dense(function.__name__, [p.grad for p in parameters])
        return function(parameters, *args, **kwargs)

    return checked


def of_dense_tensors(function: Callable) -> Callable:
    """``function``, which raises TypeError where a tensor is sparse; ``foreach`` changes nothing."""

    @functools.wraps(function)
    def checked(tensors: Any, *args: Any, foreach: bool | None = None, **kwargs: Any) -> Any:
        if coo.is_in_use:
            tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
            _require_dense(function.__name__, tensors)
        return function(tensors, *args, **kwargs)

    return checked
