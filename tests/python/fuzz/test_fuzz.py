"""A short run of the fuzzer; the long one runs by name (docs/fuzzing.md)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ocl

FUZZER = Path(__file__).parent
DEVICE = os.environ.get("OCL_TEST_DEVICE", "ocl:0")
MEMORY = 0 if "NVIDIA" in ocl.get_device_name(DEVICE) else 12  # CUDA reserves more addresses than that


def fuzz(*arguments, timeout):
    command = [sys.executable, FUZZER, "--device", DEVICE, "--memory", str(MEMORY), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]


CASES = {
    "operators": 150,
    "arguments": 150,
    "programs": 250,
    "files": 300,
    "program_files": 300,
    "onnx_files": 400,
    "doors": 300,
    "subsets": 150,
    "numbers": 300,
    "modules": 80,
    "training": 40,
}


@pytest.mark.parametrize("kind", CASES)
def test_short_run(kind):
    if kind == "onnx_files":
        pytest.importorskip(
            "onnx.checker", reason="NOT TESTED: damaged ONNX files, as there is no package onnx"
        )
    fuzz("--kinds", kind, "--cases", CASES[kind], "--seed", 1, timeout=600)


@pytest.mark.slow
def test_long_run():
    fuzz("--minutes", 30, "--seed", 2, timeout=3600)
