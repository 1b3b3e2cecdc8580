"""The common part of datasets of images."""

import os

from ocl.utils.data import Dataset

__all__ = ["StandardTransform", "VisionDataset"]


class VisionDataset(Dataset):
    """A dataset with a place and transforms. Matches torchvision.datasets.VisionDataset.

    Args:
        root: the folder of the files.
        transforms: called with image and target, gives both.
        transform: called with each image.
        target_transform: called with each target.

    Raises:
        ValueError: `transforms` along with one of the others.
    """

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        are_separate = transform is not None or target_transform is not None
        if transforms is not None and are_separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if are_separate else transforms

    def _transformed(self, image, target):
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def extra_repr(self):
        """More lines of repr."""
        return ""

    def __repr__(self):
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines.append(repr(self.transforms))
        return "\n".join([f"Dataset {type(self).__name__}", *(f"    {line}" for line in lines)])


class StandardTransform:
    """Two transforms as one of image and target. Matches torchvision.datasets.vision.StandardTransform."""

    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, image, target):
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __repr__(self):
        parts = [("Transform: ", self.transform), ("Target transform: ", self.target_transform)]
        shown = [_indented(head, transform) for head, transform in parts if transform is not None]
        return "\n".join([type(self).__name__, *shown])


def _indented(head, transform):
    return head + repr(transform).replace("\n", "\n" + " " * len(head))
