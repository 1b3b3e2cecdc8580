"""Modules, as torch.nn: written in C++, subclassed in Python like PyTorch's."""

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn).items() if not name.startswith("_")})

from ocl.nn import functional, init  # noqa: E402

__all__ = [name for name in dir(_C._nn) if not name.startswith("_")] + ["functional", "init"]
