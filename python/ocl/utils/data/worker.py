"""The program of a loader's worker process. It touches no device."""

import os
import pickle
import queue
import signal
import threading
import traceback
from dataclasses import dataclass
from typing import Any

from ocl import _C, host_random

from . import transfer
from .fetch import IndexFetcher, StreamFetcher

__all__ = ["Recipe", "WorkerInfo", "get_worker_info", "received_answer", "run_worker"]


@dataclass(frozen=True)
class WorkerInfo:
    """The description of a worker process: its number `id` of `num_workers`, its `seed`, its copy of the
    `dataset`.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_LARGEST_TEXT = 1 << 16
_worker_info = None


def get_worker_info():
    """The WorkerInfo of this worker process, None in other processes. Matches
    torch.utils.data.get_worker_info.
    """
    return _worker_info


@dataclass(frozen=True)
class Recipe:
    """All that a worker needs to make batches."""

    dataset: Any
    collate: Any
    is_stream: bool
    is_batched: bool
    drop_last: bool
    worker_init_fn: Any

    def fetcher(self):
        if self.is_stream:
            return StreamFetcher(self.dataset, self.collate, self.drop_last)
        return IndexFetcher(self.dataset, self.collate, self.is_batched)


# The messages of the parent: the first of these, then tasks; None ends the worker.


@dataclass(frozen=True)
class Pass:
    """A new pass over the dataset begins."""

    base_seed: int


@dataclass(frozen=True)
class Task:
    """Make batch `number` of the pass; `key` tells the task from all others of the pool."""

    key: int
    number: int
    what: Any


# A worker's answer to a task, with the task's key.


@dataclass
class Batch:
    """The block follows its message through the pipe."""

    key: int
    block: transfer.Block

    def __reduce__(self):
        return Batch, (self.key, None)


@dataclass(frozen=True)
class NoMore:
    """A stream of samples has ended."""

    key: int


@dataclass(frozen=True)
class Failure:
    """An exception: pickled where that is possible, and as text."""

    key: int
    pickled: Any
    text: str

    def exception(self, worker_id):
        """The worker's exception again, of its own type where one can be made of a message alone."""
        original = pickle.loads(self.pickled) if self.pickled else None
        kind = RuntimeError if original is None or isinstance(original, StopIteration) else type(original)
        message = f"Caught in DataLoader worker process {worker_id}.\nOriginal {self.text}"
        try:
            raised = _KeyError(message) if kind is KeyError else kind(message)
        except Exception:
            raised = RuntimeError(message)
        raised.__cause__ = original
        return raised


class _KeyError(KeyError):
    """Its message keeps its lines, which KeyError would show as one."""

    def __str__(self):
        return str(self.args[0])


def run_worker(worker_id, num_workers, pipe, parcel):
    """Answers tasks by the Recipe in `parcel` until told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets Ctrl-C too and ends its workers
    worker = _Worker(worker_id, num_workers, parcel)
    messages = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, messages), daemon=True).start()
    while (message := messages.get()) is not None:
        if isinstance(message, Pass):
            worker.begin(message)
        else:
            send_answer(pipe, worker.answer(message))


def send_answer(pipe, answer):
    try:
        pipe.send(answer)
        if isinstance(answer, Batch):
            answer.block.send(pipe)
    except (BrokenPipeError, ConnectionResetError):
        _end_as_an_orphan()


def received_answer(pipe):
    """Receives the answer that ``send_answer`` has sent."""
    answer = pipe.recv()
    if isinstance(answer, Batch):
        answer.block = transfer.Block.received(pipe)
    return answer


def _receive(pipe, messages):
    """Keeps the pipe empty, so that the parent never waits; without a parent the worker ends in mid-work."""
    try:
        while True:
            messages.put(pipe.recv())
    except (EOFError, OSError):
        _end_as_an_orphan()


def _end_as_an_orphan():
    os._exit(1)  # silently: whoever killed the parent has seen enough


class _Worker:
    def __init__(self, worker_id, num_workers, parcel):
        self._id = worker_id
        self._num_workers = num_workers
        self._parcel = parcel
        self._recipe = None
        self._base_seed = None
        self._fetcher = None
        self._failure = None

    def begin(self, new_pass):
        """A failure here is the answer to every task of the pass."""
        self._base_seed = new_pass.base_seed
        self._failure = None
        try:
            if self._recipe is None:
                self._unpack()
            self._fetcher = self._recipe.fetcher()
        except Exception as error:
            self._failure = error

    def _unpack(self):
        global _worker_info
        self._recipe, self._parcel = self._parcel.open(), None
        seed = (self._base_seed + self._id) % 2**63
        _C.manual_seed(seed)
        host_random.seed_whole_process(seed)
        _worker_info = WorkerInfo(self._id, self._num_workers, seed, self._recipe.dataset)
        if self._recipe.worker_init_fn is not None:
            self._recipe.worker_init_fn(self._id)

    def answer(self, task):
        try:
            if self._failure is not None:
                raise self._failure
            if not self._recipe.is_stream:
                host_random.seed_whole_process(self._base_seed, task.number)
            return Batch(task.key, transfer.Block.of(self._fetcher(task.what)))
        except Exception as error:
            if isinstance(error, StopIteration) and self._recipe.is_stream:
                return NoMore(task.key)
            return Failure(task.key, _pickled(error), traceback.format_exc()[-_LARGEST_TEXT:])


def _pickled(error):
    """The pickled exception, None where it does not survive that."""
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        return None
    return pickled if len(pickled) < _LARGEST_TEXT else None
