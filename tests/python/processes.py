"""Python programs run as processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(program, *arguments, **environment):
    """Starts `program`, Python text, with variables set on top of this process's."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        command, env=variables, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process, timeout=300):
    """(standard output, standard error) of a program that must succeed."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, f"exit code {process.returncode}:\n{errors}"
    return output, errors


def run(program, *arguments, **environment):
    return finish(start(program, *arguments, **environment))


def find_program(name):
    """The C++ program of the tests as the newest of all builds has it, or None."""
    folders = [os.environ["OCL_TEST_PROGRAMS"]] if "OCL_TEST_PROGRAMS" in os.environ else []
    found = [path for f in folders or ROOT.glob("build/*/tests") if (path := Path(f) / name).exists()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
