"""examples/train.cpp and predict.cpp: they name pictures as they were trained, and share files with Python's.

The programs are those of the newest build, as ./test.sh or ``cmake --build --preset …`` made them;
OCL_EXAMPLE_PROGRAMS names the folder of others.
"""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import predict
import pytest
import train
from PIL import Image
from training.data import MadePictures

import ocl
from ocl import models

REPOSITORY = Path(__file__).parents[3]
DIGITS, TESTED, SIDE = 320, 40, 28


def find_programs():
    """The folder of the newest build that has both, or None."""
    folders = [os.environ["OCL_EXAMPLE_PROGRAMS"]] if "OCL_EXAMPLE_PROGRAMS" in os.environ else []
    folders = folders or REPOSITORY.glob("build/*/examples")
    found = [Path(folder) for folder in folders if (Path(folder) / "predict").exists()]
    return max(found, key=lambda path: (path / "predict").stat().st_mtime, default=None)


PROGRAMS = find_programs()
pytestmark = pytest.mark.skipif(PROGRAMS is None, reason="no build has the C++ examples: not tested")
DEVICE = ("--device", str(ocl.get_default_device()))


def output_of(program, *arguments):
    command = [PROGRAMS / program, *DEVICE, *arguments]
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout


def first_guesses(text):
    return re.findall(r"^[^:]+: (\S+)", text, re.MULTILINE)


def write_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder with files like MNIST's, of gray shapes, and the pictures to test on as PNG files."""
    folder = tmp_path_factory.mktemp("digits")
    samples = [MadePictures(DIGITS + TESTED, SIDE)[i] for i in range(DIGITS + TESTED)]
    images = np.stack([np.asarray(image.convert("L")) for image, _ in samples])
    labels = np.array([label for _, label in samples])
    for name, part in (("train", slice(DIGITS)), ("t10k", slice(DIGITS, None))):
        write_idx(folder / f"{name}-images-idx3-ubyte", images[part])
        write_idx(folder / f"{name}-labels-idx1-ubyte", labels[part])
    pictures = []
    for i in range(DIGITS, DIGITS + TESTED):
        pictures.append(folder / f"{i}.png")
        Image.fromarray(images[i]).save(pictures[-1])
    return folder, pictures, labels[DIGITS:]


@pytest.fixture(scope="module")
def trained(digits, tmp_path_factory):
    """The files that train leaves of two epochs on them."""
    output = tmp_path_factory.mktemp("trained")
    output_of("train", "--mnist", digits[0], "--epochs", 2, "--batch-size", 16, "--output", output)
    return output


def top1_in_training(output):
    return float((output / "log.csv").read_text().splitlines()[-1].split(",")[6])


def top1(text, labels):
    names = first_guesses(text)
    assert len(names) == len(labels)
    return 100 * sum(name == str(label) for name, label in zip(names, labels, strict=True)) / len(labels)


def test_predictions_are_those_that_the_training_tested(digits, trained):
    _, pictures, labels = digits
    said = output_of("predict", trained / "model.safetensors", *pictures)
    assert top1(said, labels) == top1_in_training(trained)


class TestFilesOfTheOtherLanguage:
    def test_python_reads_those_of_cpp(self, digits, trained, capsys):
        predict.main([*DEVICE, str(trained / "model.safetensors"), *map(str, digits[1])])
        in_python = capsys.readouterr().out
        assert in_python == output_of("predict", trained / "model.safetensors", *digits[1])

    @pytest.mark.parametrize("net", ["small", "vit_b_32", "mobilenet_v3_small"])
    def test_cpp_reads_those_of_python(self, net, digits, tmp_path, capsys):
        train.main(
            [*DEVICE, "--net", net, "--fake-size", "16", "--dry-run", "--batch-size", "8"]
            + ["--workers", "0", "--side", "32", "--output", str(tmp_path)]
        )
        capsys.readouterr()
        model = tmp_path / "model.safetensors"
        predict.main([*DEVICE, str(model), *map(str, digits[1][:4])])
        assert capsys.readouterr().out == output_of("predict", model, *digits[1][:4])


@pytest.mark.parametrize("named", [False, True])
def test_published_weights(named, digits, tmp_path):
    ocl.manual_seed(0)
    net = models.get_model("shufflenet_v2_x0_5", num_classes=7).eval()
    weights, names, picture = tmp_path / "net.safetensors", tmp_path / "names.txt", tmp_path / "picture.png"
    ocl.save(net.state_dict(), weights)
    names.write_text("".join(f"thing {i}\n" for i in range(7)))
    MadePictures(1, 240)[0][0].save(picture)
    arguments = ["--net", "shufflenet_v2_x0_5", "--weights", weights, *(["--names", names] if named else [])]
    said = output_of("predict", *arguments, "--top", 7, picture)
    prefix = "thing " if named else ""
    assert sorted(re.findall(rf"{prefix}(\d) \d+\.\d %", said)) == [*"0123456"]
