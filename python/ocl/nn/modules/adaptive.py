"""The adaptive softmax, where torch.nn.modules.adaptive has them."""

from ocl.nn import (
    AdaptiveLogSoftmaxWithLoss,
)

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
]
