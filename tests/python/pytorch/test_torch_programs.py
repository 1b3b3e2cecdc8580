"""Programs on PyTorch's side, run as a user runs them."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
from example_programs import REPOSITORY, output_of  # noqa: E402

DATA = REPOSITORY.parent / "shared" / "data" / "mnist"
needs_data = pytest.mark.skipif(not Path(DATA).is_dir(), reason=f"no MNIST files in {DATA}, unchecked")


@needs_data
def test_the_mnist_example_takes_a_step(tmp_path):
    saved = tmp_path / "net.pt"
    options = ("--data", DATA, "--epochs", 1, "--dry-run", "--save-model", saved)
    output = output_of("torch_mnist.py", *options, TORCH_OCL_FALLBACK="error")
    assert "training on" in output and re.search(r"test accuracy \d+\.\d\d %", output)
    assert saved.stat().st_size > 1_000_000


@needs_data
@pytest.mark.slow
def test_the_mnist_example_learns_the_digits():
    output = output_of("torch_mnist.py", "--data", DATA, "--epochs", 8, TORCH_OCL_FALLBACK="error")
    assert float(re.search(r"test accuracy (\S+) %", output)[1]) >= 97.5
