"""The command line of ``python -m ocl``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from ocl.doctor import drivers, rights
from ocl.doctor.findings import Finding, UsageError, fault, ok

if TYPE_CHECKING:
    from ocl.doctor.report import Report

__all__ = ["main"]

REPEATS, REPEATS_IF_QUICK = 300, 100


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parser() -> argparse.ArgumentParser:
    top = Parser(
        prog="python -m ocl",
        description="Shows versions, OpenCL devices and drivers, the kernel cache and variables.",
    )
    commands = top.add_subparsers(dest="command", parser_class=Parser)
    doctor = commands.add_parser(
        "doctor",
        help="check that a device works and computes right, and say what to do where not",
        description="Checks drivers, rights, memory and every kernel of a device, and measures its speed. "
        "Exit status: 0 without a fault, 1 with one, 2 for a wrong command line.",
    )
    option = doctor.add_argument
    option("--device", metavar="NAME", help="ocl:N as `python -m ocl` prints them, or cpu; default ocl:0")
    option("--report", metavar="FILE", help="write all of it to a text file, to attach to an issue")
    option("--quick", action="store_true", help="fewer problems and repeats: seconds in place of minutes")
    option("--json", action="store_true", help="print everything as JSON")
    bars = doctor.add_mutually_exclusive_group()
    bars.add_argument(
        "--bar",
        action="store_true",
        help="leave out the implementations found faulty on this device from now on, in every process",
    )
    bars.add_argument(
        "--unbar", action="store_true", help="take back what was barred for this device, and end"
    )
    return top


def main(arguments: list[str], library_error: str = "") -> int:
    """The exit status. `library_error`: why the C++ library did not load, for lack of an OpenCL loader."""
    try:
        options = parser().parse_args(arguments)
        if options.command is None:
            return _show(library_error)
        if options.unbar:
            return _unbar(options.device, library_error)
        return _doctor(options, library_error)
    except UsageError as error:
        print(f"python -m ocl: {error}", file=sys.stderr)
        return 2


def _show(library_error: str) -> int:
    from ocl.doctor import report

    for line in report.overview_lines(report.overview(not library_error)):
        print(line)
    faults = [found for found in drivers.check(library_error) if found.level == "fault"]
    for found in faults:
        print("\n".join(found.lines()))
    return 1 if faults else 0


def device_named(name: str | None) -> Any:
    """The device, or None where the machine has none or this one does not open. Raises UsageError."""
    import ocl

    wanted, count = name or "ocl:0", ocl.device_count()
    numbered = re.fullmatch(r"ocl(:\d+)?", wanted)
    if not numbered and wanted != "cpu":
        raise UsageError(f"--device {wanted}: expected ocl:N, ocl or cpu")
    if not count:
        return None
    if numbered and int((numbered[1] or ":0")[1:]) >= count:
        known = ", ".join(f"ocl:{i}" for i in range(count))
        raise UsageError(f"--device {wanted}: there is no such device; there are: {known}")
    try:
        return ocl.device(wanted)
    except ValueError as error:  # OCL_IMPLEMENTATIONS, which is read with the first device
        raise UsageError(str(error)) from None
    except ocl.DeviceError as error:
        if wanted == "cpu":
            raise UsageError(f"--device cpu: {str(error).splitlines()[0]}") from None
        raise


def _unbar(name: str | None, library_error: str) -> int:
    if library_error:
        raise UsageError(f"--unbar needs the library, which does not load: {library_error}")
    from ocl import implementations

    device = device_named(name)
    if device is None:
        raise UsageError("--unbar: this machine shows no OpenCL device")
    barred = implementations.barred(device)
    implementations.unbar(device)
    print(f"{device}: {len(barred)} implementation{'' if len(barred) == 1 else 's'} taken back")
    return 0


def _doctor(options: argparse.Namespace, library_error: str) -> int:
    from ocl.doctor.report import Report, overview

    device, device_error = None, ""
    if not library_error:
        import ocl

        try:
            device = device_named(options.device)
        except ocl.DeviceError as error:
            device_error = str(error).splitlines()[0]
    report = Report(options.report, options.quick)
    out = _Output(report, is_silent=options.json)
    out.add(drivers.check(library_error))
    if device_error:
        out.add([fault("device", device_error, "update the driver, and check its rights and memory")])
    out.add(rights.check(works_on_gpu=device is not None and _is_gpu(device)))
    if device is not None:
        _check_device(device, options, out)
    report.overview = overview(not library_error)
    report.write()
    if options.json:
        print(report.as_json())
    out.end()
    return 1 if report.faults else 0


def _is_gpu(device: Any) -> bool:
    import ocl

    return not ocl.get_device_properties(device)["is_cpu"]


def _check_device(device: Any, options: argparse.Namespace, out: _Output) -> None:
    import ocl
    from ocl import implementations
    from ocl.doctor import accuracy, environment, hardware, repeats
    from ocl.doctor.problems import problems

    report = out.report
    out.add(_guarded("device", hardware.check(device)))
    out.add([environment.check_cache()])
    barred = {f"{b.family}={b.implementation}" for b in implementations.barred(device)}
    report.barred = sorted(barred)
    dtypes = {"float32", "float16", "bfloat16"}
    if ocl.get_device_properties(device)["fp64"]:
        dtypes.add("float64")
    for outcomes in accuracy.check(device, problems(options.quick, dtypes), out.progress):
        report.outcomes += outcomes
        out.add(accuracy.findings(outcomes, barred))
    faulty = [f"{o.family}={o.implementation}" for o in report.outcomes if o.fault]
    count = REPEATS_IF_QUICK if options.quick else REPEATS
    out.add(_guarded("repeats", repeats.check(device, count, faulty, barred, out.progress)))
    out.progress("speed")
    out.add(_guarded("speed", _measured(device, report, options.quick)))
    if options.bar:
        _bar(device, out)


def _measured(device: Any, report: Report, quick: bool) -> Iterator[Finding]:
    from ocl.doctor import speed

    report.speed, found = speed.check(device, quick)
    yield found


def _guarded(subject: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Ends with a fault, and not with a traceback, where the device fails."""
    import ocl

    try:
        yield from findings
    except ocl.DeviceError as error:
        text = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        yield fault(subject, text, "update the driver; attach the file of `--report FILE` to an issue")


