"""Shapes and dtypes of the values of a graph. (torch.fx.passes.shape_prop)"""

from __future__ import annotations

from typing import Any, NamedTuple

import ocl
from ocl.fx.interpreter import Interpreter
from ocl.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """The description of a node's tensor, in its ``meta["tensor_meta"]``."""

    shape: ocl.Size
    dtype: ocl.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: ocl.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _metadata(tensor: ocl.Tensor) -> TensorMetadata:
    formats = (ocl.contiguous_format, ocl.channels_last, ocl.channels_last_3d)
    ranks = {ocl.channels_last: 4, ocl.channels_last_3d: 5}
    suited = (f for f in formats if ranks.get(f, tensor.ndim) == tensor.ndim)
    layout = next((f for f in suited if tensor.is_contiguous(memory_format=f)), None)
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), layout, False, {}
    )


class ShapeProp(Interpreter):
    """Runs a graph, and notes in ``meta["tensor_meta"]`` of each node the shape and dtype of its value."""

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        found = []

        def noted(part: Any) -> Any:
            if not isinstance(part, ocl.Tensor):
                return part
            found.append(part)
            return _metadata(part)

        described = map_aggregate(result, noted)
        if found:
            n.meta["tensor_meta"] = described
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph, and gives its result."""
        return super().run(*args)
