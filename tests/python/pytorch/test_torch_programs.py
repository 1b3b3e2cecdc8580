"""Programs on PyTorch's side, run as a user runs them."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
import numpy as np  # noqa: E402
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
def test_the_mnist_example_trains_alike_with_a_graph():
    options = ("--data", DATA, "--epochs", 1, "--batch-size", 1400, "--log-interval", 1)
    steps = [
        re.findall(r"Train Epoch.*", output_of("torch_mnist.py", *options, *more, TORCH_OCL_FALLBACK="error"))
        for more in ([], ["--graph"])
    ]
    assert steps[0] == steps[1] and len(steps[0]) == 7  # the last of them with a smaller batch


@needs_data
@pytest.mark.slow
def test_the_mnist_example_learns_the_digits():
    output = output_of("torch_mnist.py", "--data", DATA, "--epochs", 8, TORCH_OCL_FALLBACK="error")
    assert float(re.search(r"test accuracy (\S+) %", output)[1]) >= 97.5


# torchvision as it is installed for the tests, without its compiled operators.
WITH_TORCHVISION = """
import runpy, sys, types
sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(program, *options, fails=False):
    command = [sys.executable, "-c", WITH_TORCHVISION, REPOSITORY / "examples" / program, *options]
    command = [str(part) for part in command]
    alone = os.environ | {"CUDA_VISIBLE_DEVICES": ""}  # which transformers would take before all others
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=alone)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def train_pictures(*options, **expected):
    return run("torch_imagenet.py", "--size", 64, "-j", 0, *options, **expected)


@pytest.fixture
def picture_folder(tmp_path):
    """Two classes that are told apart by their colour."""
    image = pytest.importorskip("PIL.Image")
    if not importlib.util.find_spec("torchvision"):
        pytest.skip("NOT TESTED: torchvision is not installed")
    generator = np.random.default_rng(0)
    for part, count in (("train", 16), ("val", 4)):
        for k, name in enumerate(("blue", "red")):
            folder = tmp_path / "data" / part / name
            folder.mkdir(parents=True)
            for i in range(count):
                pixels = generator.integers(0, 60, (40, 40, 3), dtype=np.uint8)
                pixels[..., 2 - 2 * k] += 150
                image.fromarray(pixels).save(folder / f"{i}.png")
    return tmp_path / "data"


def test_the_imagenet_example_learns_goes_on_and_tests(picture_folder, tmp_path):
    saved = tmp_path / "checkpoint.pth"
    common = (
        picture_folder,
        "--arch",
        "resnet18",
        "-b",
        8,
        "--lr",
        0.002,
        "--seed",
        5,  # with 1 a ReLU near 0 decides: norms of 12 steps are not settled, and rounding sways them
        "--checkpoint",
        saved,
    )
    output = train_pictures(*common, "--epochs", 3)
    assert "training on" in output
    assert float(re.findall(r"test accuracy (\S+) %", output)[-1]) == 100
    output = train_pictures(*common, "--epochs", 4, "--resume", saved, "--amp", "--channels-last")
    assert "going on after epoch 3" in output and "Epoch 4 [4/4]" in output and "Epoch 3" not in output
    tested = train_pictures(*common, "--resume", tmp_path / "best-checkpoint.pth", "--evaluate")
    assert "test accuracy 100.00 %" in tested and "Epoch" not in tested
    assert "--arch resnet18, not alexnet" in train_pictures(
        picture_folder, "--arch", "alexnet", "--resume", saved, "--evaluate", fails=True
    )
    assert "either a folder" in train_pictures("--arch", "resnet18", fails=True)


def test_the_fine_tuning_example_learns(tmp_path):
    for package in ("transformers", "accelerate"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"NOT TESTED: {package} is not installed")
    output = run("torch_finetune.py", "--save", tmp_path / "model")
    assert "training on ocl:0" in output
    assert float(re.search(r"test accuracy (\S+) %", output)[1]) >= 90
    rows = tmp_path / "rows.csv"
    rows.write_text("text,label\nthe film was not great,bad\nour trip was lovely,good\n", encoding="utf-8")
    given = ("--train", rows, "--test", rows, "--model", tmp_path / "model", "--epochs", 1)
    assert "test accuracy 100.00 %" in run("torch_finetune.py", *given, "--autocast")
    rows.write_text("sentence,label\na,b\n", encoding="utf-8")
    assert "columns text and label" in run("torch_finetune.py", *given, fails=True)
