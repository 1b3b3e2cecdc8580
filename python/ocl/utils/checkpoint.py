"""Activation checkpointing, as torch.utils.checkpoint: memory for time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ocl
from ocl.amp.autocast_mode import current as current_autocast
from ocl.autograd.function import Function, once_differentiable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Recomputed(Function):
    @staticmethod
    def forward(ctx, call, random_state, _, *tensors):
        ctx.call, ctx.random_state, ctx.autocast = call, random_state, current_autocast()
        ctx.save_for_backward(*tensors)
        return call(*tensors)

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients):
        tensors = [t.detach().requires_grad_(t.requires_grad) for t in ctx.saved_tensors]
        now = ocl.get_rng_state()
        if ctx.random_state is not None:
            ocl.set_rng_state(ctx.random_state)
        with ocl.enable_grad(), ctx.autocast:
            results = ctx.call(*tensors)
        if ctx.random_state is not None:
            ocl.set_rng_state(now)
        results = results if isinstance(results, tuple) else (results,)
        wanted = [(r, g) for r, g in zip(results, gradients, strict=True) if r.requires_grad]
        if wanted:
            ocl.autograd.backward([r for r, _ in wanted], [g for _, g in wanted])
        return (None, None, None, *(t.grad for t in tensors))


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, whose intermediate results are not kept but computed again in backward.

    Tensors among ``args`` and parameters that ``function`` uses get their gradients either way;
    ``use_reentrant`` is taken for PyTorch's sake. With ``preserve_rng_state`` the second computation draws
    the random numbers of the first. ``function`` returns a tensor or a tuple of tensors.
    """
    places = [i for i, arg in enumerate(args) if isinstance(arg, ocl.Tensor)]

    def call(*tensors):
        given = list(args)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        return function(*given, **kwargs)

    if not ocl.is_grad_enabled():
        return function(*args, **kwargs)
    random_state = ocl.get_rng_state() if preserve_rng_state else None
    # Recorded even where the parameters of `function` alone ask for gradients.
    marker = ocl.empty(0, requires_grad=True)
    return _Recomputed.apply(call, random_state, marker, *(args[i] for i in places))


def checkpoint_sequential(functions: Any, segments: int, input: Any, **kwargs: Any) -> Any:
    """The functions (a Sequential or a list) one after another, in ``segments`` parts, all but the last
    checkpointed. (torch.utils.checkpoint.checkpoint_sequential)"""
    functions = list(functions)
    size = max(1, len(functions) // segments)

    def run(part):
        def call(x):
            for function in part:
                x = function(x)
            return x

        return call

    starts = range(0, size * (segments - 1), size)
    for start in starts:
        input = checkpoint(run(functions[start : start + size]), input, **kwargs)
    return run(functions[len(starts) * size :])(input)
