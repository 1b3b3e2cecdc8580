"""Images of noise, for tests and measurements."""

import numpy as np

from ocl import host_random

from .vision import VisionDataset

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """``dataset[i]`` is a Pillow image of noise and a class, the same at every call.

    Matches torchvision.datasets.FakeData.

    Args:
        size: how many.
        image_size: (channels, height, width), 1 or 3 channels.
        num_classes: how many classes.
        random_offset: another one gives other images.
    """

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.image_size = image_size
        self.num_classes = num_classes
        self.random_offset = random_offset

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        from ocl.pillow import Image

        if not -self.size <= index < self.size:
            raise IndexError(f"{type(self).__name__} index out of range")
        stream = host_random.new_stream(index % self.size, self.random_offset)
        channels, height, width = self.image_size
        pixels = stream.integers(0, 256, (height, width, channels), np.uint8)
        image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
        return self._transformed(image, int(stream.integers(self.num_classes)))
