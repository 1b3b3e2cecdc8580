"""``python -m ocl`` in a process of its own, and the doctor with less to do."""

import contextlib
import io
import os
import subprocess
import sys

from processes import ROOT

from ocl.doctor import command, problems

# A linear layer and a pool: what a test needs that is of the command line and not of kernels.
FEW = [p for p in problems.problems(True, {"float32"}) if p.name.startswith(("linear 5x37", "max_pool2d"))]


def run(*arguments, **environment):
    """(exit status, standard output, standard error). A variable of None is taken away."""
    wanted = {**os.environ, **environment}.items()
    variables = {name: str(value) for name, value in wanted if value is not None}
    command_line = [sys.executable, "-m", "ocl", *map(str, arguments)]
    done = subprocess.run(
        command_line, env=variables, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout, done.stderr


def run_with_few(monkeypatch, *arguments):
    """(exit status, standard output, standard error) of this process's, over FEW problems."""
    monkeypatch.setattr(problems, "problems", lambda quick, dtypes: FEW)
    monkeypatch.setattr(command, "REPEATS_IF_QUICK", 3)
    monkeypatch.setattr("ocl.doctor.accuracy.FAMILIES", _families_of(FEW))
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = command.main(["doctor", "--quick", *map(str, arguments)])
    return status, output.getvalue(), errors.getvalue()


def _families_of(some):
    used = {family for problem in some for family in problem.kind.families}
    return {family: prefix for family, prefix in problems.FAMILIES.items() if family in used}
