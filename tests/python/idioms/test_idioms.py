"""Lines that users of PyTorch write give on ocl what they give on torch."""

import pytest
import torch
from idiom_runs import DEVIATIONS, LINES, difference, neutral, run

import ocl


def test_there_are_many_and_known_deviations_are_among_them():
    assert len(LINES) > 1000 and len(set(LINES)) == len(LINES)
    assert set(DEVIATIONS) <= set(LINES)
    assert len(DEVIATIONS) < len(LINES) / 6


@pytest.mark.parametrize("line", [line for line in LINES if line not in DEVIATIONS])
def test_idiom(line):
    if torch.version.cuda and ("cuda" in line or "cudnn" in line):
        pytest.skip("this PyTorch is built for CUDA, and ocl says that it is not")
    assert difference(neutral(run(line, ocl)), neutral(run(line, torch))) is None
