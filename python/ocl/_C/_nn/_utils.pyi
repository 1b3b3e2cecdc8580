"""
Helpers around training.
"""
from __future__ import annotations
import ocl._C
import typing
__all__: list[str] = ['clip_grad_norm_', 'clip_grad_value_', 'clip_grads_with_norm_', 'get_total_norm']
def clip_grad_norm_(parameters: typing.Any, max_norm: typing.SupportsFloat | typing.SupportsIndex, norm_type: typing.SupportsFloat | typing.SupportsIndex = 2.0, error_if_nonfinite: bool = False) -> ocl._C.Tensor:
    """
    Scales the gradients down together so that their norm is at most max_norm; returns the norm that they had. Does not wait, unless error_if_nonfinite is set.
    """
def clip_grad_value_(parameters: typing.Any, clip_value: typing.SupportsFloat | typing.SupportsIndex) -> None:
    """
    Holds every element of the gradients between -clip_value and clip_value.
    """
def clip_grads_with_norm_(parameters: typing.Any, max_norm: typing.SupportsFloat | typing.SupportsIndex, total_norm: ocl._C.Tensor) -> None:
    """
    Multiplies the gradients by min(1, max_norm / (total_norm + 1e-6)).
    """
def get_total_norm(tensors: typing.Any, norm_type: typing.SupportsFloat | typing.SupportsIndex = 2.0, error_if_nonfinite: bool = False) -> ocl._C.Tensor:
    """
    The norm of all elements of all tensors together.
    """
