"""OpenCL's loader, the drivers it is given, and what platforms and devices they show."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

from ocl.doctor import loader
from ocl.doctor.findings import Finding, fault, note, ok

__all__ = ["announced", "check", "loader_path", "platforms", "vendors"]

INSTALL = (
    "install a driver: `apt install pocl-opencl-icd` runs on any CPU, docs/devices.md lists those of GPUs; "
    "`clinfo --list` shows what there is"
)
# The advice where a platform shows no device, by a part of its name.
NO_DEVICE = {
    "Portable": "PoCL shows none where it cannot write: set POCL_CACHE_DIR to a folder of yours",
    "rusticl": "set RUSTICL_ENABLE to your GPU's Mesa driver: radeonsi, iris, panfrost, freedreno, llvmpipe",
    "NVIDIA": "check with `nvidia-smi` that the kernel's module runs and fits the driver; in a container, "
    "start it with `--gpus all`",
}
NO_DEVICE_OF_OTHERS = (
    "check the rights on the device's files (above), and that the kernel has the hardware's module"
)


def loader_path() -> str:
    """The loader that this process uses; "" where that cannot be seen."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return ""
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if line.count("/")}
    return min((path for path in paths if "libOpenCL" in Path(path).name), default="")


def vendors() -> Path:
    """The folder (or the file) whose entries name drivers."""
    return Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")


def announced() -> list[tuple[str, str]]:
    """Each entry that names a driver, and the library that it names."""
    where = vendors()
    if ".so" in where.name:  # OCL_ICD_VENDORS may name a library
        return [("OCL_ICD_VENDORS", str(where))]
    entries = sorted(where.glob("*.icd")) if where.is_dir() else [where] if where.is_file() else []
    named = []
    for entry in entries:
        try:
            lines = entry.read_text(errors="replace").split("\n")
        except OSError as error:
            lines = [f"({error.strerror})"]
        named.append((str(entry), lines[0].strip()))
    return named


def load_error(library: str) -> str:
    """Why a library does not load; "" where it does."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""


def check(library_error: str = "") -> Iterator[Finding]:
    """`library_error`: why the library did not load, for lack of a loader."""
    if library_error:
        yield fault("loader", f"{loader.MISSING}: {library_error}", loader.INSTALL)
        yield from _of_announced(is_fault=True)
        return
    found = platforms()
    yield ok("loader", loader_path() or "found")
    yield from _of_announced(is_fault=not found)
    yield from _of_platforms(found)


def _of_announced(is_fault: bool) -> Iterator[Finding]:
    """`is_fault`: no platform is there, so that drivers must be missing."""
    drivers = announced()
    if not drivers and is_fault:
        yield fault("driver", f"no driver is announced: {vendors()} has no .icd file", INSTALL)
    for entry, library in drivers:
        if error := load_error(library):
            remedy = "install the package that the library is of, or remove the .icd file"
            yield fault("driver", f"{library}, which {entry} names, does not load: {error}", remedy)
        else:
            yield ok("driver", f"{library}, named by {entry}")


def platforms() -> list[tuple[str, int]]:
    """Each platform and the number of its devices."""
    import ocl

    return ocl._C._platforms()


def _of_platforms(found: list[tuple[str, int]]) -> Iterator[Finding]:
    has_device = any(devices for _, devices in found)
    for name, devices in found:
        if devices:
            yield ok("platform", f"{name}: {devices} device{'s' if devices > 1 else ''}")
            continue
        remedy = next((text for part, text in NO_DEVICE.items() if part in name), NO_DEVICE_OF_OTHERS)
        yield (note if has_device else fault)("platform", f"{name} shows no device", remedy)
    if not found and announced():
        yield fault("platform", "the drivers show no OpenCL platform", INSTALL)
