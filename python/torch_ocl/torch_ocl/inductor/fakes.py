"""How results of ocl's kernels lie in memory, where PyTorch, which compiles without them, thinks otherwise.

Inductor asserts the strides of what it calls, so that a difference is an error and no wrong result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch._subclasses import fake_impls

_aten = torch.ops.aten


@functools.cache
def install() -> None:
    """Adds them to PyTorch's table of operators without elements."""
    table = fake_impls.op_implementations_dict
    for operator in (_aten.convolution.default, _aten.convolution_backward.default):
        table[operator] = _convolution(table[operator])
    table[_aten._scaled_dot_product_fused_attention_overrideable.default] = _attention
    table[_aten._scaled_dot_product_fused_attention_overrideable_backward.default] = _attention_backward


def _is_ours(tensor: Any) -> bool:
    return getattr(tensor, "fake_device", tensor.device).type == "ocl"


def _convolution(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A result is laid out as the input or else the weight; gradients are contiguous."""

    @functools.wraps(theirs)
    def convolution(fake_mode: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        results = theirs(fake_mode, func, *args, **kwargs)
        is_backward = func is _aten.convolution_backward.default
        places = {"input": int(is_backward), "weight": 1 + int(is_backward)}
        x, weight = (args[at] if at < len(args) else kwargs[name] for name, at in places.items())
        if not _is_ours(x):
            return results
        with fake_mode:
            if is_backward:
                return tuple(None if r is None else r.contiguous() for r in results)
            formats = [suggest_memory_format(t) for t in (x, weight)]
            chosen = formats[1] if formats[0] == torch.contiguous_format else formats[0]
            return results.contiguous(memory_format=chosen)

    return convolution


def _attention(
    fake_mode: Any,
    func: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> Any:
    if not _is_ours(query):
        return NotImplemented
    with fake_mode:
        *rows, _ = query.shape
        sums = torch.float64 if query.dtype == torch.float64 else torch.float32
        out = torch.empty((*rows, value.shape[-1]), dtype=query.dtype, device=query.device)
        log_sums = torch.empty(rows, dtype=sums, device=query.device)
        none = [torch.empty((0,), dtype=query.dtype, device=query.device) for _ in range(2)]
        return out, log_sums, None, None, query.shape[2], key.shape[2], *none, None


def _attention_backward(
    fake_mode: Any,
    func: Any,
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | None,
    grad_input_mask: list[bool],
    *args: Any,
    **kwargs: Any,
) -> Any:
    if not _is_ours(query):
        return NotImplemented
    with fake_mode:

        def fresh(like: torch.Tensor, is_wanted: bool) -> torch.Tensor | None:
            return torch.empty(like.shape, dtype=like.dtype, device=like.device) if is_wanted else None

        gradients = [fresh(t, w) for t, w in zip((query, key, value), grad_input_mask, strict=False)]
        bias = None
        if attn_bias is not None and grad_input_mask[3]:
            shape = (*query.shape[:3], key.shape[2])
            bias = torch.empty(shape, dtype=attn_bias.dtype, device=query.device)
        return *gradients, bias
