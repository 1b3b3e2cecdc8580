"""Helpers around training, as torch.nn.utils: gradient clipping, and packed sequences in `rnn`."""

from ocl import _C
from ocl.nn.utils import rnn

clip_grad_norm_ = _C._nn._utils.clip_grad_norm_
clip_grad_value_ = _C._nn._utils.clip_grad_value_
clip_grads_with_norm_ = _C._nn._utils.clip_grads_with_norm_
get_total_norm = _C._nn._utils.get_total_norm

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "rnn"]
