"""vit-pytorch is imported as a package over ocl, and its nets give PyTorch's numbers."""

import importlib.util

import pytest
from comparisons import not_compared
from other_libraries import require_numbers_of_pytorch

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("vit_pytorch", "einops")),
    reason=not_compared("vit-pytorch as a package over ocl", "vit-pytorch and einops"),
)


@pytest.mark.parametrize("name", ["vit", "cct"])
def test_nets_give_the_numbers_of_pytorch(name, tmp_path):
    """Outputs and gradients are at most 4 times as far from float64 as PyTorch's float32."""
    require_numbers_of_pytorch("vit_pytorch_nets.py", name, folder=tmp_path)
