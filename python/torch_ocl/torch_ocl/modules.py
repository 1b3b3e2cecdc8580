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


def _crosses(module: torch.nn.Module, function: Callable) -> bool:
    """Whether ``function`` moves the module to a device of ocl, or away from one."""
    for tensor in itertools.chain(module.parameters(), module.buffers()):
        before, after = tensor.device.type, function(tensor.detach().new_empty(0)).device.type
        return before != after and "ocl" in (before, after)
    return False


def _apply_in_place(self: torch.nn.Module, fn: Callable, recurse: bool = True) -> torch.nn.Module:
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
            stacklevel=3,
        )
    finally:
        settings.set_swap_module_params_on_conversion(False)
    return _apply(self, fn, recurse)


def install() -> None:
    """Makes all modules do so."""
    torch.nn.Module._apply = _apply_in_place
