"""Layers whose parameters were taken away: their forward computes with what stands under the names now.

Programs write ``del layer.weight`` and then ``layer.weight = tensor``, or give the layer's class a property
of that name. The forward of a layer reads the tensors that are registered. So one that lost a name gets a
forward of its own: it registers, while it runs, what the name stands for.
"""

from __future__ import annotations

import threading
from typing import Any

from ocl._C import Tensor
from ocl._C._nn import Module

__all__ = ["put_parameter"]

_TAKEN = (
    "_taken_away"  # in the module's __dict__: the kinds of the tensors that its class computes with, by name
)
_ABSENT = object()
_lock = threading.RLock()  # two threads may call one module, and each registers its own tensors

_delete_attribute = Module.__delattr__


def put_parameter(module: Module, name: str, tensor: Tensor | None) -> None:
    """Registers a tensor as it is, with its history: of one that is no parameter a module makes a leaf."""
    is_plain = tensor is not None and not tensor._is_parameter
    if is_plain:
        tensor._is_parameter = True
    try:
        module._set_entry("_parameters", name, tensor)
    finally:
        if is_plain:
            tensor._is_parameter = False


def _is_layer(module: Module) -> bool:
    """Whether a class written in C++ is among the module's own, which reads its tensors."""
    return any(cls.__module__ == "ocl._C._nn" and cls is not Module for cls in type(module).__mro__)


def _kind_of(module: Module, name: str) -> str | None:
    return next((kind for kind in ("_parameters", "_buffers") if name in module._entries(kind)), None)


def _delete(self: Module, name: str) -> None:
    """``del module.name``: takes a parameter, a buffer, a submodule or a plain attribute away."""
    kind = _kind_of(self, name) if _is_layer(self) else None
    _delete_attribute(self, name)
    if kind is not None:
        self.__dict__[_TAKEN] = {**self.__dict__.get(_TAKEN, {}), name: kind}
        if "forward" not in self.__dict__:
            self.forward = self._forward_with_attributes


def _forward_with_attributes(self: Module, *args: Any, **kwargs: Any) -> Any:
    """The class's forward, with what stands under names that were taken away."""
    forward = type(self).forward
    with _lock:
        missing = {name: kind for name, kind in self.__dict__[_TAKEN].items() if not _kind_of(self, name)}
        if not missing:
            return forward(self, *args, **kwargs)
        found = {name: getattr(self, name, _ABSENT) for name in missing}
        tensors = {name: tensor for name, tensor in found.items() if tensor is not _ABSENT}
        try:
            for name, tensor in tensors.items():
                if missing[name] == "_parameters":
                    put_parameter(self, name, tensor)
                else:
                    self._set_entry("_buffers", name, tensor)
            return forward(self, *args, **kwargs)
        except ValueError as error:
            # Names that are absent need not be the class's own: others may have been registered beside them.
            absent = [name for name in missing if name not in tensors]
            if absent and ("undefined tensor" in str(error) or "there is no parameter" in str(error)):
                text = f"'{type(self).__name__}' object has no attribute '{absent[0]}'"
                raise AttributeError(text) from error
            raise
        finally:
            for name in tensors:
                if _kind_of(self, name) is not None:
                    _delete_attribute(self, name)


Module.__delattr__ = _delete
Module._delete_entry = _delete
Module._forward_with_attributes = _forward_with_attributes
