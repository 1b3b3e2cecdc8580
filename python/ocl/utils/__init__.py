"""Helpers around training, as in torch.utils: ``ocl.utils.data`` holds datasets and loaders."""

from . import data

__all__ = ["data"]
