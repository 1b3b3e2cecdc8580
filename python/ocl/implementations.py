"""Which kernels run: one list of implementations for each family of heavy operators.

The fastest implementation that ``measuring`` found for a problem on a device runs; where nothing was
measured, the one that is expected to be the fastest does. ``bar`` leaves a faulty one out on a device, as
``python -m ocl doctor --bar`` does. ``ocl.profiler`` shows which ones ran
(``table(by="implementation")``) and why (``record_calls().choices``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ocl import _C
from ocl.modes import Mode

__all__ = [
    "Barred",
    "Measured",
    "bar",
    "barred",
    "families",
    "forget_measured",
    "get",
    "measured",
    "measuring",
    "set",
    "unbar",
    "using",
]


class Measured(NamedTuple):
    """The measurements of a problem on a device."""

    family: str
    problem: str
    """The numbers that tell it from others of its family: sizes first, then dtype and precision."""
    implementation: str
    """The fastest, which runs from then on."""
    seconds: float
    expected: str
    """What would have run without a measurement."""
    expected_seconds: float


class Barred(NamedTuple):
    """An implementation that is left out on a device."""

    family: str
    implementation: str
    reason: str


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
    """The last setting."""
    return _C._get_implementations()


class using(Mode):  # noqa: N801
    """``set`` for the statements inside ``with``, or for a decorated function."""

    def __init__(self, choices: str) -> None:
        self._choices = choices

    def _switch(self) -> str:
        before = get()
        set(self._choices)
        return before

    def _restore(self, before: str) -> None:
        set(before)


class measuring(Mode):  # noqa: N801
    """Inside ``with``, the first call of each matrix product and convolution measures what can compute it.

    The fastest runs from then on, in later processes too: the choice is kept in the kernel cache's database,
    by device and problem. A problem that has been measured is not measured again (``forget_measured``). Steps
    take seconds meanwhile, and should have the device for themselves. The counterpart of
    ``torch.backends.cudnn.benchmark``; ``tools/tune.py`` does this over the steps of nets.
    """

    def _switch(self) -> bool:
        before = _C._is_measuring()
        _C._set_measuring(True)
        return before

    def _restore(self, before: bool) -> None:
        _C._set_measuring(before)


def _device(device: Any) -> Any:
    return _C.get_default_device() if device is None else _C.device(device)


def measured(device: Any = None) -> list[Measured]:
    """The measurements on this machine for `device`, by family and problem."""
    return [Measured(*choice) for choice in _C._measured_choices(_device(device))]


def forget_measured(device: Any = None) -> None:
    """Drops what was measured for `device`."""
    _C._forget_measured_choices(_device(device))


def bar(family: str, implementation: str, reason: str, device: Any = None) -> None:
    """Leaves an implementation out on `device`, in this process and in later ones.

    ``python -m ocl doctor --bar`` does so with those that give wrong results there. The kernel cache's
    database keeps it by the device's name and the driver's version: another driver starts with all
    implementations. A forced one (``set``) runs all the same. Raises ValueError for a name that does not
    exist, and OSError where the database cannot keep it.
    """
    _C._bar_implementation(_device(device), family, implementation, reason)


def barred(device: Any = None) -> list[Barred]:
    """The implementations left out on `device` with the driver that it has now."""
    return [Barred(*entry) for entry in _C._barred_implementations(_device(device))]


def unbar(device: Any = None) -> None:
    """Takes back what was barred for `device`."""
    _C._unbar_implementations(_device(device))
