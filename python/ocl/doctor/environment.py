"""Versions, variables and the kernel cache: what a report begins with."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from typing import Any

from ocl.doctor.findings import Finding, fault, note, ok

__all__ = ["cache", "check_cache", "devices", "megabytes", "variables", "versions"]

# Beside those of TapeCL, which begin with OCL_, what changes which devices there are.
OF_OTHERS = (
    "CL_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "OPENCL_",
    "POCL_",
    "RUSTICL_",
    "XDG_CACHE_HOME",
)


def version_of(distribution: str) -> str:
    """Empty where it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    import numpy

    found = {"tapecl": _own_version(), "python": platform.python_version(), "numpy": numpy.__version__}
    found["torch"] = version_of("torch")
    has_backend = importlib.util.find_spec("torch_ocl") is not None
    found["torch_ocl"] = version_of("tapecl-torch") or ("of unknown version" if has_backend else "")
    found["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return {name: version for name, version in found.items() if version}


def _own_version() -> str:
    import ocl

    # Without a loader the package is only half imported.
    return getattr(ocl, "__version__", "") or version_of("tapecl") or "of unknown version"


def variables() -> dict[str, str]:
    """The environment variables that are set and change something here."""
    return {
        name: value for name, value in sorted(os.environ.items()) if name.startswith(("OCL_", *OF_OTHERS))
    }


def devices() -> list[dict[str, Any]]:
    """Describes each device, with its name and what is barred; one that does not open has an "error"."""
    import ocl

    found = []
    for index in range(ocl.device_count()):
        name = f"ocl:{index}"
        try:
            properties = ocl.get_device_properties(name)
            barred = [f"{b.family}={b.implementation} ({b.reason})" for b in ocl.implementations.barred(name)]
            found.append({"device": name, **properties, "barred": barred})
        except (ocl.DeviceError, ValueError) as error:  # the latter for a wrong OCL_IMPLEMENTATIONS
            found.append({"device": name, "error": str(error)})
    return found


def cache() -> dict[str, Any]:
    """path ("" where there is none), entries, bytes."""
    import ocl

    info = ocl.kernel_cache_info()
    return {name: info[name] for name in ("path", "entries", "bytes")}


def megabytes(count: int) -> str:
    return f"{count / 2**20:.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"


def check_cache() -> Finding:
    known = cache()
    if known["path"]:
        return ok("cache", f"{known['path']}: {known['entries']} kernels, {megabytes(known['bytes'])}")
    if os.environ.get("OCL_KERNEL_CACHE") == "off":
        return note(
            "cache", "kernels are built in every process: OCL_KERNEL_CACHE=off", "unset OCL_KERNEL_CACHE"
        )
    return fault(
        "cache",
        "kernels are built in every process: the cache's folder cannot be used (the warning above says why)",
        "set OCL_KERNEL_CACHE to a folder that you alone may write",
    )
