"""The comparison with PyTorch can fail: what the operator tests rest on; and one left out is told."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from support import assert_close_to_truth, assert_same, check_like_torch

import ocl

X = np.linspace(-2, 3, 12, dtype=np.float32).reshape(3, 4)


def test_equal_functions_pass():
    check_like_torch(lambda lib, x: lib.exp(x) * 2, X)
    check_like_torch(lambda lib, x: x.sum(0), X, unit="sums")


@pytest.mark.parametrize("unit", ["element", "sums", "largest"])
def test_a_result_off_by_a_hundred_thousandth_fails(unit):
    with pytest.raises(AssertionError, match="result: .* elements off"):
        check_like_torch(lambda lib, x: x * (1.00001 if lib is ocl else 1.0), X, unit=unit)


@pytest.mark.parametrize("unit", ["element", "sums", "largest", "largest gradient"])
def test_a_wrong_gradient_fails(unit):
    def function(lib, x):
        y = x * 3
        return y - (y.detach() - x) if lib is ocl else x * 1  # the same value, four times the gradient

    with pytest.raises(AssertionError, match="gradient of input 0: .* elements off"):
        check_like_torch(function, np.float32([1, 2, 4]), unit=unit)


def test_other_shapes_dtypes_and_missing_infinities_fail():
    with pytest.raises(AssertionError, match="result"):
        check_like_torch(lambda lib, x: x[None] if lib is ocl else x, X)
    with pytest.raises(AssertionError):
        assert_same(ocl.tensor([1]), torch.tensor([1.0]))
    with pytest.raises(AssertionError):
        assert_same(ocl.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
    infinite = torch.tensor([np.inf, 1.0])
    with pytest.raises(AssertionError):
        assert_close_to_truth(ocl.tensor([1e38, 1.0]), infinite.double(), infinite)
    with pytest.raises(AssertionError, match="not finite where PyTorch is"):
        assert_close_to_truth(ocl.tensor([np.inf, np.nan]), infinite.double(), infinite)


def test_what_was_not_compared_is_told_at_the_end(tmp_path):
    tests = Path(__file__).parent / "models" / "test_same_bits_as_cpp.py"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        env={**os.environ, "OCL_TEST_PROGRAMS": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout
    assert "NOT COMPARED: Python's bits with C++'s, as there is no build of" in result.stdout
    assert "three_steps (2 skipped)" in result.stdout
