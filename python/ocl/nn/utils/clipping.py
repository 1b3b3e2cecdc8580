"""Functions of gradients: they take complex ones, and no sparse ones, as PyTorch's."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ocl._C import ArgumentTypeError, Tensor
from ocl._C._nn import _utils
from ocl.autograd import no_grad
from ocl.sparse import coo

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _listed(name: str, given: Tensor | Iterable[Tensor], of_parameters: bool) -> tuple[list[Tensor], bool]:
    """The tensors as a list, and whether complex ones are among them; raises TypeError for sparse ones."""
    listed = [given] if isinstance(given, Tensor) else list(given)
    tensors = [t.grad for t in listed if isinstance(t, Tensor)] if of_parameters else listed
    if coo.is_in_use and coo.SparseTensor in map(type, tensors):
        raise ArgumentTypeError(f"{name}: not implemented for gradients of layout ocl.sparse_coo")
    return listed, any(isinstance(t, Tensor) and t.is_complex() for t in tensors)


@functools.wraps(_utils.get_total_norm)
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    listed, has_complex = _listed("get_total_norm", tensors, False)
    if has_complex:
        listed = [t.abs() if t.is_complex() else t for t in listed]
    return _utils.get_total_norm(listed, norm_type, error_if_nonfinite)


@functools.wraps(_utils.clip_grads_with_norm_)
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    listed, has_complex = _listed("clip_grads_with_norm_", parameters, True)
    if not has_complex:
        _utils.clip_grads_with_norm_(listed, max_norm, total_norm)
        return
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for parameter in listed:
            if parameter.grad is not None:
                parameter.grad.mul_(factor)


@functools.wraps(_utils.clip_grad_norm_)
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    listed, has_complex = _listed("clip_grad_norm_", parameters, True)
    if not has_complex:
        return _utils.clip_grad_norm_(listed, max_norm, norm_type, error_if_nonfinite)
    with no_grad():
        gradients = [p.grad for p in listed if p.grad is not None]
        total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


@functools.wraps(_utils.clip_grad_value_)
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    listed, has_complex = _listed("clip_grad_value_", parameters, True)
    if has_complex:
        raise ArgumentTypeError("clip_grad_value_: not implemented for complex gradients")
    _utils.clip_grad_value_(listed, clip_value)
