"""Programs that import another library, in a process with PyTorch and in one with ocl in its place."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENT = {
    **os.environ,
    "OMP_WAIT_POLICY": "PASSIVE",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    "HF_HUB_OFFLINE": "1",
}


def run(program, *arguments, over_ocl):
    """Runs a program of the folder, which must say at its end that it is done."""
    command = [sys.executable, *(["-m", "ocl.as_torch"] if over_ocl else []), PROGRAMS / program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=900)
    assert done.returncode == 0 and done.stdout.endswith("DONE\n"), done.stderr[-4000:]


def distance(values, truth):
    return np.linalg.norm(values - truth) / max(np.linalg.norm(truth), np.finfo(np.float32).tiny)


def is_as_near(ours, theirs, truth):
    """Whether ours is at most 4 times as far from the truth as PyTorch's float32."""
    return distance(ours, truth) <= 4 * distance(theirs, truth) + 2 * np.finfo(np.float32).eps


def require_numbers_of_pytorch(program, *arguments, folder):
    """Runs a program that ends in results.write_results both ways, and compares output and gradients.

    A number of 1e-9 beside a ReLU's kink may fall to either side in float32, which changes the gradients of
    all layers before it. So those of another picture are compared where they are far from the truth; what is
    wrong is far for every picture.
    """
    for seed in ("--seed=1", "--seed=2", "--seed=3"):
        run(program, *arguments, folder / "theirs.npz", "--double", seed, over_ocl=False)
        run(program, *arguments, folder / "ours.npz", seed, over_ocl=True)
        theirs, ours = np.load(folder / "theirs.npz"), np.load(folder / "ours.npz")
        near = {}
        for what in ("output", "gradients"):
            exact = theirs[f"exact {what}"]
            assert exact.any(), what
            near[what] = is_as_near(ours[f"single {what}"], theirs[f"single {what}"], exact)
        assert near["output"]
        if near["gradients"]:
            return
    raise AssertionError("gradients of three pictures")
