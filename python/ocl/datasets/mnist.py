"""MNIST and its kin from their own files, and scikit-learn's digits.

All give ``(image, target)``: image float32 (1, 28, 28), normalised by MNIST's mean and standard deviation as
PyTorch's MNIST example does, target int64.
"""

import os
from pathlib import Path

import numpy as np

from ocl import _C

from .download import DatasetNotFoundError, download
from .vision import VisionDataset

__all__ = ["MNIST", "Digits", "FashionMNIST"]


class _ImageDataset(VisionDataset):
    """Bytes and labels in memory: `data` uint8 (N, 28, 28), `targets` int64 (N)."""

    mean, std = 0.1307, 0.3081

    def __init__(self, data, targets, root, transform, target_transform):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.data = data
        self.targets = targets
        self._images = None

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image = self.data[index]
        return self._transformed(
            self._normalised(image) if self.transform is None else image, self.targets[index]
        )

    def arrays(self):
        """Images float32 (N, 1, 28, 28), normalised, and targets int64 (N); None with a transform."""
        if self.transforms is not None:
            return None
        if self._images is None:
            self._images = self._normalised(self.data)
        return self._images, self.targets

    def _normalised(self, images):
        scaled = images[..., None, :, :].astype(np.float32)
        scaled *= np.float32(1 / (255 * self.std))
        scaled -= np.float32(self.mean / self.std)
        return scaled


class MNIST(_ImageDataset):
    """Handwritten digits, 60,000 to train and 10,000 to test. Matches torchvision.datasets.MNIST.

    ``dataset[i]`` is ``(image, target)``: image float32 (1, 28, 28), normalised; with a transform, what the
    transform makes of the uint8 (28, 28) array, which ocl.transforms take for a gray image.

    Args:
        root: the folder of the IDX files, plain or .gz; they may lie in MNIST/raw below it, where torchvision
            keeps them. None: ``$XDG_CACHE_HOME/tapecl/datasets/mnist``, by default below ``~/.cache``.
        train: the training set, or else the test set.
        transform: called with each uint8 (28, 28) array.
        target_transform: called with each target.
        download: fetch the files that are missing.

    Raises:
        DatasetNotFoundError: files are missing and `download` is False; a FileNotFoundError.
        DownloadError: files are missing and could not be fetched.
        OSError: a file is damaged, or images and labels disagree.
    """

    mirrors = [
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ]
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=True):
        root = default_root(type(self).__name__) if root is None else Path(root).expanduser()
        self.train = train
        part = "train" if train else "t10k"
        images_path = self._find_or_fetch(root, f"{part}-images-idx3-ubyte", download)
        labels_path = self._find_or_fetch(root, f"{part}-labels-idx1-ubyte", download)
        images, labels = _read(images_path, labels_path)
        super().__init__(images, labels, root, transform, target_transform)

    @property
    def class_to_idx(self):
        return {name: number for number, name in enumerate(self.classes)}

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"

    @classmethod
    def _folders(cls, root):
        """Where files may lie; they are downloaded into the first."""
        return root, root / "MNIST" / "raw"

    @classmethod
    def _find_or_fetch(cls, root, name, may_download):
        folders = cls._folders(root)
        for path in (folder / file for folder in folders for file in (name, f"{name}.gz")):
            if path.exists():
                return path
        if not may_download:
            if not root.is_dir():
                raise DatasetNotFoundError(f"{cls.__name__}: there is no folder {root.absolute()}")
            places = " or ".join(str(folder.absolute()) for folder in folders)
            raise DatasetNotFoundError(f"{cls.__name__}: no file {name} or {name}.gz in {places}")
        path = folders[0] / f"{name}.gz"
        checksums = dict(cls.resources)
        place = path.parent.absolute()
        new = "" if place.is_dir() else ", a folder that does not exist yet"
        files = f"the {len(checksums)} files of {cls.__name__}"
        advice = f"put {files} into {place}{new}, or name their folder as `root`"
        download([mirror + path.name for mirror in cls.mirrors], path, checksums[path.name], advice)
        return path


class FashionMNIST(MNIST):
    """Articles of clothing in MNIST's format, below root/FashionMNIST/raw.

    Matches torchvision.datasets.FashionMNIST.
    ``dataset[i]`` without a transform is normalised by this dataset's mean and standard deviation.
    """

    mean, std = 0.2860, 0.3530
    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, train, transform, target_transform, download)

    @classmethod
    def _folders(cls, root):
        return (root / "FashionMNIST" / "raw",)


class Digits(_ImageDataset):
    """The 1,797 digits that come with scikit-learn, 8×8 pixels, enlarged to MNIST's 28×28 with its margin.

    A stand-in for MNIST where there is no network, with the same interface. The last 297 are the test set.

    Raises:
        ImportError: scikit-learn is not installed.
    """

    def __init__(self, train=True, transform=None, target_transform=None):
        try:
            from sklearn.datasets import load_digits
        except ImportError as error:
            raise ImportError("Digits: needs scikit-learn (pip install scikit-learn)") from error
        digits = load_digits()
        rows = slice(None, -297) if train else slice(-297, None)
        images, labels = _enlarge(digits.images[rows]), digits.target[rows].astype(np.int64)
        super().__init__(images, labels, None, transform, target_transform)


def default_root(name="MNIST"):
    """``$XDG_CACHE_HOME/tapecl/datasets/mnist``, by default below ``~/.cache``."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tapecl" / "datasets" / name.lower()


def _read(images_path, labels_path):
    """Images (N, 28, 28) and labels; the headers are judged before anything is unpacked."""
    shape = _C._data.read_idx_shape(images_path)
    labels_shape = _C._data.read_idx_shape(labels_path)
    if len(shape) != 3 or shape[1:] != (28, 28):
        raise OSError(f"{images_path}: expected images of shape (N, 28, 28), the file has {shape}")
    if labels_shape != shape[:1]:
        raise OSError(f"{labels_path}: labels of shape {labels_shape} for {shape[0]} images")
    images = _C._data.read_idx(images_path)
    labels = _C._data.read_idx(labels_path)
    if labels.size and labels.max() > 9:
        raise OSError(f"{labels_path}: label {labels.max()} is not one of 10 classes")
    return images, labels.astype(np.int64)


def _enlarge(images):
    """(N, 8, 8) with values 0 to 16 → uint8 (N, 28, 28): bilinear to 20×20, centred."""
    size, margin = 20, 4
    positions = np.clip((np.arange(size) + 0.5) * 8 / size - 0.5, 0, 7)
    weights = np.maximum(0, 1 - np.abs(positions[:, None] - np.arange(8)))
    large = weights @ images @ weights.T
    pixels = np.rint(large * (255 / 16)).astype(np.uint8)
    return np.pad(pixels, [(0, 0), (margin, margin), (margin, margin)])
