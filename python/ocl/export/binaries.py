"""Kernels as the drivers of devices build them, for the files of programs (``ExportedProgram.save``)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ocl
from ocl._C._export import ExportedProgram, load_program

_RUN = """
import sys
sys.path[:] = filter(None, sys.path)  # -c puts the current folder first
import ocl
from ocl._C._export import load_program, with_binaries
path, device = sys.argv[1], ocl.device(sys.argv[2])
with_binaries(load_program(path, device), device).save(path)
"""


def built(program: ExportedProgram, devices) -> ExportedProgram:
    """The program with its kernels for each of the devices. A process a device runs it with a kernel cache of
    its own, which holds nothing else afterwards. Raises RuntimeError with the message of a process that
    fails."""
    devices = [ocl.device(device) for device in devices]
    if not devices:
        raise ValueError("save: binaries: at least one device expected, got none")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.ocl"
        program.save(path)
        for i, device in enumerate(devices):
            own = {
                "OCL_KERNEL_CACHE": str(Path(folder) / f"kernels_{i}"),
                "POCL_KERNEL_CACHE": "0",  # so that all of PoCL's binaries are waited for
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            }
            command = [sys.executable, "-c", _RUN, path, str(device)]
            done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"save: binaries for {device}: {done.stderr.strip()}")
        return load_program(path, devices[0])
