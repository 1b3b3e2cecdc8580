"""Flatten and its inverse, where torch.nn.modules.flatten has them."""

from ocl.nn import (
    Flatten,
    Unflatten,
)

__all__ = [
    "Flatten",
    "Unflatten",
]
