"""Weights and data that both libraries are given."""

import numpy as np
import torch

RNG = np.random.default_rng(3)


def floats(*shape):
    return torch.from_numpy(RNG.standard_normal(shape).astype(np.float32))


def uniform(*shape):
    return torch.from_numpy(RNG.random(shape).astype(np.float32))


def integers(high, *shape):
    return torch.from_numpy(RNG.integers(high, size=shape))


def fill(module):
    for parameter in module.parameters():
        parameter.data.copy_(floats(*parameter.shape) * 0.1)
    return module


def seeded(module):
    """Gives matrices the size 1/sqrt(fan_in) and biases small numbers, of NumPy's; norms stay as they are."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            parameter.data.copy_(floats(*parameter.shape) / parameter[0].numel() ** 0.5)
        elif not bool((parameter == 1).all()):
            parameter.data.copy_(floats(*parameter.shape) * 0.05)
    return module


def report(loss):
    print(f"LOSS {float(loss):.6f}")
