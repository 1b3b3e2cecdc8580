"""Methods of modules that are a few calls of others."""

from __future__ import annotations

from typing import Any

from ocl._C import ArgumentValueError
from ocl._C._nn import Module

__all__: list[str] = []


def _set_submodule(self: Module, target: str, module: Module, strict: bool = False) -> None:
    """Puts a module under a dotted name; with ``strict`` where there is one already.

    ValueError without a name, and for what is no module; AttributeError where the name leads to no module.
    (torch.nn.Module.set_submodule)
    """
    if target == "":
        raise ArgumentValueError("Cannot set the submodule without a target name!")
    if not isinstance(module, Module):
        raise ArgumentValueError(f"`module` is not an nn.Module, found {type(module)}")
    above, _, name = target.rpartition(".")
    parent = self.get_submodule(above) if above else self
    if strict and not hasattr(parent, name):
        raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
    if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
        raise AttributeError(f"`{name}` is not an nn.Module")
    parent._modules[name] = module


def _compile(self: Module, *args: Any, **kwargs: Any) -> None:
    """Changes nothing: kernels are compiled when they are called. (torch.nn.Module.compile)"""


def _share_memory(self: Module) -> Module:
    """The module itself: processes do not share memory of a device. (torch.nn.Module.share_memory)"""
    return self


def _get_name(self: Module) -> str:
    return type(self).__name__


def _non_persistent_buffers(self: Module) -> frozenset[str]:
    """The names of the own buffers that are not in the state dict. (torch.nn.Module)"""
    buffers = Module.__getstate__(self)["buffers"]
    return frozenset(name for name, (_, is_persistent) in buffers.items() if not is_persistent)


Module._non_persistent_buffers_set = property(_non_persistent_buffers)
Module.set_submodule, Module.compile, Module.share_memory = _set_submodule, _compile, _share_memory
Module._get_name = _get_name
