"""Where samples come from: datasets by index, datasets as streams, and what is put together of them."""

import bisect
import itertools
import math
from typing import Generic, TypeVar

import numpy as np

import ocl

from .random_source import RandomSource

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_T = TypeVar("_T", covariant=True)


class Dataset(Generic[_T]):
    """A map from indices to samples; subclasses define ``__getitem__`` and ``__len__``.

    A sample is an array or a number, or a tuple, list or dict of samples. A subclass may define
    ``__getitems__(indices)``, which gives a list of samples at once. Matches torch.utils.data.Dataset.
    """

    # Without a __len__, as PyTorch's: of a dataset that has none, Python says so.

    def __getitem__(self, index) -> _T:
        raise NotImplementedError(f"{type(self).__name__}.__getitem__")

    def __add__(self, other):
        return ConcatDataset([self, other])

    def arrays(self):
        """The whole dataset as a tuple of NumPy arrays, first dimension = sample, such that
        ``dataset[i] == tuple(array[i] for array in arrays)``; a loader then cuts whole batches out of them.
        None (the default) when samples must be asked for one by one.
        """
        return None


class IterableDataset(Dataset[_T]):
    """Samples in the order in which ``__iter__``, which subclasses define, yields them.

    In a loader's worker process ``get_worker_info()`` says which of the samples are this worker's to yield.
    Each worker has a copy of the dataset, and a sample that two of them yield comes twice. Matches
    torch.utils.data.IterableDataset.
    """

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__}.__iter__")

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are the rows of arrays: ``dataset[i]`` is ``(arrays[0][i], arrays[1][i], ...)``.

    Matches torch.utils.data.TensorDataset. The rows of ocl tensors are tensors, those of NumPy arrays
    arrays. A loader reads all of them on the host, to which ocl tensors are downloaded once, here.

    Args:
        *tensors: NumPy arrays or ocl tensors, any dtype, with the same first dimension.

    Raises:
        ValueError: no tensor, a tensor without dimensions, or first dimensions that differ.
    """

    def __init__(self, *tensors):
        self.tensors = tuple(t if isinstance(t, ocl.Tensor) else np.asarray(t) for t in tensors)
        if not self.tensors or any(tensor.ndim == 0 for tensor in self.tensors):
            raise ValueError("TensorDataset: expected one or more tensors of at least 1 dimension")
        lengths = [len(tensor) for tensor in self.tensors]
        if len(set(lengths)) > 1:
            raise ValueError(f"TensorDataset: first dimensions must be equal, given {lengths}")
        self._arrays = tuple(t.numpy(force=True) if isinstance(t, ocl.Tensor) else t for t in self.tensors)

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return len(self.tensors[0])

    def arrays(self):
        return self._arrays


class StackDataset(Dataset[_T]):
    """``dataset[i]`` is the tuple of the i-th samples of datasets; given by name, a dict of them.

    Matches torch.utils.data.StackDataset.

    Raises:
        ValueError: no dataset, datasets with and without a name, or lengths that differ.
    """

    def __init__(self, *args, **kwargs):
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: expected datasets, either all or none of them with a name")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in args or kwargs.values()]
        if len(set(lengths)) > 1:
            raise ValueError(f"StackDataset: datasets must be of equal length, given {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset[_T]):
    """The samples of several datasets, one dataset after the other. Matches torch.utils.data.ConcatDataset.

    Raises:
        ValueError: no dataset, or (on indexing) an index beyond the beginning.
        TypeError: an IterableDataset, which has no indices.
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise TypeError("ConcatDataset: does not support IterableDataset; ChainDataset does")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("ConcatDataset: absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, index)
        if number == len(self.datasets):
            raise IndexError(f"ConcatDataset: index {index} of a dataset of length {len(self)}")
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][index - before]


class ChainDataset(IterableDataset[_T]):
    """The samples of several IterableDatasets, one after the other. Matches torch.utils.data.ChainDataset.

    Raises:
        TypeError: (while iterating) a dataset that is no IterableDataset.
    """

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for dataset in self._checked():
            yield from dataset

    def __len__(self):
        return sum(len(dataset) for dataset in self._checked())

    def _checked(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError("ChainDataset: only supports IterableDataset")
            yield dataset


class Subset(Dataset[_T]):
    """The samples of `dataset` at `indices` (integers, in that order). Matches torch.utils.data.Subset.

    Raises:
        TypeError: an index that is no integer.
        IndexError: an index outside of the dataset.
    """

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = np.asarray(indices)
        if self.indices.size == 0:
            self.indices = self.indices.astype(np.int64)
        if self.indices.ndim != 1 or not np.issubdtype(self.indices.dtype, np.integer):
            raise TypeError("Subset: indices must be a sequence of integers")
        size = len(dataset)
        outside = self.indices[(self.indices < -size) | (self.indices >= size)]
        if outside.size:
            raise IndexError(f"Subset: index {outside[0]} of a dataset of length {size}")

    def __getitem__(self, index):
        return self.dataset[int(self.indices[index])]

    def __len__(self):
        return len(self.indices)

    def arrays(self):
        arrays = whole_arrays(self.dataset)
        return None if arrays is None else tuple(array[self.indices] for array in arrays)


def random_split(dataset, lengths, generator=None):
    """Splits a dataset at random into Subsets of the given lengths. Matches torch.utils.data.random_split.

    Args:
        lengths: integers that add up to the dataset's length, or fractions that add up to 1; what rounding
            leaves over goes to the first subsets, one sample each.
        generator: where the order comes from, as that of DataLoader.

    Raises:
        ValueError: lengths that do not add up, or a fraction outside of 0 to 1.
    """
    size = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(lengths, size)
    if sum(lengths) != size:
        raise ValueError(
            f"random_split: lengths {list(lengths)} do not add up to the dataset's length {size}"
        )
    order = RandomSource(generator).stream().permutation(size)
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _from_fractions(fractions, size):
    for number, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"random_split: fraction {fraction} at index {number} is not between 0 and 1")
    lengths = [math.floor(size * fraction) for fraction in fractions]
    for number in range(size - sum(lengths)):
        lengths[number % len(lengths)] += 1
    return lengths


def whole_arrays(dataset):
    """The result of ``dataset.arrays()``; None where there is no such method."""
    arrays = getattr(dataset, "arrays", None)
    return None if arrays is None else arrays()
