"""From the indices of a batch to the batch, on the host."""

import itertools

from .sampler import as_list

__all__ = ["ArrayFetcher", "IndexFetcher", "StreamFetcher"]


class ArrayFetcher:
    """Cuts whole batches out of arrays; `rows` is a range, an array or a list of indices."""

    def __init__(self, arrays):
        self._arrays = arrays

    def __call__(self, rows):
        if isinstance(rows, range) and rows.step == 1:
            rows = slice(rows.start, rows.stop)
        return tuple(array[rows] for array in self._arrays)


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
