"""Small image datasets for examples and tests: MNIST from its own files, and scikit-learn's digits.

Both give ``(image, target)``: image float32 (1, 28, 28), normalised by MNIST's mean and standard deviation as
PyTorch's MNIST example does, target int64.
"""

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path

import numpy as np

from . import _C
from .utils.data import Dataset

__all__ = ["MNIST", "Digits", "DownloadError"]

MEAN, STD = 0.1307, 0.3081


class DownloadError(OSError):
    """A dataset's files are not here and could not be fetched; the message says where to put them."""


class _ImageDataset(Dataset):
    """Bytes and labels in memory: `data` uint8 (N, 28, 28), `targets` int64 (N)."""

    def __init__(self, data, targets, transform):
        self.data = data
        self.targets = targets
        self.transform = transform
        self._images = None

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        if self.transform is None:
            return _normalise(self.data[index]), self.targets[index]
        return self.transform(self.data[index]), self.targets[index]

    def arrays(self):
        """Images float32 (N, 1, 28, 28), normalised, and targets int64 (N); None with a transform."""
        if self.transform is not None:
            return None
        if self._images is None:
            self._images = _normalise(self.data)
        return self._images, self.targets


class MNIST(_ImageDataset):
    """Handwritten digits, 60,000 to train and 10,000 to test. As torchvision.datasets.MNIST.

    ``dataset[i]`` is ``(image, target)``: image float32 (1, 28, 28), normalised; with a transform, what the
    transform makes of the uint8 (28, 28) array.

    Args:
        root: the folder of the IDX files, plain or .gz; they may lie in MNIST/raw below it, where torchvision
            keeps them. None: ``$XDG_CACHE_HOME/tapecl/datasets/mnist``, by default below ``~/.cache``.
        train: the training set, or else the test set.
        transform: called with each uint8 (28, 28) array.
        download: fetch the files that are missing.

    Raises:
        FileNotFoundError: files are missing and `download` is False.
        DownloadError: files are missing and could not be fetched.
        OSError: a file is damaged, or images and labels disagree.
    """

    def __init__(self, root=None, train=True, transform=None, download=True):
        root = Path(root).expanduser() if root is not None else default_root()
        part = "train" if train else "t10k"
        images_path = _find_or_fetch(root, f"{part}-images-idx3-ubyte", download)
        labels_path = _find_or_fetch(root, f"{part}-labels-idx1-ubyte", download)
        # The headers are judged before anything is unpacked.
        shape = _C._data.read_idx_shape(images_path)
        labels_shape = _C._data.read_idx_shape(labels_path)
        if len(shape) != 3 or shape[1:] != (28, 28):
            raise OSError(f"{images_path}: expected images of shape (N, 28, 28), the file has {shape}")
        if labels_shape != shape[:1]:
            raise OSError(f"{labels_path}: labels of shape {labels_shape} for {shape[0]} images")
        images = _C._data.read_idx(images_path)
        labels = _C._data.read_idx(labels_path)
        if labels.size and labels.max() > 9:
            raise OSError(f"{labels_path}: label {labels.max()} is not a digit")
        super().__init__(images, labels.astype(np.int64), transform)


class Digits(_ImageDataset):
    """The 1,797 digits that come with scikit-learn, 8×8 pixels, enlarged to MNIST's 28×28 with its margin.

    A stand-in for MNIST where there is no network, with the same interface. The last 297 are the test set.

    Raises:
        ImportError: scikit-learn is not installed.
    """

    def __init__(self, train=True, transform=None):
        try:
            from sklearn.datasets import load_digits
        except ImportError as error:
            raise ImportError("Digits: needs scikit-learn (pip install scikit-learn)") from error
        digits = load_digits()
        rows = slice(None, -297) if train else slice(-297, None)
        super().__init__(_enlarge(digits.images[rows]), digits.target[rows].astype(np.int64), transform)


def default_root():
    """``$XDG_CACHE_HOME/tapecl/datasets/mnist``, by default below ``~/.cache``."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tapecl" / "datasets" / "mnist"


def _normalise(images):
    scaled = images[..., None, :, :].astype(np.float32)
    scaled *= np.float32(1 / (255 * STD))
    scaled -= np.float32(MEAN / STD)
    return scaled


def _enlarge(images):
    """(N, 8, 8) with values 0 to 16 → uint8 (N, 28, 28): bilinear to 20×20, centred."""
    size, margin = 20, 4
    positions = np.clip((np.arange(size) + 0.5) * 8 / size - 0.5, 0, 7)
    weights = np.maximum(0, 1 - np.abs(positions[:, None] - np.arange(8)))
    large = weights @ images @ weights.T
    pixels = np.rint(large * (255 / 16)).astype(np.uint8)
    return np.pad(pixels, [(0, 0), (margin, margin), (margin, margin)])


# --- fetching ---

_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
_MD5 = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}
_TIMEOUT_SECONDS = 5


def _find_or_fetch(root, name, download):
    folders = (root, root / "MNIST" / "raw")
    for path in (folder / file for folder in folders for file in (name, f"{name}.gz")):
        if path.exists():
            return path
    if not download:
        raise FileNotFoundError(f"MNIST: no file {name} or {name}.gz in {folders[0]} or {folders[1]}")
    return _fetch(root / f"{name}.gz")


def _fetch(path):
    """Downloads path.name to `path` from the first mirror that has it whole."""
    failures = []
    for mirror in _MIRRORS:
        try:
            content = _download(mirror + path.name)
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{mirror}: {error}")
            continue
        if hashlib.md5(content, usedforsecurity=False).hexdigest() == _MD5[path.name]:
            path.parent.mkdir(parents=True, exist_ok=True)
            _C._data.write_file(path, content)
            return path
        failures.append(f"{mirror}: wrong MD5 checksum")
    raise DownloadError(
        f"MNIST: cannot download {path.name} ({'; '.join(failures)}); put the files "
        f"{', '.join(_MD5)} into {path.parent}"
    )


def _download(url):
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
        return response.read()
