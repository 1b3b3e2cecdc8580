"""Embeddings, where torch.nn.modules.sparse has them."""

from ocl.nn import (
    Embedding,
    EmbeddingBag,
)

__all__ = [
    "Embedding",
    "EmbeddingBag",
]
