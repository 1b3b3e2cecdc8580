"""The loader: batches of a dataset, on a device, in an order."""

import functools
import itertools
import numbers
import weakref
from typing import Generic, TypeVar

import ocl

from .background import Background
from .collate import default_collate, default_convert
from .dataset import IterableDataset, whole_arrays
from .fetch import ArrayFetcher
from .passes import PassIterator, Upload, Workers, from_this_process
from .pool import WorkerPool, worker_context
from .random_source import RandomSource
from .sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    batch_count,
    batch_cuts,
    load_sampler_state,
    sampler_state,
)
from .worker import Recipe

__all__ = ["DataLoader"]

_T = TypeVar("_T", covariant=True)


class DataLoader(Generic[_T]):
    """Iterates over a dataset in batches of ocl tensors. Matches torch.utils.data.DataLoader.

    `collate_fn` makes a batch of the samples, with a tensor in place of each array. By default it is a
    tuple with one tensor for each part of the samples, shape (batch, *part). It is a single tensor where
    samples are single arrays or numbers, and dicts, lists and named tuples for such samples. Python floats
    become float32, integers int64. Uploading does not wait for the device.

    With workers, processes make the batches and a thread uploads them ahead of the loop. Workers start as
    `multiprocessing` says: the dataset and the functions must be picklable, and a script must begin its work
    under ``if __name__ == "__main__":``. They touch no device. A dataset with ``arrays()`` needs no process:
    the thread cuts its batches.

    Random numbers of ocl.transforms, ``random`` and ``numpy.random`` in a worker depend on the seed, the
    pass and the batch's number alone, not on the number of workers. Without workers that holds for
    ocl.transforms. docs/data.md tells more.

    Args:
        dataset: has ``__getitem__`` and ``__len__``, or is an IterableDataset; one with ``arrays()`` is read
            in whole batches.
        batch_size: samples in a batch; the last batch has fewer unless `drop_last`. None: samples come by
            themselves, as `collate_fn` makes them.
        shuffle: draw a new order for each pass.
        sampler: yields the indices, in place of `shuffle`.
        batch_sampler: yields lists of indices, in place of `batch_size`, `shuffle`, `sampler`, `drop_last`.
        num_workers: processes that make batches; 0 makes them in the loop.
        collate_fn: makes a batch of a list of samples, by default ``default_collate``; it runs in the workers
            and gives arrays.
        pin_memory: gather the batches of a dataset with ``arrays()`` in page-locked memory, from which they
            are uploaded without another copy. Other batches pass through page-locked memory piece by piece
            as they are uploaded, with it or without.
        drop_last: leave out an incomplete last batch.
        timeout: seconds to wait for a batch of the workers; 0 waits for ever.
        worker_init_fn: called with the worker's number in each worker before its first batch.
        multiprocessing_context: "forkserver", "spawn", "fork" or a context; None is forkserver, or spawn
            where there is none.
        generator: the seed of the shuffle order and of the workers, an int, or an ocl.Generator or
            numpy.random.Generator; None follows ``ocl.manual_seed``. With the same seed a new loader draws
            the same, pass for pass.
        prefetch_factor: batches that each worker makes ahead, 2 by default.
        persistent_workers: keep the processes from pass to pass.
        pin_memory_device, in_order: accepted; batches always come in order.
        device: where the batches go, such as "ocl:0"; None is the default device.

    Raises:
        ValueError: arguments out of range or that exclude each other; (while iterating) samples that do not
            stack.
        TypeError: (while iterating) a sample of a type that no tensor is made of, or a dataset that cannot be
            sent to the workers.
        RuntimeError: (while iterating) a worker died or took longer than `timeout`. Any other exception of a
            worker has the type that it has there and the worker's traceback in its message.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
        device=None,
    ):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self._is_stream = isinstance(dataset, IterableDataset)
        _check_order(self._is_stream, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.shuffle = bool(shuffle)
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory_device = pin_memory_device
        self.in_order = in_order
        self.device = device

        if self._is_stream:
            sampler = None
        elif sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not self._is_stream:
            batch_sampler = BatchSampler(sampler, int(batch_size), bool(drop_last))
            self.batch_size = batch_size
        else:
            self.batch_size = batch_size if batch_sampler is None else None
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self._is_batched = batch_sampler is not None or self.batch_size is not None
        self.collate_fn = collate_fn or (default_collate if self._is_batched else default_convert)

        by_rows = collate_fn is None and self._is_batched and not self._is_stream
        self._arrays = whole_arrays(dataset) if by_rows else None
        self._seeds = RandomSource(generator)
        self._position = 0
        self._start = None
        self._to_resume = None
        self._current = _nothing
        self._workers = self._made_workers() if num_workers and self._arrays is None else None

    def __len__(self):
        """The number of batches in a pass. TypeError where the dataset or the sampler has no length."""
        if not self._is_stream:
            return len(self._index_source())
        length = len(self.dataset)
        if self.batch_size is None:
            return length
        return batch_count(length, self.batch_size, self.drop_last)

    def __iter__(self):
        position = self._begin_pass()
        base_seed = int(self._seeds.stream().integers(2**63))
        device = ocl.get_default_device() if self.device is None else self.device
        iterator = PassIterator(self._batches(base_seed, position, device), self._taken, self._all_taken)
        self._current = weakref.ref(iterator)
        return iterator

    # --- the position in a pass ---

    def state_dict(self):
        """Where the loader stands: the position in the pass and what its order is drawn from.

        A loader of the same dataset and arguments that loads it goes on with the batch after the last one
        that was taken. Batches made ahead do not count. A sampler takes part with its own ``state_dict()``;
        one without must yield the same indices again. A stream's samples are made again and left out.
        """
        if self._to_resume is not None:
            return self._to_resume
        return {"position": self._position, **(self._start or self._streams())}

    def load_state_dict(self, state):
        """The next pass goes on where ``state_dict()`` was called.

        Raises:
            ValueError: a state without the entries of one, or of a loader of another batch size.
        """
        missing = {"position", "batch_size", "seeds", "sampler"} - set(state)
        if missing:
            raise ValueError(f"DataLoader: no state of a loader, it lacks {sorted(missing)}")
        if state["batch_size"] != self.batch_size:
            raise ValueError(
                f"DataLoader: a state of batch_size {state['batch_size']} for a loader of {self.batch_size}"
            )
        position = state["position"]
        if not isinstance(position, numbers.Integral) or position < 0:
            raise ValueError(f"DataLoader: no state of a loader, its position is {position!r}")
        self._to_resume = dict(state)

    def _streams(self):
        return {
            "batch_size": self.batch_size,
            "seeds": self._seeds.state(),
            "sampler": sampler_state(self._index_source()),
        }

    def _begin_pass(self):
        """Goes back to the state that is to be resumed, if there is one; the batches to leave out."""
        state, self._to_resume = self._to_resume, None
        if state is not None:
            self._seeds.set_state(state["seeds"])
            load_sampler_state(self._index_source(), state["sampler"])
        self._start = self._streams()
        self._position = 0 if state is None else state["position"]
        return self._position

    def _taken(self, iterator):
        if self._current() is iterator:
            self._position += 1

    def _all_taken(self, iterator):
        if self._current() is iterator:
            self._position = 0
            self._start = None

    # --- the batches of a pass ---

    def _index_source(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _batches(self, base_seed, position, device):
        """An iterator over the batches from `position` on."""
        if self._arrays is not None:
            fetch = ArrayFetcher(self._arrays, device if self.pin_memory else None)
            upload = Upload(device, non_blocking=self.pin_memory)
            uploaded = map(upload, map(fetch, self._index_batches(position)))
            if self.num_workers == 0:
                return uploaded
            return Background(uploaded, self.prefetch_factor, _nothing, _nothing)
        upload = Upload(device)
        to_skip = position if self._is_stream else 0
        if self.num_workers == 0:
            return from_this_process(self._recipe(), self._tasks(position), base_seed, to_skip, upload)
        window = self.num_workers * self.prefetch_factor
        timeout = self.timeout or None
        return self._workers.begin_pass(self._tasks(position), window, base_seed, to_skip, upload, timeout)

    def _index_batches(self, position):
        batches = iter(self.sampler) if self.batch_sampler is None else batch_cuts(self.batch_sampler)
        return itertools.islice(batches, position, None)

    def _tasks(self, position):
        """(number, what to fetch); of a stream nothing can be left out."""
        if self._is_stream:
            return zip(itertools.count(), itertools.repeat(self.batch_size))
        return zip(itertools.count(position), self._index_batches(position))

    def _made_workers(self):
        """Workers that do not keep the loader alive, which ends them when it goes."""
        context = worker_context(self.multiprocessing_context)
        workers = Workers(
            functools.partial(WorkerPool, self._recipe(), self.num_workers, context), self.persistent_workers
        )
        weakref.finalize(self, workers.close)
        return workers

    def _recipe(self):
        return Recipe(
            dataset=self.dataset,
            collate=self.collate_fn,
            is_stream=self._is_stream,
            is_batched=self._is_batched,
            drop_last=self.drop_last,
            worker_init_fn=self.worker_init_fn,
        )


def _nothing():
    pass


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            f"DataLoader: num_workers should be at least 0, given {num_workers}; 0 uses no processes"
        )
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout should be at least 0, given {timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("DataLoader: prefetch_factor needs num_workers > 0")
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(f"DataLoader: prefetch_factor should be at least 1, given {prefetch_factor}")
    if num_workers == 0 and persistent_workers:
        raise ValueError("DataLoader: persistent_workers needs num_workers > 0")


def _check_order(is_stream, batch_size, shuffle, sampler, batch_sampler, drop_last):
    if is_stream:
        if shuffle:
            raise ValueError("DataLoader: an IterableDataset comes in its own order, expected no shuffle")
        if sampler is not None or batch_sampler is not None:
            raise ValueError("DataLoader: an IterableDataset comes in its own order, expected no sampler")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: sampler excludes shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
    if batch_size is None and drop_last:
        raise ValueError("DataLoader: batch_size=None makes no batches, expected no drop_last")
    if batch_size is not None and (batch_size < 1 or int(batch_size) != batch_size):
        raise ValueError(f"DataLoader: batch_size must be a whole number of at least 1, given {batch_size}")
