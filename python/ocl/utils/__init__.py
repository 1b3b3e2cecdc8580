"""Helpers around training, as in torch.utils: ``ocl.utils.data`` holds datasets and loaders,
``ocl.utils.checkpoint`` recomputes activations; ``ocl.utils.summary`` tells what a model's layers give, hold
and compute."""

from . import checkpoint, data, dlpack, hooks
from .model_summary import summary

__all__ = ["checkpoint", "data", "dlpack", "hooks", "summary"]
