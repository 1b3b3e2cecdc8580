"""The programs in examples/, run as a user runs them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import ocl

REPOSITORY = Path(__file__).parents[2]


def command(program, *arguments):
    device = ("--device", str(ocl.get_default_device()))
    return [sys.executable, str(REPOSITORY / "examples" / program), *device, *map(str, arguments)]


def output_of(program, *arguments, cwd=None, **environment):
    """The output of a program that must succeed."""
    result = subprocess.run(
        command(program, *arguments),
        env={**os.environ, **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def kill_when_it_prints(text, program, *arguments):
    """SIGKILL as soon as `text` appears in the output."""
    with subprocess.Popen(command(program, *arguments), stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if text in line:
                process.kill()
                return
    raise AssertionError(f"{program} never printed {text!r}")


def interrupted_when_it_prints(text, program, *arguments, times=1):
    """(exit code, standard error) of a program that Ctrl-C stops, so many times in a row."""
    with subprocess.Popen(
        command(program, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if text in line:
                break
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        return process.returncode, errors
