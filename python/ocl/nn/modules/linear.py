"""Linear layers, where torch.nn.modules.linear has them."""

from ocl.nn import (
    Bilinear,
    Identity,
    LazyLinear,
    Linear,
)

__all__ = [
    "Bilinear",
    "Identity",
    "LazyLinear",
    "Linear",
]
