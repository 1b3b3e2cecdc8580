"""Versions, as torch.version: of this library, and of CUDA and HIP, which it does not use."""

from ocl import _C

__version__ = _C._version()
debug = False
cuda = hip = xpu = git_version = None
