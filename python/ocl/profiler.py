"""Times of every kernel launch beside what the device reaches at most, and the calls of operators."""

from __future__ import annotations

import contextlib
import enum
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ocl import _C

__all__ = [
    "Call",
    "Ceilings",
    "Choice",
    "ProfilerActivity",
    "Range",
    "ceilings",
    "profile",
    "record_calls",
    "record_function",
]


class ProfilerActivity(enum.Enum):
    """Names of PyTorch's kinds of records. A profile records every launch, whichever are given."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    PrivateUse1 = 4


class Range(NamedTuple):
    """A stretch of the program that ``record_function`` names; times of the host in nanoseconds."""

    name: str
    thread: int
    start: int
    end: int


_running: list[profile] = []


class record_function(contextlib.ContextDecorator):  # noqa: N801  (PyTorch's name)
    """Names what runs within it for the profiles of that time: ``with record_function("loss"):``, or a
    decorator. Afterwards ``p.ranges`` has the host's times; the device may compute later.
    (torch.profiler.record_function)
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *exception: object) -> None:
        found = Range(self.name, threading.get_ident(), self._starts.pop(), time.perf_counter_ns())
        for each in tuple(_running):
            each.ranges.append(found)


class _Averages:
    """The operators of a profile, as torch.profiler's key_averages() has them."""

    def __init__(self, finished: profile) -> None:
        self._finished = finished

    def table(self, sort_by: str | None = None, row_limit: int | None = None, **options: Any) -> str:
        """The lines of operators, those that took longest first. Other orders and options change nothing."""
        lines = self._finished.table("operator").splitlines()
        return "\n".join(lines if row_limit in (None, -1) else lines[: row_limit + 1])

    __str__ = table


class profile:  # noqa: N801  (PyTorch's name)
    """Records every kernel launch inside ``with ocl.profiler.profile() as p:``.

    Afterwards ``p.table()`` gives a line per kernel, with ``by="operator"``, ``"module"`` or
    ``"implementation"`` one per operator, module or chosen implementation that launched it;
    ``p.export_chrome_trace(path)`` a trace for chrome://tracing or Perfetto with tracks of kernels, operators
    and modules, ``p.export_csv(path)`` one line per launch, and ``p.launches()`` (device, kernel, start, end)
    in nanoseconds. Modules are called by their path below the one that was called, and their class,
    "layer1.0.conv1 (Conv2d)". A backward step counts for the module of its forward call, if that was within
    the profile.

    All but the last have GFLOP/s (of matrix products and convolutions, a multiply-add as two) and GB/s (of
    the tensors that are read and written). They also have the share of the device's ``ceilings()``: the
    time that these allow in per cent of the time that was taken. It passes 100 where caches hold what is
    read and written, and where products at a lower precision than float32's run on matrix units. The work
    is that of the thread that profiles.

    The options are those of torch.profiler.profile: ``on_trace_ready`` is called with the profile at its end,
    the others change nothing. ``enabled=False`` records nothing.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        use_cuda: bool = False,
        use_device: str | None = None,
    ) -> None:
        self._started = None
        self._is_enabled, self._when_ready = enabled, on_trace_ready
        self.ranges: list[Range] = []  # what record_function named, in the order of their ends

    @property
    def _profile(self) -> _C.Profile:
        if self._started is None:
            raise RuntimeError("profile: nothing is recorded before `with profile() as p:`")
        return self._started

    def __enter__(self) -> profile:
        if self._is_enabled:
            self._started = _C.Profile()
            self.ranges = []
            _running.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._is_enabled:
            return
        self._profile.stop()
        _running.remove(self)
        if self._when_ready is not None:
            self._when_ready(self)

    def start(self) -> None:
        """Begins, as ``with`` does."""
        self.__enter__()

    def stop(self) -> None:
        """Ends, as leaving ``with`` does."""
        self.__exit__(None, None, None)

    def step(self) -> None:
        """Nothing: all steps are recorded. (torch.profiler.profile.step)"""

    def key_averages(self, *args: Any, **options: Any) -> _Averages:
        """The operators, of which ``table()`` gives the lines."""
        return _Averages(self)

    def table(self, by: str = "kernel") -> str:
        return self._profile.table(by)

    def export_chrome_trace(self, path: str) -> None:
        self._profile.export_chrome_trace(path)

    def export_csv(self, path: str) -> None:
        self._profile.export_csv(path)

    def launches(self) -> list[tuple[str, str, int, int]]:
        return self._profile.launches()


class Ceilings(NamedTuple):
    """The highest rates of a device."""

    gflops: float
    """10^9 operations a second, of float32 multiply-adds in registers; each is two."""
    gbytes: float
    """10^9 bytes a second, read and written by a copy of more memory than most caches hold."""


def ceilings(device: Any = None) -> Ceilings:
    """The rates that kernels which only compute, or only copy, reached on ``device``.

    Measured at the first call of a process, in some tenths of a second for which nothing else should use the
    device. Raises OutOfMemoryError where there is no room for the copy.
    """
    operations, bytes_moved = _C._ceilings(_C.get_default_device() if device is None else _C.device(device))
    return Ceilings(operations * 1e-9, bytes_moved * 1e-9)


class Call(NamedTuple):
    """One call; its kind is "operator", "primitive" (what computes on a device), "backward" or "module"."""

    name: str
    kind: str
    depth: int
    """Calls around this one."""
    arguments: dict[str, Any]
    """By the names of the C++ function; tensors share the memory of what was given."""


class Choice(NamedTuple):
    """The implementation that a primitive chose from its family's list (``ocl.implementations``)."""

    family: str
    implementation: str
    reasons: str
    """What each of the list was expected to cost, or that it cannot, is barred or forced."""


class record_calls:  # noqa: N801
    """Records this thread's calls inside ``with ocl.profiler.record_calls() as r:``, in order: ``r.calls``,
    and the implementations they chose: ``r.choices``.

    It keeps every tensor that a call takes.
    """

    def __init__(self) -> None:
        self._log = _C._CallLog()

    def __enter__(self) -> record_calls:
        self._log = _C._CallLog()
        self._log.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._log.stop()

    @property
    def calls(self) -> list[Call]:
        return [Call(*entry) for entry in self._log.entries()]

    @property
    def choices(self) -> list[Choice]:
        return [Choice(*entry) for entry in self._log.choices()]
