"""Which kernels run: one list of implementations for each family of heavy operators.

Of the implementations that can take a problem on a device the one that is expected to be cheapest runs.
``ocl.profiler`` shows which ones ran (``table(by="implementation")``) and why (``record_calls().choices``).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ocl import _C

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["families", "get", "set", "using"]


def families() -> dict[str, list[str]]:
    """The names of all families, and those of their implementations in order."""
    return _C._implementation_families()


def set(choices: str) -> None:  # noqa: A001
    """Forces and bars implementations by name, for tests, measurement and bug reports.

    ``"gemm=clblast"`` takes CLBlast wherever it can, ``"conv2d_forward=-cpu_direct"`` never takes that one;
    several are separated by commas, and what is not named is free again, so that ``""`` frees all. The
    environment variable ``OCL_IMPLEMENTATIONS`` is set at the start. Raises ValueError for names that do not
    exist.
    """
    _C._set_implementations(choices)


def get() -> str:
    """What was set last."""
    return _C._get_implementations()


@contextmanager
def using(choices: str) -> Iterator[None]:
    """``set`` for the statements inside ``with``."""
    before = get()
    set(choices)
    try:
        yield
    finally:
        set(before)
