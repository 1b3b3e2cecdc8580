"""Distances, where torch.nn.modules.distance has them."""

from ocl.nn import (
    CosineSimilarity,
    PairwiseDistance,
)

__all__ = [
    "CosineSimilarity",
    "PairwiseDistance",
]
