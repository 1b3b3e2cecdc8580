"""Modules keep their parameters when they move: ``module.to("ocl")`` leaves an optimizer that was made
before it right, and shared parameters shared, as ``module.to("cuda")`` does.

PyTorch puts the new memory into the same parameter only between devices that it knows; for others it makes
new parameters, one for each place where a shared one stands, and whoever holds the old ones is left behind
without a word. Here parameters change contents with the new ones (torch.utils.swap_tensors) instead.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import torch

_apply = torch.nn.Module._apply


def _applied(function: Callable, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """What ``function`` makes of a tensor of that kind, without elements."""
    return function(torch.empty(0, dtype=dtype, device=device))


def _is_crossing(before: torch.device, after: torch.device) -> bool:
    """Whether what goes from one to the other comes to a device of ocl, or leaves one."""
    return before.type != after.type and "ocl" in (before.type, after.type)


def _crosses(module: torch.nn.Module, function: Callable) -> bool:
    """Whether ``function`` moves some of the module so."""
    kinds = {(t.device, t.dtype) for t in itertools.chain(module.parameters(), module.buffers())}
    return any(_is_crossing(device, _applied(function, device, dtype).device) for device, dtype in kinds)


def _moved_lazies(module: torch.nn.Module, function: Callable) -> list[tuple[dict, str, torch.Tensor]]:
    """The own parameters and buffers without sizes, as ``function`` would have them, if it moves them.

    Nobody can hold them yet, so that new ones do: where PyTorch makes a new parameter it has sizes.
    """
    moved = []
    for tensors in (module._parameters, module._buffers):
        for name, tensor in tensors.items():
            if tensor is None or not torch.nn.parameter.is_lazy(tensor):
                continue
            like = _applied(function, tensor.device, tensor.dtype)
            if not _is_crossing(tensor.device, like.device):
                continue
            options = {"requires_grad": tensor.requires_grad, "device": like.device, "dtype": like.dtype}
            if isinstance(tensor, torch.nn.parameter.UninitializedBuffer):
                options["persistent"] = tensor.persistent
            moved.append((tensors, name, type(tensor)(**options)))
    return moved


def _apply_in_place(self: torch.nn.Module, fn: Callable, recurse: bool = True) -> torch.nn.Module:
    moved = _moved_lazies(self, fn)
    for tensors, name, _ in moved:
        tensors[name] = None
    try:
        return _apply_to_others(self, fn, recurse)
    finally:
        for tensors, name, tensor in moved:
            tensors[name] = tensor


def _apply_to_others(self: torch.nn.Module, fn: Callable, recurse: bool) -> torch.nn.Module:
    settings = torch.__future__
    if settings.get_swap_module_params_on_conversion() or not _crosses(self, fn):
        return _apply(self, fn, recurse)
    settings.set_swap_module_params_on_conversion(True)
    try:
        return _apply(self, fn, recurse)
    except RuntimeError as error:
        if "Couldn't swap" not in str(error):
            raise
        warnings.warn(
            "A parameter that a graph or a weak reference still holds cannot change its device: the module "
            "gets new parameters, which an optimizer made before does not know, and shared ones are no "
            "longer shared.",
            stacklevel=4,
        )
    finally:
        settings.set_swap_module_params_on_conversion(False)
    return _apply(self, fn, recurse)


def install() -> None:
    """Makes all modules do so."""
    torch.nn.Module._apply = _apply_in_place