def _bar(device: Any, out: _Output) -> None:
    """Bars what was found faulty."""
    from ocl import implementations

    found = [f for f in out.report.findings if f.level == "fault" and f.implementation]
    for finding in found:
        family, name = finding.implementation.split("=")
        try:
            implementations.bar(family, name, f"doctor: {finding.text}", device)
        except OSError as error:
            remedy = "set OCL_KERNEL_CACHE to a folder that you alone may write, or OCL_IMPLEMENTATIONS="
            remedy += f"{family}=-{name} in every process"
            out.add([fault("bar", f"{finding.implementation} cannot be barred: {error}", remedy)])
            return
        out.report.barred.append(finding.implementation)
        out.add([ok("bar", f"{finding.implementation} is left out on {device} from now on")])
    if not found:
        out.add([ok("bar", "nothing to bar")])


class _Output:
    """Prints findings as they come, and on a terminal what runs meanwhile."""

    def __init__(self, report: Report, is_silent: bool) -> None:
        self.report, self._is_silent = report, is_silent
        self._is_terminal = sys.stderr.isatty()

    def progress(self, line: str) -> None:
        self.report.note_progress(f"running {line}")
        if self._is_terminal:
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self._is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.report.add(finding)
            if not self._is_silent:
                self._clear()
                print("\n".join(finding.lines()), flush=True)

    def end(self) -> None:
        self._clear()
        if not self._is_silent:
            print("\n".join(self.report.closing_lines()))
