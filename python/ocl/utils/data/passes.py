"""Makers of the batches of one pass over a dataset, one generator for each way."""

import itertools
import weakref

import numpy as np

import ocl
from ocl import host_random

from .background import Background, Stopped
from .collate import map_leaves
from .pool import ENDED

__all__ = ["PassIterator", "Upload", "Workers", "from_this_process"]

_UPLOADED_AHEAD = 1


class Upload:
    """Puts the arrays of a batch on a device; text and Python's objects stay as they are.

    With `non_blocking` nobody changes arrays in page-locked memory afterwards.
    """

    def __init__(self, device, non_blocking=False):
        self._device = device
        self._non_blocking = non_blocking

    def __call__(self, batch):
        return map_leaves(self._leaf, batch)

    def _leaf(self, leaf):
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return leaf
        if leaf.dtype.kind in "OSU":
            return leaf.copy()
        return ocl.tensor(leaf, device=self._device, non_blocking=self._non_blocking)


def from_this_process(recipe, tasks, base_seed, to_skip, upload):
    """Makes each batch when it is asked for, without the first `to_skip` of them."""
    of_pass = host_random.new_stream(base_seed)
    with host_random.drawing_from(of_pass):
        fetch = recipe.fetcher()
    for number, what in tasks:
        stream = of_pass if recipe.is_stream else host_random.new_stream(base_seed, number)
        with host_random.drawing_from(stream):
            try:
                batch = fetch(what)
            except StopIteration:
                if recipe.is_stream:
                    return
                raise
        if number >= to_skip:
            yield upload(batch)


def _from_workers(pool, tasks, to_skip, upload, timeout):
    """The batches of the workers in order; for each a new task is given."""
    skipped = 0
    while pool.has_tasks:
        is_skipped = skipped < to_skip
        batch = pool.next_result(_drop if is_skipped else upload, timeout)
        for number, what in itertools.islice(tasks, 1):
            pool.give(number, what)
        if batch is ENDED:
            continue
        if is_skipped:
            skipped += 1
        else:
            yield batch
        del batch


def _drop(_):
    return None


class Workers:
    """The worker processes of a loader and the thread that uploads what they make.

    Args:
        make_pool: makes the WorkerPool.
        persistent: keep the processes from pass to pass.
    """

    def __init__(self, make_pool, persistent):
        self._make_pool = make_pool
        self._persistent = persistent
        self._pool = None
        self._background = None

    def begin_pass(self, tasks, window, base_seed, to_skip, upload, timeout):
        """A Background of the batches of `tasks`; it takes persistent processes over from an earlier pass."""
        if not self._persistent:
            return self._started(self._make_pool(), tasks, window, base_seed, to_skip, upload, timeout)
        if self._background is not None:
            self._background.stop()
        if self._pool is None or self._pool.is_broken:
            self._pool = self._make_pool()
        self._background = self._started(self._pool, tasks, window, base_seed, to_skip, upload, timeout)
        return self._background

    def _started(self, pool, tasks, window, base_seed, to_skip, upload, timeout):
        def finish():
            if pool.is_broken or not self._persistent:
                pool.close()

        try:
            pool.begin_pass(base_seed)
            for number, what in itertools.islice(tasks, window):
                pool.give(number, what)
        except BaseException:
            pool.close()
            raise
        batches = _from_workers(pool, tasks, to_skip, upload, timeout)
        return Background(batches, _UPLOADED_AHEAD, pool.interrupt, finish)

    def close(self):
        """Ends processes that persist."""
        if self._background is not None:
            self._background.stop()
        if self._pool is not None:
            self._pool.close()


class PassIterator:
    """Gives the batches and tells the loader how many were taken."""

    def __init__(self, batches, on_batch, on_end):
        self._batches = batches
        self._on_batch = on_batch
        self._on_end = on_end
        self._close = (
            weakref.finalize(self, batches.stop) if isinstance(batches, Background) else lambda: None
        )

    def __iter__(self):
        return self

    def __next__(self):
        try:
            batch = next(self._batches)
        except StopIteration:
            self._finish()
            self._on_end(self)
            raise
        except Stopped:
            raise RuntimeError("DataLoader: a later pass has taken over the persistent workers") from None
        except BaseException:
            self._finish()
            raise
        self._on_batch(self)
        return batch

    def _finish(self):
        self._close()
        self._batches = iter(())
