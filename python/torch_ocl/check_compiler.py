"""Says whether a C++ compiler uses the C++ runtime that PyTorch loads: exit code 0, or 1 and one line.

    check_compiler.py COMPILER [FLAG...]

A library with a runtime of its own crashes at the first text that crosses between it and PyTorch.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_PROBE = """
#include <sstream>
extern "C" unsigned probe() {
  std::ostringstream text;
  text << 1.5;
  return text.str().size();
}
"""


def fault_of(compiler, flags=()):
    """The fault, in one line; None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "probe.cpp"), Path(folder, "probe.so")
        source.write_text(_PROBE)
        command = [compiler, *flags, "-std=c++20", "-shared", "-fPIC", source, "-o", library]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            return f"there is no compiler {compiler}"
        except subprocess.CalledProcessError as error:
            return f"{compiler} compiles no C++20: {error.stderr.strip().splitlines()[0]}"
        dynamic = subprocess.run(
            ["readelf", "-d", library], check=True, capture_output=True, text=True
        ).stdout
        if "libstdc++.so.6" not in dynamic:
            return (
                f"{compiler} links a C++ runtime of its own, not the shared libstdc++.so.6 that PyTorch loads"
            )
        import torch  # noqa: F401  from here on its libstdc++ is the one of this process

        try:
            ctypes.CDLL(str(library))
        except OSError as error:
            return f"{compiler} needs a newer libstdc++.so.6 than the one that PyTorch loads: {error}"
    return None


if __name__ == "__main__":
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # a back end that is there already stays out
    sys.exit(fault_of(sys.argv[1], sys.argv[2:]))
