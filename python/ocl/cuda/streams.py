"""Streams and events under torch.cuda's names: a device has one queue, so that all streams are that one."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from ocl import accelerator

__all__ = ["Event", "Stream", "StreamContext", "current_stream", "default_stream", "stream"]


class Stream:
    """The one queue of a device."""

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.priority = priority

    def synchronize(self) -> None:
        """Waits until everything is done."""
        accelerator.synchronize()

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: the queue is in order."""

    def wait_event(self, event: Event) -> None:
        """Nothing: the queue is in order."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event that is recorded here."""
        event = event or Event()
        event.record(self)
        return event


class Event:
    """A place among a device's commands. ``record`` waits for the commands before it, to know their time."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._timing, self._at = enable_timing, None

    def record(self, stream: Stream | None = None) -> None:
        """Waits for what was given to the device, and notes the time."""
        accelerator.synchronize()
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing: the queue is in order."""

    def query(self) -> bool:
        """True: all is done."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to the other. RuntimeError where one was not recorded."""
        if not (self._timing and end_event._timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return 1000 * (end_event._at - self._at)


def current_stream(device: Any = None) -> Stream:
    """The one queue."""
    return Stream(device)


default_stream = current_stream


class StreamContext(contextlib.AbstractContextManager):
    """Changes nothing inside ``with``."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __exit__(self, *raised: Any) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """Changes nothing inside."""
    return StreamContext(stream)
