"""Helpers around training, as in torch.utils: ``ocl.utils.data`` holds datasets and loaders,
``ocl.utils.checkpoint`` recomputes activations."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
