"""Attributes of complex tensors, and PyTorch's names for signs that it keeps pending."""

from __future__ import annotations

import functools
import re

from ocl import _C
from ocl._C import ArgumentValueError, Tensor

__all__ = ["conj_physical", "is_conj", "is_neg", "isreal", "resolve_conj", "resolve_neg"]

conj_physical = _C.conj


def is_conj(input: Tensor) -> bool:
    """False: conj() computes, so that no tensor is the conjugate of its memory. (torch.is_conj)"""
    return False


def is_neg(input: Tensor) -> bool:
    """False: no tensor is the negative of its memory. (torch.is_neg)"""
    return False


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself. (torch.resolve_conj)"""
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself. (torch.resolve_neg)"""
    return input


def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part of each element is 0; bool. (torch.isreal)"""
    if input.is_complex():
        return _C.imag(input) == 0
    return _C.ones_like(input, dtype=_C.bool_)


def _conj_physical_(self: Tensor) -> Tensor:
    """Turns the signs of the imaginary parts in place. (torch.Tensor.conj_physical_)"""
    return self.copy_(_C.conj(self)) if self.is_complex() else self


def _set_real(self: Tensor, value: Tensor) -> None:
    _C.real(self).copy_(value)


def _set_imag(self: Tensor, value: Tensor) -> None:
    _C.imag(self).copy_(value)


def _conjugate_transpose(self: Tensor) -> Tensor:
    if self.ndim not in (0, 2):
        raise ArgumentValueError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return self.t().conj()


_plain_repr, _plain_format = Tensor.__repr__, Tensor.__format__
_DEFAULT_DTYPE = re.compile(r",\s+dtype=ocl\.complex64(?=[,)])")


def _with_class(tensor: Tensor, text: str) -> str:
    """The text with the name of a class derived from Tensor, as PyTorch writes it."""
    name = type(tensor).__name__
    if type(tensor) is Tensor or tensor._is_parameter:
        return text
    indent = "\n" + " " * len("tensor")
    return name + text.removeprefix("tensor").replace(indent, "\n" + " " * len(name))


@functools.wraps(_plain_repr)
def _repr(self: Tensor) -> str:
    text = _with_class(self, _plain_repr(self))
    if self.dtype != _C.complex64 or not self.numel():
        return text
    elements, bracket, rest = text.rpartition("]")  # PyTorch leaves the default dtypes out
    return elements + bracket + _DEFAULT_DTYPE.sub("", rest)


@functools.wraps(_plain_format)
def _format(self: Tensor, spec: str) -> str:
    if not self.is_complex():
        return _plain_format(self, spec)
    return _plain_format(self, spec) if spec else format(self.item()) if self.ndim == 0 else repr(self)


Tensor.__repr__, Tensor.__format__ = _repr, _format
for _name in __all__:
    setattr(Tensor, _name, globals()[_name])
Tensor.conj_physical = Tensor.conj  # a function of C++ is no method
Tensor.conj_physical_ = _conj_physical_
Tensor.real = property(_C.real, _set_real, doc="The real parts, a view; real numbers themselves. (torch)")
Tensor.imag = property(_C.imag, _set_imag, doc="The imaginary parts, a view. (torch)")
Tensor.H = property(_conjugate_transpose, doc="A matrix transposed, with conjugate elements. (torch)")
Tensor.mH = property(lambda self: self.mT.conj(), doc="Matrices transposed, with conjugate elements. (torch)")
