"""The names of torch._dynamo._trace_wrapped_higher_order_op that programs ask for."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.overrides import TorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(TorchFunctionMode):
    """Has ``x[i]`` take i as a tensor within ``with``, also where it has no dimensions: under vmap it is not
    read then, and the result is a copy in place of a view.
    """

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if func is Tensor.__getitem__:
            source, given = args
            items = list(given) if isinstance(given, tuple) else [given]
            are_places = all(isinstance(i, int | Tensor) and not isinstance(i, bool) for i in items)
            if are_places and any(isinstance(i, Tensor) and i.dim() == 0 for i in items):
                items = [i if isinstance(i, Tensor) else _C.tensor(i, device=source.device) for i in items]
                ranks = [i.dim() for i in items]
                if max(ranks) == 0:
                    return func(source, tuple(i.unsqueeze(0) for i in items)).squeeze(0)
        return func(*args, **(kwargs or {}))
