"""Mixup (Zhang et al. 2018) and CutMix (Yun et al. 2019) of a batch with itself, moved on by one."""

import numpy as np

import ocl

__all__ = ["Mixing"]


class Mixing:
    """Mixes each batch in one of the ways whose strength is above 0.

    The random numbers depend on `seed` and the batch's number alone, so that a resumed training draws the
    same.
    """

    def __init__(self, mixup, cutmix, seed):
        self._ways = [(way, a) for way, a in ((_mixup, mixup), (_cutmix, cutmix)) if a > 0]
        self._seed = seed

    def __call__(self, images, batch_number):
        """(images, share): `share` of each label is its own, the rest that of the picture before."""
        if not self._ways:
            return images, 1.0
        rng = np.random.default_rng((self._seed, batch_number))
        way, strength = self._ways[rng.integers(len(self._ways))]
        return way(images, float(rng.beta(strength, strength)), rng)


def _mixup(images, share, rng):
    return images * share + images.roll(1, 0) * (1 - share), share


def _cutmix(images, share, rng):
    height, width = images.shape[-2:]
    inside = np.zeros((height, width), np.float32)
    half = np.sqrt(1 - share) / 2
    y, x = rng.integers(height), rng.integers(width)
    rows = slice(max(0, round(y - half * height)), round(y + half * height))
    columns = slice(max(0, round(x - half * width)), round(x + half * width))
    inside[rows, columns] = 1
    mask = ocl.tensor(inside, device=images.device)
    return images + (images.roll(1, 0) - images) * mask, 1 - float(inside.mean())
