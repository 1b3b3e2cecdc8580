"""GPT-2 in either library: one definition, so that both do the same."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """Sizes of a net and of its training data; those of GPT-2 small by default."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    words: int = 50257
    length: int = 1024
    sentences: int = 8

    @property
    def title(self):
        return (
            f"GPT-2, {self.layers} layers of {self.width}, {self.heads} heads, {self.words} words, "
            f"batch {self.sentences} x {self.length}, AdamW"
        )


def make_gpt2(library, sizes):
    """Without dropout, the head tied to the embedding; gives [sentences * length, words]."""
    nn, F = library.nn, library.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1 = nn.LayerNorm(sizes.width)
            self.attn = nn.Linear(sizes.width, 3 * sizes.width)
            self.proj = nn.Linear(sizes.width, sizes.width)
            self.ln_2 = nn.LayerNorm(sizes.width)
            self.fc = nn.Linear(sizes.width, 4 * sizes.width)
            self.fc_proj = nn.Linear(4 * sizes.width, sizes.width)

        def attention(self, x):
            batch, length, width = x.shape
            heads = self.attn(x).reshape(batch, length, 3, sizes.heads, width // sizes.heads)
            query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            return self.proj(y.transpose(1, 2).reshape(batch, length, width))

        def forward(self, x):
            x = x + self.attention(self.ln_1(x))
            return x + self.fc_proj(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(sizes.words, sizes.width)
            self.wpe = nn.Parameter(0.02 * library.randn(sizes.length, sizes.width))
            self.blocks = nn.ModuleList([Block() for _ in range(sizes.layers)])
            self.ln_f = nn.LayerNorm(sizes.width)
            nn.init.normal_(self.wte.weight, std=0.02)

        def forward(self, words):
            x = self.wte(words) + self.wpe
            for block in self.blocks:
                x = block(x)
            return F.linear(library.flatten(self.ln_f(x), 0, 1), self.wte.weight)

    return Net()


def gpt2_batch(sizes):
    """(words [sentences, length], the next ones [sentences * length]), the same every time."""
    generator = np.random.default_rng(0)
    words = generator.integers(0, sizes.words, (sizes.sentences, sizes.length + 1))
    return np.ascontiguousarray(words[:, :-1]), words[:, 1:].reshape(-1)
