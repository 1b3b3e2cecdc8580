"""Draws as an enemy would: sizes around vector widths and tile edges, many dimensions, special values."""

import math

import numpy as np
from cases.harness import Draw, Input

EDGES = (1, 2, 3, 4, 5, *(n + d for n in (8, 16, 32, 64, 128, 256, 1024) for d in (-1, 0, 1)))
SPECIALS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e4, -1e4, 1.0], np.float32)


class HostileDraw(Draw):
    """Draws of at most about `limit` elements a tensor."""

    def __init__(self, seed, limit):
        super().__init__(seed)
        self.limit = limit
        self.has_specials = self.chance(0.2)
        self.magnitude = 1  # of floats, where the operator takes any

    def size(self, largest=9):
        """Mostly small, since most operators draw several; often at an edge."""
        most = min(self.limit, 70 if self.chance(0.3) else largest)
        if self.chance(0.7):
            return self.choice([n for n in EDGES if n <= most])
        return self.integer(1, most)

    def shape(self, low=0, high=4, largest=9, empty=True):
        rank = self.integer(low, 6 if high == 4 else high)
        room, sizes = self.limit, []
        for _ in range(rank):
            fitting = [n for n in EDGES if n <= room]
            long = self.chance(0.4)
            sizes.append(self.choice(fitting) if long else self.choice([n for n in fitting if n <= 5]))
            room = max(1, room // sizes[-1])
        sizes = [sizes[i] for i in self.rng.permutation(rank)]
        if empty and sizes and self.chance(0.08):
            sizes[self.integer(0, rank - 1)] = 0
        return tuple(sizes)

    def floats(self, shape, low=-3.0, high=3.0, layout=None):
        drawn = super().floats(shape, low * self.magnitude, high * self.magnitude, layout)
        if not self.has_specials or drawn.array.size == 0:
            return drawn
        expanded = drawn.layout == "expanded"
        kept = tuple(slice(0, 1) if expanded and s == 0 else slice(None) for s in drawn.array.strides)
        values = np.array(drawn.array[kept])
        places = self.rng.integers(values.size, size=self.integer(1, 3))
        values.flat[places] = self.rng.choice(SPECIALS, places.size)
        return Input(np.broadcast_to(values, drawn.shape) if expanded else values, drawn.layout, drawn.seed)

    def distinct(self, shape, layout=None):
        """One of them may be a special value."""
        drawn = super().distinct(shape, layout)
        if self.has_specials and drawn.array.size:
            place = self.integer(0, drawn.array.size - 1)
            drawn.array.flat[place] = np.nan if self.chance(0.5) else self.choice(SPECIALS)
        return drawn


def described(array, layout="contiguous"):
    """A tensor as text: dtype, shape, layout, and its values where there are few."""
    text = f"{array.dtype}{list(array.shape)}"
    if layout != "contiguous":
        text += f" {layout}"
    if math.prod(array.shape) <= 8:
        text += f" {array.tolist()}"
    elif array.dtype.kind == "f" and not np.isfinite(array).all():
        text += " with nan or inf"
    return text
