"""Everything here needs torch_ocl, and fails where an operator runs on the CPU unasked."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    torch.manual_seed(0)
