"""Times of every kernel launch, and the calls of operators."""

from __future__ import annotations

from typing import Any, NamedTuple

from ocl import _C

__all__ = ["Call", "Choice", "profile", "record_calls"]


class profile:  # noqa: N801  (PyTorch's name)
    """Records every kernel launch inside ``with ocl.profiler.profile() as p:``.

    Afterwards ``p.table()`` gives a line per kernel, with ``by="operator"``, ``"module"`` or
    ``"implementation"`` one per operator, class of module or chosen implementation that launched it;
    ``p.export_chrome_trace(path)`` a trace for chrome://tracing or Perfetto, ``p.export_csv(path)`` one line
    per launch, and ``p.launches()`` (device, kernel, start, end) in nanoseconds.
    """

    def __enter__(self) -> profile:
        self._profile = _C.Profile()
        return self

    def __exit__(self, *exception: object) -> None:
        self._profile.stop()

    def table(self, by: str = "kernel") -> str:
        return self._profile.table(by)

    def export_chrome_trace(self, path: str) -> None:
        self._profile.export_chrome_trace(path)

    def export_csv(self, path: str) -> None:
        self._profile.export_csv(path)

    def launches(self) -> list[tuple[str, str, int, int]]:
        return self._profile.launches()


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
