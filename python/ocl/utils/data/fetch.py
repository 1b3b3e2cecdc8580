"""From the indices of a batch to the batch, on the host."""

import itertools

import numpy as np

from ocl import _C

from .sampler import as_list

__all__ = ["ArrayFetcher", "IndexFetcher", "StreamFetcher"]


class ArrayFetcher:
    """Cuts whole batches out of arrays; `rows` is a range, an array or a list of indices.

    With `pinned_for`, a device, the batches are new arrays in page-locked memory for it.
    """

    def __init__(self, arrays, pinned_for=None):
        self._arrays = arrays
        self._pinned_for = pinned_for

    def __call__(self, rows):
        if isinstance(rows, range) and rows.step == 1:
            rows = slice(rows.start, rows.stop)
        if self._pinned_for is None:
            return tuple(array[rows] for array in self._arrays)
        return tuple(self._pinned(array, rows) for array in self._arrays)

    def _pinned(self, array, rows):
        if isinstance(rows, slice):
            return _C.pin_memory(array[rows], device=self._pinned_for)
        numbers = np.asarray(rows)
        if numbers.dtype.kind not in "iu" or not _are_within(numbers, len(array)):
            return array[rows]  # no rows, or an error that says what is wrong with them
        batch = _C._pinned_empty([*numbers.shape, *array.shape[1:]], array.dtype, self._pinned_for)
        # Any mode but "raise" writes to `out` without a copy between; negative rows count from the end.
        return np.take(array, numbers, axis=0, out=batch, mode="wrap")


def _are_within(rows, length):
    return rows.size == 0 or (-length <= rows.min() and rows.max() < length)


class IndexFetcher:
    """Asks a dataset for each sample, or for all of a batch where it has ``__getitems__``.

    `indices` is a list of them, or one index where the loader does not batch.
    """

    def __init__(self, dataset, collate, batched):
        self._dataset = dataset
        self._collate = collate
        self._batched = batched

    def __call__(self, indices):
        if not self._batched:
            return self._collate(self._dataset[indices])
        indices = as_list(indices)
        if hasattr(self._dataset, "__getitems__"):
            return self._collate(self._dataset.__getitems__(indices))
        return self._collate([self._dataset[index] for index in indices])


class StreamFetcher:
    """Takes the next samples of an iterable; ``StopIteration`` when there are none.

    `size` is the number of samples, or None where the loader does not batch.
    """

    def __init__(self, dataset, collate, drop_last):
        self._samples = iter(dataset)
        self._collate = collate
        self._drop_last = drop_last

    def __call__(self, size):
        if size is None:
            return self._collate(next(self._samples))
        samples = list(itertools.islice(self._samples, size))
        if not samples or (self._drop_last and len(samples) < size):
            raise StopIteration
        return self._collate(samples)
