"""vit-pytorch is imported as a package over ocl, and its nets give PyTorch's numbers."""

import importlib.util

import numpy as np
import pytest
from comparisons import not_compared
from other_libraries import is_as_near, run

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("vit_pytorch", "einops")),
    reason=not_compared("vit-pytorch as a package over ocl", "vit-pytorch and einops"),
)


@pytest.mark.parametrize("name", ["vit", "cct"])
def test_nets_give_the_numbers_of_pytorch(name, tmp_path):
    """Outputs and gradients are at most 4 times as far from float64 as PyTorch's float32."""
    run("vit_pytorch_nets.py", name, tmp_path / "theirs.npz", "--double", over_ocl=False)
    run("vit_pytorch_nets.py", name, tmp_path / "ours.npz", over_ocl=True)
    theirs, ours = np.load(tmp_path / "theirs.npz"), np.load(tmp_path / "ours.npz")
    for what in ("output", "gradients"):
        exact = theirs[f"exact {what}"]
        assert exact.any() and is_as_near(ours[f"single {what}"], theirs[f"single {what}"], exact), what
