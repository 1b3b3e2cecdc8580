"""The names of torch.utils.hooks."""

from ocl.optim.optimizer import RemovableHandle

__all__ = ["RemovableHandle"]
