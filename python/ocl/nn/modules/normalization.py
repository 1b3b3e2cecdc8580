"""Norms of layers and groups, where torch.nn.modules.normalization has them."""

from ocl.nn import (
    GroupNorm,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)

__all__ = [
    "GroupNorm",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]
