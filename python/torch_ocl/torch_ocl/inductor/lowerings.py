"""Which operators of aten stay calls of eager mode's kernels on ocl devices.

Convolutions, matrix products and attention do so by Inductor's own choice. Here stand those that Inductor
would write a loop for: functions that are in no kernel of the library, and sums into places that an index
gives. Eager mode sums these in a fixed order, a loop by atomics in any.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch._inductor.codegen.common import pointwise_overrides_data
from torch._inductor.virtualized import V

from torch_ocl.inductor.operators import OclOverrides


def keep_layouts(graph: ModuleType) -> None:
    """``graph``: the module torch._inductor.graph."""
    graph.GraphLowering.decide_layout_opt = staticmethod(_but_on_ocl(graph.GraphLowering.decide_layout_opt))


def change(lowering: ModuleType) -> None:
    """``lowering``: the module torch._inductor.lowering. Changes choices for tensors of ocl devices alone."""
    lowering.needs_fallback_due_to_atomic_add_limitations = _or_on_ocl(
        lowering.needs_fallback_due_to_atomic_add_limitations
    )
    lowering.use_scatter_fallback = _or_reduces_on_ocl(lowering.use_scatter_fallback)
    lowering.use_two_step_variance = _or_on_ocl(lowering.use_two_step_variance)
    for name, data in pointwise_overrides_data.items():
        if OclOverrides._is_unimplemented(name):
            _keep_calls(lowering, data.name)


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


def _keep_calls(lowering: ModuleType, name: str) -> None:
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return
    for overload in packet.overloads():
        operator = getattr(packet, overload)
        lowered = lowering.lowerings.get(operator)
        if lowered is not None:
            call = lowering.fallback_handler(operator, add_to_fallback_set=False)
            lowering.lowerings[operator] = _call_on_ocl(call, lowered)


def _call_on_ocl(call: Callable[..., Any], lowered: Callable[..., Any]) -> Callable[..., Any]:

    @functools.wraps(lowered)
    def choose(*args: Any, **kwargs: Any) -> Any:
        return (call if _is_lowered_for_ocl() else lowered)(*args, **kwargs)

    return choose
