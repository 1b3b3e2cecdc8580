"""BERT in either library, as Hugging Face computes it: one definition, so that both do the same."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """Sizes of a net; those of BERT-base by default."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    words: int = 30522
    longest: int = 512


def make_bert(library, sizes):
    """Embeddings, the encoder and the pooler; gives [sentences, width] of the first word."""
    nn, F = library.nn, library.nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            width = sizes.width
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
            self.attended, self.wider = nn.Linear(width, width), nn.Linear(width, 4 * width)
            self.narrower = nn.Linear(4 * width, width)
            self.norm_1, self.norm_2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

        def attention(self, x):
            sentences, length, width = x.shape

            def by_heads(y):
                return y.reshape(sentences, length, sizes.heads, width // sizes.heads).transpose(1, 2)

            parts = (by_heads(part(x)) for part in (self.query, self.key, self.value))
            y = F.scaled_dot_product_attention(*parts)
            return self.attended(y.transpose(1, 2).reshape(sentences, length, width))

        def forward(self, x):
            x = self.norm_1(x + self.attention(x))
            return self.norm_2(x + self.narrower(F.gelu(self.wider(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(sizes.words, sizes.width)
            self.places = nn.Parameter(0.02 * library.randn(sizes.longest, sizes.width))
            self.kinds = nn.Parameter(0.02 * library.randn(2, sizes.width))
            self.norm = nn.LayerNorm(sizes.width, eps=1e-12)
            self.layers = nn.ModuleList([Layer() for _ in range(sizes.layers)])
            self.pooler = nn.Linear(sizes.width, sizes.width)
            nn.init.normal_(self.words.weight, std=0.02)

        def forward(self, words):
            x = self.norm(self.words(words) + self.places[: words.shape[1]] + self.kinds[0])
            for layer in self.layers:
                x = layer(x)
            return self.pooler(x[:, 0]).tanh()

    return Net()


def bert_batch(sizes, sentences, length):
    """Words, int64 [sentences, length], the same every time."""
    return np.random.default_rng(0).integers(0, sizes.words, (sentences, length))
