"""Functions of parameters that take no sparse gradients, as PyTorch's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl._C import ArgumentTypeError, Tensor
from ocl.sparse import coo


def of_dense_gradients(function: Callable) -> Callable:
    """``function``, which raises TypeError where a gradient is sparse."""

    @functools.wraps(function)
    def checked(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if coo.is_in_use:
            parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
            if any(type(p.grad) is coo.SparseTensor for p in parameters):
                raise ArgumentTypeError(
                    f"{function.__name__}: not implemented for gradients of layout ocl.sparse_coo"
                )
        return function(parameters, *args, **kwargs)

    return checked
