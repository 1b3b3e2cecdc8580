"""Which operators of aten stay calls of eager mode's kernels on ocl devices.

Convolutions, matrix products and attention do so by Inductor's own choice. Here stand those that Inductor would
write a loop for: sums into places that an index gives, which eager mode does in a fixed order and a loop by atomics
in any, and functions that are in no kernel of the library.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._inductor import lowering
from torch._inductor.graph import GraphLowering
from torch._inductor.codegen.common import pointwise_overrides_data
from torch._inductor.virtualized import V

from torch_ocl.inductor.operators import OclOverrides


@functools.cache
def install() -> None:
    """Changes Inductor's choices for tensors of ocl devices, and those alone."""
    lowering.needs_fallback_due_to_atomic_add_limitations = _or_on_ocl(
        lowering.needs_fallback_due_to_atomic_add_limitations
    )
    lowering.use_scatter_fallback = _or_reduces_on_ocl(lowering.use_scatter_fallback)
    lowering.use_two_step_variance = _or_on_ocl(lowering.use_two_step_variance)
    GraphLowering.decide_layout_opt = staticmethod(_but_on_ocl(GraphLowering.decide_layout_opt))
    for name, data in pointwise_overrides_data.items():
        if OclOverrides._is_unimplemented(name):
            _keep_calls(data.name)


def _is_lowered_for_ocl() -> bool:
    node = V.graph.current_node
    value = node.meta.get("val") if node is not None else None
    values = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(v, torch.Tensor) and v.device.type == "ocl" for v in values)


def _or_on_ocl(question: Callable[..., bool]) -> Callable[..., bool]:
    @functools.wraps(question)
    def answer(*args: Any, **kwargs: Any) -> bool:
        return _is_lowered_for_ocl() or question(*args, **kwargs)

    return answer


def _or_reduces_on_ocl(question: Callable[..., bool]) -> Callable[..., bool]:
    @functools.wraps(question)
    def answer(op_overload: Any, reduction_type: str | None, *args: Any, **kwargs: Any) -> bool:
        if reduction_type is not None and _is_lowered_for_ocl():
            return True
        return question(op_overload, reduction_type, *args, **kwargs)

    return answer


def _but_on_ocl(decide: Callable[..., bool]) -> Callable[..., bool]:
    """Whether nets change to channels last: convolutions on ocl are faster contiguous."""

    @functools.wraps(decide)
    def decide_elsewhere(gm: torch.fx.GraphModule, **kwargs: Any) -> bool:
        values = (node.meta.get("val") for node in gm.graph.nodes)
        if any(isinstance(v, torch.Tensor) and v.device.type == "ocl" for v in values):
            return False
        return decide(gm, **kwargs)

    return decide_elsewhere


def _keep_calls(name: str) -> None:
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return
    for overload in packet.overloads():
        operator = getattr(packet, overload)
        lowered = lowering.lowerings.get(operator)
        if lowered is not None:
            lowering.lowerings[operator] = _call_on_ocl(operator, lowered)


def _call_on_ocl(operator: Any, lowered: Callable[..., Any]) -> Callable[..., Any]:
    call = lowering.fallback_handler(operator, add_to_fallback_set=False)

    @functools.wraps(lowered)
    def choose(*args: Any, **kwargs: Any) -> Any:
        return (call if _is_lowered_for_ocl() else lowered)(*args, **kwargs)

    return choose
