"""Times of every kernel launch."""

from __future__ import annotations

from ocl import _C

__all__ = ["profile"]


class profile:  # noqa: N801  (PyTorch's name)
    """Records every kernel launch inside ``with ocl.profiler.profile() as p:``.

    Afterwards ``p.table()`` gives a line per kernel, ``p.export_chrome_trace(path)`` a trace for
    chrome://tracing or Perfetto, ``p.export_csv(path)`` one line per launch, and ``p.launches()``
    (device, kernel, start, end) in nanoseconds.
    """

    def __enter__(self) -> profile:
        self._profile = _C.Profile()
        return self

    def __exit__(self, *exception: object) -> None:
        self._profile.stop()

    def table(self) -> str:
        return self._profile.table()

    def export_chrome_trace(self, path: str) -> None:
        self._profile.export_chrome_trace(path)

    def export_csv(self, path: str) -> None:
        self._profile.export_csv(path)

    def launches(self) -> list[tuple[str, str, int, int]]:
        return self._profile.launches()
