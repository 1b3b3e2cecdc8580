"""The channel shuffle, where torch.nn.modules.channelshuffle has them."""

from ocl.nn import (
    ChannelShuffle,
)

__all__ = [
    "ChannelShuffle",
]
