"""Filling of parameters, in place, as torch.nn.init."""

import math

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn._init).items() if not name.startswith("_")})

__all__ = [name for name in dir(_C._nn._init) if not name.startswith("_")]


def _calculate_fan_in_and_fan_out(tensor):
    """(fan in, fan out) of a weight; model files call it by this name."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field, tensor.size(0) * receptive_field
