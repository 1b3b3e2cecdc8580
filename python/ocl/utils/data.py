"""Datasets on the host and the loader that brings their batches to a device, as in torch.utils.data.

Host data are NumPy arrays. A loader's batch becomes an ocl tensor by one upload for each of its columns:

    loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True, device="ocl:0")
    for image, label in loader:
        ...
"""

import numpy as np

import ocl

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset"]


class Dataset:
    """A map from indices to samples; subclasses define ``__getitem__`` and ``__len__``.

    A sample is an array or a number, or a tuple of them. As torch.utils.data.Dataset.
    """

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__}.__getitem__")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__}.__len__")

    def arrays(self):
        """The whole dataset as a tuple of NumPy arrays, first dimension = sample, such that
        ``dataset[i] == tuple(array[i] for array in arrays)``; a loader then cuts whole batches out of them.
        None (the default) when samples must be asked for one by one.
        """
        return None


class TensorDataset(Dataset):
    """Samples are the rows of arrays: ``dataset[i]`` is ``(arrays[0][i], arrays[1][i], ...)``.

    As torch.utils.data.TensorDataset, but the data stay on the host: ocl tensors are downloaded once, here.

    Args:
        *tensors: NumPy arrays or ocl tensors, any dtype, with the same first dimension.

    Raises:
        ValueError: no tensor, a tensor without dimensions, or first dimensions that differ.
    """

    def __init__(self, *tensors):
        self.tensors = tuple(_to_host(tensor) for tensor in tensors)
        if not self.tensors or any(tensor.ndim == 0 for tensor in self.tensors):
            raise ValueError("TensorDataset: expected one or more tensors of at least 1 dimension")
        lengths = [len(tensor) for tensor in self.tensors]
        if len(set(lengths)) > 1:
            raise ValueError(f"TensorDataset: first dimensions must be equal, given {lengths}")

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return len(self.tensors[0])

    def arrays(self):
        return self.tensors


class Subset(Dataset):
    """The samples of `dataset` at `indices` (integers, in that order). As torch.utils.data.Subset.

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
        arrays = _whole_arrays(self.dataset)
        return None if arrays is None else tuple(array[self.indices] for array in arrays)


class DataLoader:
    """Iterates over a dataset in batches of ocl tensors. As torch.utils.data.DataLoader.

    A batch is a tuple with one tensor for each part of the samples, shape (batch, *part); when samples are
    single arrays or numbers rather than tuples, a batch is a single tensor. Python floats become float32,
    integers int64. Uploading does not wait for the device.

    Args:
        dataset: has ``__getitem__`` and ``__len__``; one with ``arrays()`` is read in whole batches.
        batch_size: samples in a batch; the last batch has fewer unless `drop_last`.
        shuffle: draw a new order for each pass.
        drop_last: leave out an incomplete last batch.
        generator: the seed of the shuffle order, an int; None follows ``ocl.manual_seed``. With the same seed
            a new loader draws the same orders, pass for pass.
        device: where the batches go, such as "ocl:0"; None is the default device.
        collate_fn: makes a batch (an array, or a tuple or list of arrays) of a list of samples.

    Raises:
        ValueError: batch_size below 1, or (while iterating) samples of unequal shape.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=False,
        *,
        drop_last=False,
        generator=None,
        device=None,
        collate_fn=None,
    ):
        if batch_size < 1:
            raise ValueError(f"DataLoader: batch_size must be at least 1, given {batch_size}")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.generator = generator
        self.device = device
        self.collate_fn = collate_fn or _collate
        self._arrays = _whole_arrays(dataset) if collate_fn is None else None
        self._order_seed = None
        self._order_source = None
        self._orders_from = None
        self._orders_drawn = 0
        self._batches_taken = 0
        self._batches_to_skip = 0

    def __len__(self):
        """The number of batches in a pass."""
        full, rest = divmod(len(self.dataset), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self):
        order = self._draw_order() if self.shuffle else None
        skipped, self._batches_to_skip = self._batches_to_skip, 0
        return self._batches(order, skipped)

    def state_dict(self):
        """Where the loader stands: the orders drawn before this pass, and the batches taken in it."""
        in_a_pass = self._batches_taken > 0 and not self._batches_to_skip
        return {
            "position": self._batches_taken,
            "seed": self._seed() if self._orders_from is None else self._orders_from,
            "orders": self._orders_drawn - (in_a_pass and self.shuffle),
        }

    def load_state_dict(self, state):
        """The next pass goes on where ``state_dict()`` was called, after the last batch that was taken."""
        self._batches_taken = self._batches_to_skip = state["position"]
        self._begin_orders(state["seed"])
        while self._orders_drawn < state["orders"]:
            self._next_order()

    def _batches(self, order, skipped):
        for number in range(skipped, len(self)):
            self._batches_taken = number + 1
            start = number * self.batch_size
            rows = slice(start, min(start + self.batch_size, len(self.dataset)))
            yield self._upload(self._host_batch(rows if order is None else order[rows]))
        self._batches_taken = 0

    def _host_batch(self, rows):
        if self._arrays is not None:
            return tuple(array[rows] for array in self._arrays)
        indices = range(rows.start, rows.stop) if isinstance(rows, slice) else rows.tolist()
        return self.collate_fn([self.dataset[index] for index in indices])

    def _upload(self, batch):
        if isinstance(batch, (tuple, list)):
            return tuple(self._upload(part) for part in batch)
        return batch if isinstance(batch, ocl.Tensor) else ocl.tensor(batch, device=self.device)

    def _draw_order(self):
        if self._order_source is None or self._seed() != self._order_seed:
            self._begin_orders(self._seed())
        return self._next_order()

    def _seed(self):
        return ocl.initial_seed() if self.generator is None else self.generator

    def _begin_orders(self, seed):
        self._order_seed = self._seed()
        self._order_source = np.random.Generator(np.random.Philox(seed % 2**64))
        self._orders_from, self._orders_drawn = seed, 0

    def _next_order(self):
        self._orders_drawn += 1
        return self._order_source.permutation(len(self.dataset))


def _to_host(tensor):
    return tensor.numpy() if isinstance(tensor, ocl.Tensor) else np.asarray(tensor)


def _whole_arrays(dataset):
    arrays = getattr(dataset, "arrays", None)
    return None if arrays is None else arrays()


def _collate(samples):
    if isinstance(samples[0], (tuple, list)):
        return tuple(_stack(column) for column in zip(*samples, strict=True))
    return _stack(samples)


def _stack(items):
    array = np.stack([_to_host(item) for item in items])
    return array.astype(np.float32) if isinstance(items[0], float) else array
