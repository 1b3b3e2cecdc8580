"""CIFAR-10 and CIFAR-100 from their archives for Python."""

import io
import pickle
import tarfile
from pathlib import Path

import numpy as np

from ocl import _C

from .download import DatasetNotFoundError, download, has_md5
from .vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100"]


class CIFAR10(VisionDataset):
    """Colour photographs, 32×32, of 10 classes; 50,000 to train and 10,000 to test.

    Matches torchvision.datasets.CIFAR10.

    ``dataset[i]`` is ``(image, target)``: a Pillow image and an int. Attributes: `data` uint8 (N, 32, 32, 3),
    `targets`, `classes`, `class_to_idx`.

    Args:
        root: the folder that has, or gets, the folder cifar-10-batches-py.
        train: the training set, or else the test set.
        transform, target_transform: called with each image, each target.
        download: fetch and unpack the archive where files are missing.

    Raises:
        DatasetNotFoundError: files are missing, or have another checksum.
        DownloadError: the archive could not be fetched.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        self._folder = Path(self.root) / self.base_folder
        if download:
            self.download()
        damaged = [name for name, md5 in self._files() if not has_md5(self._folder / name, md5)]
        if damaged:
            raise DatasetNotFoundError(
                f"Dataset not found or corrupted: {', '.join(damaged)} in {self._folder}. "
                "You can use download=True to download it"
            )
        batches = [self._read(name) for name, _ in (self.train_list if train else self.test_list)]
        self.data = (
            np.vstack([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        )
        self.targets = [label for batch in batches for label in batch.get("labels", batch.get("fine_labels"))]
        self.classes = self._read(self.meta["filename"])[self.meta["key"]]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def download(self):
        """Fetches and unpacks the archive where files are missing."""
        if all(has_md5(self._folder / name, md5) for name, md5 in self._files()):
            return
        archive = Path(self.root) / self.filename
        if not has_md5(archive, self.tgz_md5):
            download([self.url], archive, self.tgz_md5, f"put it into {self.root}")
        self._folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            for name, _ in self._files():
                content = tar.extractfile(f"{self.base_folder}/{name}").read()
                _C._data.write_file(self._folder / name, content)

    def _files(self):
        return [*self.train_list, *self.test_list, [self.meta["filename"], self.meta["md5"]]]

    def _read(self, name):
        return _ArrayUnpickler(io.BytesIO((self._folder / name).read_bytes()), encoding="latin1").load()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        from ocl.pillow import Image

        return self._transformed(Image.fromarray(self.data[index]), self.targets[index])

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """Pictures of 100 classes, in the folder cifar-100-python. Matches torchvision.datasets.CIFAR100."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}


class _ArrayUnpickler(pickle.Unpickler):
    """Makes NumPy's arrays and plain Python's values, and refuses whatever else a pickle may ask for."""

    def find_class(self, module, name):
        if (module.replace("numpy._core", "numpy.core"), name) in _ALLOWED:
            return super().find_class(module.replace("numpy.core", np.core.__name__), name)
        raise pickle.UnpicklingError(f"a file of arrays asks for {module}.{name}")


_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
