"""The error that `import ocl` raises on a machine without an OpenCL loader, which the C++ library needs."""

from __future__ import annotations

import sys

__all__ = ["INSTALL", "MISSING", "explained"]

MISSING = "this machine has no OpenCL loader (libOpenCL.so.1)"
INSTALL = (
    "install one: `apt install ocl-icd-libopencl1` on Debian and Ubuntu, `dnf install ocl-icd` on Fedora"
)


def explained(error: ImportError) -> BaseException:
    """The error to raise in place of the import's error: one line if the loader is what is missing.

    ``python -m ocl`` goes on without the library, and says what is missing.
    """
    if "libOpenCL" not in str(error):
        return error
    message = f"ocl: {MISSING}; {INSTALL} ({error})"
    if sys.argv[:1] != ["-m"]:  # which it is while Python looks for the module that `python -m` is to run
        return ImportError(message)
    if _module_to_run() != "ocl":
        return SystemExit(message)
    from ocl.doctor.command import main

    return SystemExit(main(sys.argv[1:], library_error=str(error)))


def _module_to_run() -> str:
    given = sys.orig_argv
    return given[given.index("-m") + 1] if "-m" in given[:-1] else ""
