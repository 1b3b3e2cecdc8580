"""Implementations that were measured: ocl.implementations.measuring and tools/tune.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import numpy as np
import ocl
import ocl.nn.functional as F

draw = np.random.default_rng(0)
x, w = (ocl.tensor(draw.standard_normal(shape).astype(np.float32)) for shape in ((2, 8, 9, 7), (5, 8, 3, 3)))
a, b = (ocl.tensor(draw.standard_normal(shape).astype(np.float32)) for shape in ((65, 130), (130, 33)))
w.requires_grad_()
y = F.conv2d(x, w, padding=1)
y.sum().backward()
sums = [(y * y).sum(), w.grad.abs().sum(), (a @ b).abs().sum()]
planes = ocl.tensor(draw.standard_normal((2, 3, 40, 40)).astype(np.float32)).requires_grad_()
(F.max_pool2d(planes, 2) ** 2).sum().backward()
sums.append(planes.grad.abs().sum())
print("RESULT", *(float(s.item()) for s in sums))
"""


def run(arguments, cache):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"OCL_KERNEL_CACHE": str(cache)},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def results_of(output):
    (line,) = (line for line in output.splitlines() if line.startswith("RESULT"))
    return [float(number) for number in line.split()[1:]]


@pytest.fixture
def script(tmp_path, device):
    path = tmp_path / "script.py"
    path.write_text(f"import ocl; ocl.set_default_device('{device}')\n" + SCRIPT)
    return path


def test_tune_keeps_what_measured_best(script, tmp_path, device):
    cache = tmp_path / "cache"
    exported = tmp_path / "choices.def"
    plain = results_of(run([script], cache))
    tune = ["tools/tune.py", "--device", str(device), "--script", script, "--export", exported]
    output = run(tune, cache)
    assert results_of(output) == pytest.approx(plain, rel=1e-5)
    rows = [line.split() for line in output.splitlines() if re.match(r"\w+ +\w+ +\d+\.\d+ ", line)]
    everywhere = {"conv2d_forward", "conv2d_backward_weight", "gemm", "max_pool2d_backward"}
    assert {row[0] for row in rows} >= everywhere
    assert all(float(row[2]) > 0 and float(row[4]) >= float(row[2]) for row in rows)
    assert all(line.startswith("SHIPPED(") for line in exported.read_text().splitlines())
    # Nothing is measured twice, and the choices count in other processes.
    assert not [line for line in run(tune, cache).splitlines() if line.startswith("gemm ")]
    asked = run(
        ["-c", f"import ocl; print(*ocl.implementations.measured('{device}'), sep='\\n')"], cache
    ).splitlines()
    assert len(asked) == len(rows)
    assert results_of(run([script], cache)) == pytest.approx(plain, rel=1e-5)


def test_a_choice_is_taken_and_forgotten(script, tmp_path, device):
    # One that expected costs do not make: said by hand where the device has two for this product.
    follow_up = tmp_path / "follow_up.py"
    follow_up.write_text(
        f"""
import ocl
from ocl import implementations as lists, profiler
ocl.set_default_device('{device}')
a = ocl.ones(64, 64)

def chosen():
    with profiler.record_calls() as r:
        (a @ a).numpy()
    return next(c for c in r.choices if c.family == "gemm")

usual = chosen()
with lists.measuring():
    a @ a
(kept,) = lists.measured()
assert kept.family == "gemm" and kept.expected == usual.implementation, (kept, usual)
now = chosen()
assert now.implementation == kept.implementation and "measured best" in now.reasons, (kept, now)
lists.forget_measured()
assert not lists.measured() and chosen() == usual
"""
    )
    run([follow_up], tmp_path / "cache")
