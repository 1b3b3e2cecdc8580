"""The pixel shuffle, where torch.nn.modules.pixelshuffle has them."""

from ocl.nn import (
    PixelShuffle,
    PixelUnshuffle,
)

__all__ = [
    "PixelShuffle",
    "PixelUnshuffle",
]
