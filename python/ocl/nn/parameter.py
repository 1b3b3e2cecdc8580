"""Parameters and buffers: the tensors that a module takes up when they are assigned to one."""

from __future__ import annotations

import abc
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.sparse.coo import SparseTensor


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
        if type(data) is SparseTensor:
            raise _C.ArgumentTypeError("Parameter: there are no parameters of layout ocl.sparse_coo")
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


class _Uninitialized:
    """A tensor of a dtype, on a device, that has no shape yet."""

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives it elements, which are not set, and makes an ordinary parameter or buffer of it."""
        self.data = _C.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict) -> Any:
        copied = type(self)(self.requires_grad, self.device, self.dtype)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return type(self), (self.requires_grad, None, self.dtype)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape a lazy module finds out: ``materialize(shape)`` makes a Parameter of it.
    (torch.nn.parameter.UninitializedParameter)
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Parameter:
        return Parameter.__new__(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape a lazy module finds out. (torch.nn.parameter.UninitializedBuffer)"""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Tensor:
        buffer = Tensor._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


def is_lazy(param: Any) -> bool:
    """Whether it is a parameter or a buffer without a shape. (torch.nn.parameter.is_lazy)"""
    return isinstance(param, _Uninitialized)


_C._set_parameter_type(Parameter)
