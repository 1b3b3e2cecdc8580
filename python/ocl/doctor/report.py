"""The text of ``python -m ocl``, and what the doctor writes."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ocl.doctor import drivers, environment
from ocl.doctor.findings import Finding, UsageError

if TYPE_CHECKING:  # without a loader these do not import
    from ocl.doctor.accuracy import Outcome
    from ocl.doctor.speed import Speed

__all__ = ["UNCHECKED", "Report", "overview", "overview_lines"]

UNCHECKED = "not checked: pointwise operators, reductions, indexing (docs/fuzzing.md checks every operator)"


def overview(has_library: bool) -> dict[str, Any]:
    """The environment, without computing anything."""
    found: dict[str, Any] = {"versions": environment.versions(), "variables": environment.variables()}
    if has_library:
        found["loader"] = drivers.loader_path()
        found["platforms"] = drivers.platforms()
        found["devices"] = environment.devices()
        found["cache"] = environment.cache()
    return found


def overview_lines(found: dict[str, Any]) -> Iterable[str]:
    yield ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    if "loader" in found:
        yield f"OpenCL loader: {found['loader'] or 'of unknown path'}"
        for name, devices in found["platforms"]:
            yield f"platform: {name}, {devices} device{'' if devices == 1 else 's'}"
        for device in found["devices"]:
            yield from _device_lines(device)
        cache = found["cache"]
        size = f"{cache['entries']} kernels, {environment.megabytes(cache['bytes'])}"
        yield f"kernel cache: {cache['path'] + ', ' + size if cache['path'] else 'none'}"
    for name, value in found["variables"].items():
        yield f"environment: {name}={value}"


def _device_lines(device: dict[str, Any]) -> Iterable[str]:
    if "error" in device:
        yield f"{device['device']}: {device['error'].splitlines()[0]}"
        return
    kind = "CPU" if device["is_cpu"] else "GPU"
    features = ", ".join(
        f"{'' if device[key] else 'no '}{name}"
        for key, name in (("fp16", "fp16"), ("fp64", "fp64"), ("subgroups", "sub-groups"))
    )
    sizes = [environment.megabytes(device[key]) for key in ("total_memory", "max_allocation")]
    yield f"{device['device']}: {device['name']} ({kind}, {device['compute_units']} compute units)"
    yield f"    {sizes[0]} of memory, at most {sizes[1]} at once; {features}"
    yield f"    driver {device['driver_version']}, {device['version']}, platform {device['platform_name']}"
    for barred in device["barred"]:
        yield f"    barred: {barred}"


class Report:
    """The results one run of the doctor found."""

    def __init__(self, path: str | None, is_quick: bool) -> None:
        """Opens the file at once, and raises UsageError for a path that cannot be written."""
        self.findings: list[Finding] = []
        self.outcomes: list[Outcome] = []
        self.speed: Speed | None = None
        self.overview: dict[str, Any] = {}
        self.barred: list[str] = []
        self.is_quick = is_quick
        self.begun = datetime.datetime.now(datetime.timezone.utc)
        self.path = path
        self._file: TextIO | None = None
        if path is not None:
            try:
                self._file = Path(path).open("w", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"--report {path}: {error.strerror}") from None

    @property
    def faults(self) -> int:
        return sum(finding.level == "fault" for finding in self.findings)

    def summary(self) -> str:
        barred = f"; barred for this device: {', '.join(self.barred)}" if self.barred else ""
        if not self.faults:
            return f"no fault found{barred}"
        return f"{self.faults} fault{'s' if self.faults > 1 else ''} found{barred}"

    def closing_lines(self) -> Iterable[str]:
        """The lines that end the output."""
        if self.outcomes:
            yield UNCHECKED
        if self.path is not None:
            yield f"the report is in {self.path}: attach it to an issue about a fault or a wrong result"
        yield self.summary()

    def add(self, finding: Finding) -> None:
        self.findings.append(finding)
        self.note_progress("\n".join(finding.lines()))

    def note_progress(self, line: str) -> None:
        """Until ``write`` the file says what runs: a driver may crash the process."""
        if self._file is not None:
            print(line, file=self._file, flush=True)

    def write(self) -> None:
        """Writes the file, if one was asked for."""
        if self._file is not None:
            with self._file as file:
                file.seek(0)
                file.truncate()
                file.write("\n".join([*self._lines(), ""]))

    def _lines(self) -> Iterable[str]:
        kind = "quick" if self.is_quick else "full"
        yield f"TapeCL doctor, {kind}, {self.begun:%Y-%m-%d %H:%M} UTC: {self.summary()}"
        yield ""
        yield from overview_lines(self.overview)
        yield ""
        for finding in self.findings:
            yield from finding.lines()
        if self.outcomes:
            yield ""
            yield f"{'implementation':<58} {'problems':>8} {'error':>8}  (of what is allowed)"
        for outcome in self.outcomes:
            name = f"{outcome.family}={outcome.implementation}"
            if outcome.problems:
                said = f"  WRONG: {outcome.fault}" if outcome.fault else ""
                yield f"{name:<58} {outcome.problems:>8} {outcome.worst:>8.2g}{said}"
            else:
                yield f"{name:<58} {'cannot run here' if outcome.refused else 'not tried'}"
        yield from self._runs()
        if self.outcomes:
            yield ""
            yield UNCHECKED

    def _runs(self) -> Iterable[str]:
        """The problems with their shapes and dtypes, and what computed each."""
        runs: dict[str, list[str]] = {}
        for outcome in self.outcomes:
            for problem in outcome.runs:
                runs.setdefault(problem, []).append(f"{outcome.family}={outcome.implementation}")
        if runs:
            yield ""
            yield "problem, with its shapes and dtype, and the implementations that ran it"
        for problem, names in runs.items():
            yield problem
            yield f"    {', '.join(names)}"

    def as_json(self) -> str:
        everything = {
            "time": self.begun.isoformat(),
            "quick": self.is_quick,
            "faults": self.faults,
            "barred": self.barred,
            **self.overview,
            "findings": [finding._asdict() for finding in self.findings],
            # JSON has no infinity.
            "implementations": [
                {**o._asdict(), "worst": o.worst if o.worst < float("inf") else None} for o in self.outcomes
            ],
            "speed": self.speed._asdict() if self.speed else None,
        }
        return json.dumps(everything, indent=2)
