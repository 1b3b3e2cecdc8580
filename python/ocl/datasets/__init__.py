"""Image datasets under torchvision's names, read from their published files; and scikit-learn's digits.

MNIST, FashionMNIST and Digits give arrays and need no Pillow; a loader cuts their batches whole.
"""

from .cifar import CIFAR10, CIFAR100
from .download import DatasetNotFoundError, DownloadError
from .fake import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import MNIST, Digits, FashionMNIST
from .vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "DatasetFolder",
    "DatasetNotFoundError",
    "Digits",
    "DownloadError",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "VisionDataset",
]
