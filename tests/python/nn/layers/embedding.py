"""Embedding and bags of it."""

import numpy as np

from layers import layer

LAYERS = {
    "embedding": layer(lambda nn: nn.Embedding(9, 4), lambda rng: rng.integers(0, 9, (3, 5))),
    "embedding padding": layer(
        lambda nn: nn.Embedding(9, 65, padding_idx=2), lambda rng: rng.integers(0, 9, (30,))
    ),
    "embedding bag": layer(lambda nn: nn.EmbeddingBag(9, 4), lambda rng: rng.integers(0, 9, (3, 5))),
    "embedding bag maxima": layer(
        lambda nn: nn.EmbeddingBag(9, 4, mode="max", padding_idx=2),
        lambda rng: rng.integers(0, 9, (30,)),
        lambda rng: np.array([0, 3, 3, 20]),
    ),
    "embedding bag weighted": layer(
        lambda nn: nn.EmbeddingBag(9, 65, mode="sum", include_last_offset=True),
        lambda rng: rng.integers(0, 9, (8,)),
        lambda rng: np.array([0, 5, 8]),
        (8,),
    ),
}
