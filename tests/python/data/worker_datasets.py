"""Datasets that worker processes import: light, so that a worker is there quickly."""

import collections
import io
import os
import random
import signal
import sys
import time

import numpy as np

from ocl import host_random
from ocl.utils.data import Dataset, IterableDataset, get_worker_info

Point = collections.namedtuple("Point", "x y")


class Rows(Dataset):
    """Sample i is (row of i, i)."""

    def __init__(self, size=20, width=3):
        self.size = size
        self.width = width

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return np.full(self.width, index, np.float32), index


class Photographs(Dataset):
    """JPEG files in memory, decoded and cut as for a training."""

    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image

        from ocl import transforms

        prepare = transforms.Compose([transforms.RandomResizedCrop(64), transforms.ToTensor()])
        return prepare(Image.open(io.BytesIO(self.files[index])))


class Drawing(Rows):
    """Numbers of three random sources."""

    def __getitem__(self, index):
        return index, host_random.uniform(), random.random(), np.random.rand()


class Misbehaving(Rows):
    """Does `what` when asked for sample `at`."""

    def __init__(self, what, at=5, size=20):
        super().__init__(size)
        self.what = what
        self.at = at

    def __getitem__(self, index):
        if index == self.at:
            getattr(self, self.what)()
        return super().__getitem__(index)

    def raise_value_error(self):
        raise ValueError("this sample is bad")

    def raise_key_error(self):
        raise KeyError("missing")

    def raise_stop_iteration(self):
        raise StopIteration

    def raise_own_error(self):
        raise ErrorOfTwoArguments("one", "two")

    def raise_huge_error(self):
        raise ValueError("x" * 1_000_000)

    def exit(self):
        sys.exit(3)

    def abort(self):
        os._exit(7)

    def kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self):
        time.sleep(1000)


class ErrorOfTwoArguments(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


class Nested(Rows):
    def __getitem__(self, index):
        return {
            "image": np.full((2, 2), index, np.uint8),
            "name": f"sample {index}",
            "points": Point(index, [float(index), index % 2 == 0]),
        }


class Stream(IterableDataset):
    """0 to size - 1, shared out among the workers."""

    def __init__(self, size=10):
        self.size = size

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, self.size, step))


class UnevenStream(IterableDataset):
    """Worker 0 gives 7 samples, the others 1 each."""

    def __iter__(self):
        return iter(range(7) if get_worker_info().id == 0 else [100])


class WorkerIdentity(Rows):
    """Which process made a sample, by which seed, after how it was introduced."""

    introduced = -1

    def __getitem__(self, index):
        info = get_worker_info()
        assert info.dataset is self
        return index, os.getpid(), info.id, info.num_workers, info.seed, self.introduced


class Opener:
    """A worker_init_fn that leaves a mark on the worker's copy of the dataset."""

    def __call__(self, worker_id):
        get_worker_info().dataset.introduced = worker_id * 10


def failing_worker_init(worker_id):
    raise OSError(f"worker {worker_id} cannot open its file")


def widths(samples):
    """A collate_fn for ragged samples."""
    return {"count": len(samples), "total": np.array([len(row) for row, _ in samples])}


class Ragged(Rows):
    def __getitem__(self, index):
        return np.zeros(index % 3 + 1, np.float32), index
