"""examples/mnist.py as a user runs it: a program of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ocl.datasets import DownloadError
from ocl.examples import session

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY.parent / "shared" / "data" / "mnist"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no MNIST files in {DATA}, training unchecked")


def run_example(*arguments, **environment):
    command = [sys.executable, str(REPOSITORY / "examples" / "mnist.py"), *map(str, arguments)]
    variables = {**os.environ, **environment}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=900)


def output_of(*arguments, **environment):
    result = run_example(*arguments, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def figures(output):
    """Losses and accuracies: all that a seed fixes."""
    return re.findall(r"loss (\S+)|accuracy (\S+)", re.sub(r"[\d.]+ images/s", "", output))


def expect_one_line_error(result, *words):
    assert result.returncode == 2  # as of the other examples
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stderr.startswith("mnist.py: ")
    for word in words:
        assert word in result.stderr


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """The outputs of two equal runs with one kernel cache, empty at first."""
    cache = str(tmp_path_factory.mktemp("kernel-cache"))
    options = ("--data", DATA, "--epochs", 1, "--batch-size", 32, "--seed", 3)
    return [output_of(*options, OCL_KERNEL_CACHE=cache) for _ in range(2)]


@needs_data
def test_one_epoch_learns_the_digits(two_runs):
    last_line = two_runs[0].splitlines()[-1]
    accuracy = re.fullmatch(r"test accuracy (\d+\.\d\d) %", last_line)
    assert accuracy, last_line
    assert float(accuracy[1]) >= 95


@needs_data
def test_one_seed_gives_the_same_numbers_twice(two_runs):
    assert len(figures(two_runs[0])) > 20
    assert figures(two_runs[0]) == figures(two_runs[1])


@needs_data
def test_the_second_run_builds_no_program(two_runs):
    built = [int(re.search(r"kernels: (\d+) programs built", output)[1]) for output in two_runs]
    assert built[0] > 0
    assert built[1] == 0


@needs_data
@pytest.mark.parametrize("amp", ["bf16", "fp16"])
def test_mixed_precision_learns_the_digits(amp, two_runs):
    output = output_of("--data", DATA, "--epochs", 1, "--batch-size", 32, "--seed", 3, "--amp", amp)
    in_float32, mixed = (float(text.rsplit(maxsplit=2)[1]) for text in (two_runs[0], output))
    assert mixed == pytest.approx(in_float32, abs=1)
    assert figures(output) != figures(two_runs[0])


def test_an_unknown_precision_is_refused():
    result = run_example("--amp", "int8")
    assert result.returncode == 2
    assert "argument --amp: invalid choice: 'int8'" in result.stderr


@needs_data
def test_files_asked_for_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    output = output_of(
        "--data",
        DATA,
        "--dry-run",
        "--plot",
        tmp_path / "curves.png",
        "--profile",
        tmp_path / "trace.json",
        "--save-model",
        tmp_path / "net.safetensors",
    )
    assert re.search(r"first step done after \d+\.\d\d s", output)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "trace.json").stat().st_size > 0
    assert (tmp_path / "net.safetensors").stat().st_size > 100_000


def test_without_files_and_network_it_trains_on_digits(tmp_path):
    pytest.importorskip("sklearn")
    dead_proxy = "http://127.0.0.1:1"
    result = run_example(
        "--epochs",
        1,
        XDG_CACHE_HOME=str(tmp_path),
        http_proxy=dead_proxy,
        https_proxy=dead_proxy,
        OCL_KERNEL_CACHE=str(tmp_path / "kernels"),
    )
    assert result.returncode == 0, result.stderr
    [line] = result.stderr.strip().splitlines()
    assert line.startswith("cannot download train-images-idx3-ubyte.gz (unreachable); put the 4 files of ")
    assert line.endswith("; training on scikit-learn's small digits instead")
    assert result.stdout.splitlines()[-1].startswith("test accuracy ")


def test_without_network_and_scikit_learn_one_line_says_what_to_do(monkeypatch):
    def unreachable(**_):
        raise DownloadError("cannot download train-images; put the files into DIR")

    monkeypatch.setattr(session, "MNIST", unreachable)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DownloadError, match="into DIR, here by --data DIR, or install scikit-learn"):
        session.mnist_or_digits()


def test_a_device_that_is_not_there_is_one_line():
    expect_one_line_error(run_example("--device", "ocl:99"), "99")


def test_missing_files_are_one_line(tmp_path):
    expect_one_line_error(run_example("--data", tmp_path), "train-images-idx3-ubyte", str(tmp_path))


@needs_data
def test_a_corrupt_file_is_one_line(tmp_path):
    for file in DATA.glob("*.gz"):
        shutil.copyfile(file, tmp_path / file.name)
    labels = tmp_path / "t10k-labels-idx1-ubyte.gz"
    labels.write_bytes(labels.read_bytes()[:-20])
    expect_one_line_error(run_example("--data", tmp_path), "t10k-labels-idx1-ubyte.gz")
