"""The class of modules, where torch.nn.modules.module has it."""

from ocl.nn import Module
from ocl.nn.entries import _IncompatibleKeys  # noqa: F401

__all__ = ["Module"]
