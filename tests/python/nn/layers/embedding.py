"""Embedding."""

from layers import layer

LAYERS = {
    "embedding": layer(lambda nn: nn.Embedding(9, 4), lambda rng: rng.integers(0, 9, (3, 5))),
    "embedding padding": layer(
        lambda nn: nn.Embedding(9, 65, padding_idx=2), lambda rng: rng.integers(0, 9, (30,))
    ),
}
