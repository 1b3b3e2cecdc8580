"""The base of lazy layers, where torch.nn.modules.lazy has it."""

from ocl.nn.lazy import LazyModuleMixin

__all__ = ["LazyModuleMixin"]
