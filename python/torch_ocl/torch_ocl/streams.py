"""Streams and events of ``torch.ocl``. A device has one queue, in order: all its streams are that one."""

from __future__ import annotations

from types import TracebackType

import torch

from torch_ocl import _C
from torch_ocl._devices import Device, index_of


class Stream(torch.Stream):
    """The queue of a device (torch.cuda.Stream). ``priority`` has no effect."""

    def __new__(cls, device: Device = None, priority: int = 0, **ids: int) -> Stream:
        if ids:  # as torch makes one from another's numbers
            return super().__new__(cls, priority=priority, **ids)
        return super().__new__(cls, device=torch.device("ocl", index_of(device)), priority=priority)

    # torch.Stream and torch.Event take nothing but a torch.Event itself for an event here.

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        event = Event() if event is None else event
        event.record(self)
        return event


class Event(torch.Event):
    """A place in a stream (torch.cuda.Event). ``elapsed_time`` is in ms, and needs ``enable_timing``."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        return super().__new__(
            cls, "ocl", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )

    def elapsed_time(self, end_event: torch.Event) -> float:
        return _C.elapsed_time(self.event_id, end_event.event_id)


def default_stream(device: Device = None) -> Stream:
    """The stream of a device."""
    return Stream(device)


current_stream = default_stream


def set_stream(stream: torch.Stream) -> None:
    """Makes the stream's device the current one."""
    _C.set_device(stream.device_index)


class StreamContext:
    """The result of :func:`stream`."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        if self._stream is not None:
            self._before = _C.exchange_device(self._stream.device_index)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            _C.set_device(self._before)


def stream(stream: torch.Stream | None) -> StreamContext:
    """``with torch.ocl.stream(s):`` makes the device of ``s`` the current one."""
    return StreamContext(stream)
