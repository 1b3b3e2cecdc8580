"""Every module, one file a family and one row a module; what runs them is test_layer_modules.py.

    LAYERS = {
        "linear": layer(lambda nn: nn.Linear(7, 5), (4, 7)),
        "embedding": layer(lambda nn: nn.Embedding(9, 4), lambda rng: rng.integers(0, 9, (3, 5))),
    }

`nn` is torch.nn or ocl.nn. An input is a shape, which stands for normally distributed floats, or a function
of NumPy's generator that gives an array; floating inputs require gradients.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Layer:
    """units: what an error may have beyond 4 times PyTorch's, in the last place of the largest element."""

    build: Callable
    inputs: tuple
    units: int = 4

    def draw(self, rng):
        """The inputs as arrays."""
        return [
            i(rng) if callable(i) else (rng.standard_normal(i) * 2).astype(np.float32) for i in self.inputs
        ]


def layer(build, *inputs, units=4):
    return Layer(build, inputs, units)


def every_layer():
    """The rows of all families."""
    rows = {}
    for module in pkgutil.iter_modules(__path__):
        family = importlib.import_module(f"layers.{module.name}").LAYERS
        assert not rows.keys() & family.keys(), f"names of {module.name} are taken"
        rows |= family
    return rows
