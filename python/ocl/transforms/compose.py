"""Transforms made of transforms."""

from collections.abc import Sequence

from ocl import host_random

__all__ = ["Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder"]


class _Listed:
    """Shows one transform a line."""

    def __init__(self, transforms):
        self.transforms = transforms

    def _heading(self):
        return ""

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({self._heading()}{lines}\n)"


class Compose(_Listed):
    """One transform after the other. Matches torchvision.transforms.Compose."""

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img


class RandomApply(Compose):
    """All of a list of transforms with probability `p`, or none. Matches
    torchvision.transforms.RandomApply.
    """

    def __init__(self, transforms, p=0.5):
        super().__init__(transforms)
        self.p = p

    def _heading(self):
        return f"\n    p={self.p}"

    def __call__(self, img):
        return img if self.p < host_random.uniform() else super().__call__(img)


class _RandomTransforms(_Listed):
    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        super().__init__(transforms)


class RandomOrder(_RandomTransforms):
    """All of a list of transforms in random order. Matches torchvision.transforms.RandomOrder."""

    def __call__(self, img):
        for number in host_random.permutation(len(self.transforms)):
            img = self.transforms[number](img)
        return img


class RandomChoice(_RandomTransforms):
    """One of a list of transforms, by the weights `p`. Matches torchvision.transforms.RandomChoice."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return host_random.choose(self.transforms, self.p)(*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


class Lambda:
    """A function as a transform; workers cannot get a lambda. Matches torchvision.transforms.Lambda."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"
