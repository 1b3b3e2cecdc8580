"""The worker processes of a loader: starting them, giving them tasks, and leaving nothing behind."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from multiprocessing import connection

from .parcel import Parcel
from .worker import Batch, Failure, Pass, Task, received_answer, run_worker

__all__ = ["ENDED", "Interrupted", "WorkerPool", "worker_context"]

ENDED = object()
_FAREWELL_SECONDS = 5
_DYING_SECONDS = 60


class Interrupted(Exception):
    """``interrupt()`` was called while ``next_result`` waited."""


def _modules_of_workers():
    """The modules that a server imports before its workers are forked."""
    as_torch = sys.modules.get("ocl.as_torch")
    if as_torch and as_torch.runs_program:  # which imports torch at once; the server would begin with it
        return ["ocl.as_torch_here", "ocl.utils.data"]
    return ["__main__", "ocl.utils.data"]


def worker_context(method=None):
    """The multiprocessing context of that name; None is forkserver, or spawn where there is none."""
    if method is not None and not isinstance(method, str):
        return method
    methods = multiprocessing.get_all_start_methods()
    if method is None:
        method = "forkserver" if "forkserver" in methods else "spawn"
    if method not in methods:
        raise ValueError(f"DataLoader: multiprocessing_context should be one of {methods}, given {method!r}")
    return multiprocessing.get_context(method)


class WorkerPool:
    """`count` processes that make batches by one Recipe.

    Tasks go to the workers in turns, and ``next_result`` gives their results in the order of the tasks. One
    thread uses a pool at a time; ``interrupt`` may be called by another.

    Raises:
        TypeError: the dataset or a function cannot be sent to a process, or holds an ocl tensor.
    """

    def __init__(self, recipe, count, context):
        self._keys = itertools.count()
        self._recipe = recipe
        self._workers = []
        self._waiting = deque()
        self._stale = {}
        self._wake, self._waker = connection.Pipe(duplex=False)
        self._process = os.getpid()
        self.is_broken = False
        if context.get_start_method() == "forkserver":
            context.set_forkserver_preload(_modules_of_workers())
        try:
            for number in range(count):
                self._workers.append(_Worker(number, count, recipe, context))
        except BaseException:
            self.close()
            raise

    def begin_pass(self, base_seed):
        """Forgets what is left of the last pass and begins another."""
        while self._wake.poll():
            self._wake.recv()
        self._forget()
        for worker in self._workers:
            worker.has_more = True
            with self._breaking():
                worker.send(Pass(base_seed))
        self._turns = itertools.cycle(self._workers)

    def give(self, number, what):
        """Makes `what`, batch `number` of the pass, the task of the next worker that has more to give.

        False where there is none.
        """
        for worker in itertools.islice(self._turns, len(self._workers)):
            if worker.has_more:
                task = Task(next(self._keys), number, what)
                self._waiting.append((worker, task.key))
                with self._breaking():
                    worker.send(task)
                return True
        return False

    @property
    def has_tasks(self):
        return bool(self._waiting)

    def next_result(self, use, timeout=None):
        """use(batch) of the oldest task, or ENDED where a worker's stream has ended instead.

        Raises:
            RuntimeError: a worker has died, or there was no batch within `timeout` seconds.
            Exception: the worker's own.
        """
        worker, key = self._waiting[0]
        answer = self._await_answer(worker, key, timeout)
        self._waiting.popleft()
        if isinstance(answer, Batch):
            return use(answer.block.take())
        if isinstance(answer, Failure):
            raise answer.exception(worker.number)
        worker.has_more = False
        return ENDED

    def interrupt(self):
        """Ends the waiting of the thread that uses the pool, now or when it next waits."""
        self._waker.send(None)

    def _await_answer(self, worker, key, timeout):
        deadline = None if timeout is None else time.monotonic() + timeout
        while key not in worker.answers:
            rest = None if deadline is None else max(deadline - time.monotonic(), 0)
            self._read_answers(rest)
            if deadline is not None and time.monotonic() >= deadline and key not in worker.answers:
                self.is_broken = True
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        return worker.answers.pop(key)

    def _read_answers(self, timeout):
        """Waits for a message or an end of any worker."""
        by_handle = {self._wake: None}
        for worker in self._workers:
            by_handle[worker.pipe] = by_handle[worker.process.sentinel] = worker
        ready = connection.wait(list(by_handle), timeout)
        if self._wake in ready:
            self._wake.recv()
            raise Interrupted
        for worker in {by_handle[handle] for handle in ready}:
            with self._breaking():
                worker.read_answers()
        self._discard_stale()

    @contextlib.contextmanager
    def _breaking(self):
        """An exception raised inside leaves a pool that nobody can use."""
        try:
            yield
        except BaseException:
            self.is_broken = True
            raise

    def _forget(self):
        """Answers that the workers still owe are discarded when they arrive."""
        self._stale.update((key, worker) for worker, key in self._waiting)
        self._waiting.clear()
        self._discard_stale()

    def _discard_stale(self):
        for key in [key for key, worker in self._stale.items() if key in worker.answers]:
            del self._stale.pop(key).answers[key]

    def close(self):
        """Ends the workers, those at once that are at work."""
        if os.getpid() != self._process:  # a forked child of this process: they are not its own
            return
        self.is_broken = True
        self._forget()
        busy = set(self._stale.values())
        for worker in self._workers:
            worker.dismiss(at_once=worker in busy)
        deadline = time.monotonic() + _FAREWELL_SECONDS
        for worker in self._workers:
            worker.wait_for_end(deadline)
        self._stale.clear()
        self._workers.clear()


class _Worker:
    def __init__(self, number, count, recipe, context):
        self.number = number
        self.answers = {}
        self.has_answered = False
        self.has_more = True
        self.pipe, far_end = context.Pipe()
        self.process = context.Process(
            target=run_worker,
            args=(number, count, far_end, Parcel(recipe)),
            name=f"DataLoader worker {number}",
            daemon=True,
        )
        try:
            self.process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            far_end.close()

    def send(self, message):
        try:
            self.pipe.send(message)
        except OSError:
            raise self._end() from None

    def read_answers(self):
        try:
            while self.pipe.poll():
                answer = received_answer(self.pipe)
                self.answers[answer.key] = answer
                self.has_answered = True
        except (EOFError, OSError):
            raise self._end() from None
        if not self.process.is_alive() and not self.pipe.poll():
            raise self._end()

    def _end(self):
        self.process.join(_DYING_SECONDS)
        return RuntimeError(
            f"DataLoader worker {self.number} (pid {self.process.pid}) exited unexpectedly with exit code "
            f"{self.process.exitcode}{_explanation(self.process.exitcode, self.has_answered)}"
        )

    def dismiss(self, at_once):
        if at_once:
            self.process.terminate()
        with contextlib.suppress(OSError):
            self.pipe.send(None)

    def wait_for_end(self, deadline):
        self.process.join(max(deadline - time.monotonic(), 0))
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        self.pipe.close()
        self.process.close()


def _explanation(exit_code, has_answered):
    if exit_code == 1 and not has_answered:  # Python's status after an exception
        return (
            " before its first batch. Its error stands above; a script that starts workers must begin its "
            'work under `if __name__ == "__main__":`'
        )
    if exit_code is None or exit_code >= 0:
        return ""
    return f" ({signal.Signals(-exit_code).name})"
