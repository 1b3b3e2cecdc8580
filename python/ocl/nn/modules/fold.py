"""Fold and its inverse, where torch.nn.modules.fold has them."""

from ocl.nn import (
    Fold,
    Unfold,
)

__all__ = [
    "Fold",
    "Unfold",
]
