"""A thread that makes results before they are asked for."""

import os
import threading
from collections import deque

__all__ = ["Background", "Stopped"]


class Stopped(Exception):
    """A result was asked for after ``stop()``."""


class Background:
    """Iterates over `results` in a thread of its own, at most `ahead` results ahead of who takes them.

    Args:
        results: an iterator.
        interrupt: called by ``stop``, to end a wait inside of `results`.
        finish: called by the thread when it ends.
    """

    def __init__(self, results, ahead, interrupt, finish):
        self._results = results
        self._ahead = ahead
        self._interrupt = interrupt
        self._finish = finish
        self._process = os.getpid()
        self._ready = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self._ended = False
        self._error = None
        self._thread = threading.Thread(target=self._run, name="DataLoader", daemon=True)
        self._thread.start()

    def __iter__(self):
        return self

    def __next__(self):
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended)
            if self._stopped:
                raise Stopped
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
        error, self._error = self._error, None
        raise error or StopIteration

    def stop(self):
        """Ends the thread; results that nobody took are dropped."""
        if os.getpid() != self._process:  # a forked child has neither the thread nor a right to what it uses
            return
        with self._changed:
            if not self._stopped:
                self._stopped = True
                self._changed.notify_all()
                if not self._ended:
                    self._interrupt()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._ready.clear()

    def _run(self):
        error = None
        try:
            for result in self._results:
                if not self._hand_over(result):
                    break
                del result
        except BaseException as raised:
            error = raised
        try:
            self._finish()
        finally:
            with self._changed:
                self._error, self._ended = error, True
                self._changed.notify_all()

    def _hand_over(self, result):
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._ready) < self._ahead)
            if not self._stopped:
                self._ready.append(result)
                self._changed.notify_all()
            return not self._stopped
