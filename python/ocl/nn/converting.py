"""Conversions of modules that have complex numbers or sparse tensors, which C++ does not convert."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, Tensor
from ocl._C._nn import Module
from ocl.autograd import no_grad
from ocl.nn.complex_layers import prepare
from ocl.sparse import coo

__all__: list[str] = []

_plain_to, _plain_zero_grad = Module.to, Module.zero_grad


def _tensors(module: Module) -> Iterator[Tensor]:
    """Each parameter and each buffer below the module, once."""
    yield from module.parameters()
    yield from module.buffers()


def _has_sparse(module: Module) -> bool:
    if not coo.is_in_use:
        return False
    return any(coo.SparseTensor in (type(t), type(t.grad)) for t in _tensors(module))


def _convert(module: Module, change: Callable[[Tensor], Tensor]) -> Module:
    """Changes all tensors and their gradients; the tensors stay the same objects."""
    with no_grad():
        for tensor in list(_tensors(module)):
            gradient = tensor.grad
            tensor.grad = None
            tensor.data = change(tensor.detach())
            if gradient is not None:
                tensor.grad = change(gradient)
    for each in module.modules():
        prepare(each)
    return module


def _read(args: tuple, kwargs: dict) -> tuple[Any, Any, Any]:
    """The device, the dtype and the memory format that arguments of ``to`` name."""
    device, dtype, memory_format = None, None, None
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, _C.dtype):
            dtype = value
        elif isinstance(value, _C.memory_format):
            memory_format = value
        elif isinstance(value, (_C.device, str)) or type(value) is int:
            device = value
    return device, dtype, memory_format


@functools.wraps(_plain_to)
def _to(self: Module, *args: Any, **kwargs: Any) -> Module:
    device, dtype, memory_format = _read(args, kwargs)
    is_complex = dtype is not None and dtype.is_complex
    has_complex = is_complex or (dtype is not None and any(t.is_complex() for t in _tensors(self)))
    if not (has_complex or _has_sparse(self)):
        return _plain_to(self, *args, **kwargs)
    if dtype is not None and not (dtype.is_floating_point or is_complex):
        raise ArgumentTypeError(
            f"Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
        )
    if is_complex:
        warnings.warn(
            "Complex modules are a new feature under active development whose design may change, and some "
            "modules might not work as expected when using complex tensors as parameters or buffers.",
            stacklevel=2,
        )

    def change(tensor: Tensor) -> Tensor:
        if device is not None:
            tensor = tensor.to(device)
        if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
            tensor = tensor.to(dtype)
        if memory_format is not None and tensor.ndim in (4, 5) and type(tensor) is not coo.SparseTensor:
            tensor = tensor.to(memory_format=memory_format)
        return tensor

    return _convert(self, change)


_DTYPES = {"half": _C.float16, "float": _C.float32, "double": _C.float64, "bfloat16": _C.bfloat16}


def _to_dtype(name: str) -> Callable:
    plain, dtype = getattr(Module, name), _DTYPES[name]

    @functools.wraps(plain)
    def convert(self: Module) -> Module:
        if _has_sparse(self):
            return _convert(self, lambda t: t.to(dtype) if t.is_floating_point() else t)
        return plain(self)

    return convert


@functools.wraps(_plain_zero_grad)
def _zero_grad(self: Module, set_to_none: bool = True) -> None:
    if set_to_none or not _has_sparse(self):
        _plain_zero_grad(self, set_to_none)
        return
    with no_grad():
        for gradient in (parameter.grad for parameter in self.parameters()):
            if gradient is not None:
                gradient.zero_()


def _type(self: Module, dst_type: Any) -> Module:
    """Converts all parameters and buffers, those of integers too. (torch.nn.Module.type)"""
    return _convert(self, lambda tensor: tensor.type(dst_type))


def _to_empty(self: Module, *, device: Any, recurse: bool = True) -> Module:
    """Gives the parameters and buffers memory on a device without their values, those of submodules too
    with ``recurse``. (torch.nn.Module.to_empty)
    """
    tensors = _tensors(self) if recurse else [*self.parameters(False), *self.buffers(False)]
    with no_grad():
        for tensor in list(tensors):
            tensor.data = _C.empty(tensor.shape, dtype=tensor.dtype, device=device)
    return self


Module.to, Module.zero_grad = _to, _zero_grad
Module.type, Module.to_empty = _type, _to_empty
for _name in _DTYPES:
    setattr(Module, _name, _to_dtype(_name))
