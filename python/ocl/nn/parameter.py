"""Parameters and buffers: the tensors that a module takes up when they are assigned to one."""

from __future__ import annotations

import abc
from typing import Any

from ocl import _C
from ocl._C import Tensor


class _ParameterMeta(abc.ABCMeta):
    # A tensor of another subclass may be a parameter too: Parameter(data) leaves it its class.
    def __instancecheck__(self, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return self is Parameter and isinstance(instance, Tensor) and instance._is_parameter


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module registers when it is assigned to one: a leaf that requires gradients.

    It is a new tensor over the memory of ``data``, and keeps its class if that is neither Tensor nor
    Parameter.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _C.empty(0)
        is_plain = type(data) in (Tensor, Parameter) or cls is not Parameter
        parameter = Tensor._make_subclass(cls if is_plain else type(data), data, requires_grad)
        parameter._is_parameter = True
        return parameter

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class _BufferMeta(abc.ABCMeta):
    def __instancecheck__(self, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return self is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned to one, in its state dict if
    ``persistent``.

    It is a new tensor over the memory of ``data`` and of its class, marked as a buffer, as in PyTorch:
    ``isinstance(t, nn.Buffer)`` tells it apart.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
        if data is None:
            data = _C.empty(0)
        buffer = Tensor._make_subclass(type(data), data, data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


_C._set_parameter_type(Parameter)
