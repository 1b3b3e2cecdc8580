"""Filling of parameters, in place, as torch.nn.init."""

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn._init).items() if not name.startswith("_")})

__all__ = [name for name in dir(_C._nn._init) if not name.startswith("_")]
