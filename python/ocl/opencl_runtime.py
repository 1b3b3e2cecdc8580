"""Finds OpenCL before a compiled module is loaded: its loader, and a driver where the system has none.

Both packages, `ocl` and `torch_ocl`, have this file. It imports nothing of them, and nothing slow.
"""

import ctypes
import glob
import os
import sys

_VENDORS = "/etc/OpenCL/vendors"
# The variables that name drivers to a loader. Whoever has set one of these has chosen.
_CHOICES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")
_WHEEL, _DRIVER = "intel-opencl-rt", "libintelocl.so"


def prepare() -> None:
    """Names the driver of the extra ``[cpu]`` if there is no other, and loads the system's loader.

    A wheel has a loader of its own, which the compiled module finds only where the system has none.
    """
    if sys.platform != "linux":
        return
    if not _system_has_driver() and (driver := _driver_of_wheel()):
        os.environ["OCL_ICD_VENDORS"] = driver  # read by ocl-icd, which takes a library as well as a folder
        os.environ["OCL_ICD_FILENAMES"] = driver  # read by Khronos's loader
    try:
        ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        pass  # the wheel's own comes with the compiled module


def _system_has_driver() -> bool:
    return any(os.environ.get(name) for name in _CHOICES) or bool(glob.glob(f"{_VENDORS}/*.icd"))


def _driver_of_wheel() -> str | None:
    import importlib.metadata  # slow, and needed only here

    try:
        files = importlib.metadata.files(_WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (os.path.realpath(file.locate()) for file in files if file.name == _DRIVER)
    return next(filter(os.path.exists, paths), None)
