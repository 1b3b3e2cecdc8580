"""Weights of GPT-2 under the names, and in the layout, that Hugging Face publishes."""

import math

import numpy as np
import pytest
import safetensors.torch
import torch

import ocl

VOCABULARY, POSITIONS, WIDTH, HEADS, LAYERS = 61, 16, 24, 3, 2


def make_gpt2(library):
    """A small GPT-2 in the terms of ocl, or of torch: the same text serves both."""
    nn = library.nn

    class Conv1D(nn.Module):
        """A linear layer whose weight is [in, out]."""

        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight = nn.Parameter(library.randn(inputs, outputs) * 0.2)
            self.bias = nn.Parameter(library.randn(outputs) * 0.2)

        def forward(self, x):
            return x @ self.weight + self.bias

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            visible = library.tril(library.ones(POSITIONS, POSITIONS)).reshape(1, 1, POSITIONS, POSITIONS)
            self.register_buffer("bias", visible != 0)
            self.c_attn = Conv1D(WIDTH, 3 * WIDTH)
            self.c_proj = Conv1D(WIDTH, WIDTH)

        def forward(self, x):
            batch, length, _ = x.shape
            heads = (batch, length, HEADS, WIDTH // HEADS)
            query, key, value = (
                part.reshape(heads).transpose(1, 2) for part in self.c_attn(x).split(WIDTH, 2)
            )
            scores = query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
            hidden = self.bias[:, :, :length, :length] == 0
            weights = scores.masked_fill(hidden, -1e9).softmax(-1)
            return self.c_proj((weights @ value).transpose(1, 2).reshape(batch, length, WIDTH))

    class Perceptron(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_fc = Conv1D(WIDTH, 4 * WIDTH)
            self.c_proj = Conv1D(4 * WIDTH, WIDTH)

        def forward(self, x):
            return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1 = nn.LayerNorm(WIDTH)
            self.attn = Attention()
            self.ln_2 = nn.LayerNorm(WIDTH)
            self.mlp = Perceptron()

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class GPT2(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(VOCABULARY, WIDTH)
            self.wpe = nn.Embedding(POSITIONS, WIDTH)
            self.h = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.ln_f = nn.LayerNorm(WIDTH)

        def forward(self, tokens):
            x = self.wte(tokens) + self.wpe(library.arange(tokens.shape[1]))
            for block in self.h:
                x = block(x)
            return self.ln_f(x) @ self.wte.weight.t()

    return GPT2()


def save_safetensors(state, path):
    safetensors.torch.save_file(
        {name: tensor.contiguous() for name, tensor in state.items()}, path, {"format": "pt"}
    )


@pytest.mark.parametrize("save", [torch.save, save_safetensors], ids=["pth", "safetensors"])
def test_gpt2_loads_by_name(tmp_path, save):
    torch.manual_seed(0)
    theirs, ours = make_gpt2(torch), make_gpt2(ocl)
    state = theirs.state_dict()
    assert state["h.1.attn.c_attn.weight"].shape == (WIDTH, 3 * WIDTH)
    save(state, tmp_path / "weights")
    loaded = ocl.load(tmp_path / "weights")
    assert set(loaded) == set(state)
    ours.load_state_dict(loaded)
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, (2, 11))
    np.testing.assert_allclose(
        ours(ocl.tensor(tokens)).detach().numpy(),
        theirs(torch.tensor(tokens)).detach().numpy(),
        rtol=1e-3,
        atol=1e-4,
    )
