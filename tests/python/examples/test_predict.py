"""examples/predict.py: without arguments, with a file of train.py's, with published weights."""

import re

import numpy as np
import predict
import pytest
import torch
import train
from comparisons import import_torchvision
from example_programs import output_of
from training.data import MadePictures, one_picture

import ocl
from ocl import models

NET = "shufflenet_v2_x0_5"


def output_lines(capsys, *arguments):
    predict.main(["--device", str(ocl.get_default_device()), *map(str, arguments)])
    return capsys.readouterr().out.splitlines()


def error_of(*arguments):
    with pytest.raises(SystemExit) as stopped:
        predict.main(["--device", str(ocl.get_default_device()), *map(str, arguments)])
    assert stopped.value.code == 2
    return str(stopped.value)


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "picture.png"
    MadePictures(1, 240)[0][0].save(path)
    return path


@pytest.fixture(scope="module")
def net():
    ocl.manual_seed(0)
    return models.get_model(NET).eval()


@pytest.fixture
def published(net, tmp_path):
    """Its weights, as torchvision offers such files."""
    path = tmp_path / "published.pth"
    torch.save({key: torch.tensor(value.numpy()) for key, value in net.state_dict().items()}, path)
    return path


class TestWithoutArguments:
    def test_it_trains_first_and_names_made_pictures(self, tmp_path):
        dead_proxy = "http://127.0.0.1:1"
        first, second = (
            output_of("predict.py", cwd=tmp_path, http_proxy=dead_proxy, https_proxy=dead_proxy)
            for _ in range(2)
        )
        assert "epoch 1/1" in first and "epoch" not in second
        *lines, last = second.splitlines()
        shares = r"(\w+ \d+\.\d %(, )?){3}"
        verdicts = [re.fullmatch(rf"a \w+: {shares}: (right|wrong)", line)[3] for line in lines]
        assert last == f"{verdicts.count('right')} of {predict.MADE} right"
        assert first.endswith(second)

    def test_a_net_of_other_classes_wants_pictures(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        train.main(["--dry-run", "--workers", "0", "--device", str(ocl.get_default_device())])
        content = ocl.load(predict.TRAINED)
        ocl.save(content | {"classes": [*"abcdef"]}, predict.TRAINED)
        assert "other classes" in error_of()


class TestPublishedWeights:
    @pytest.mark.parametrize("order", ["its own", "sorted"])
    def test_numbers_are_those_of_the_net(self, order, net, published, picture, tmp_path, capsys):
        path = published
        if order == "sorted":  # as safetensors files are
            path = tmp_path / "published.safetensors"
            ocl.save(net.state_dict(), path)
        (line,) = output_lines(capsys, "--net", NET, "--weights", path, "--top", 1, picture)
        prepared = one_picture(picture, predict.Preparation.of(224, 3, digits=False))
        shares = net(ocl.tensor(prepared)).softmax(1)[0].detach().numpy()
        assert line == f"{picture}: {shares.argmax()} {100 * shares.max():.1f} %"

    def test_pictures_are_prepared_as_by_torchvision(self, picture):
        import_torchvision("the preparation of pictures")
        from PIL import Image
        from torchvision.transforms._presets import ImageClassification

        prepared = one_picture(picture, predict.Preparation.of(224, 3, digits=False))
        with Image.open(picture) as image:
            expected = ImageClassification(crop_size=224)(image)
        np.testing.assert_allclose(prepared[0], expected.numpy(), atol=1e-6)

    def test_names(self, published, picture, tmp_path, capsys):
        names = tmp_path / "names"
        names.write_text("".join(f"class {number}\n" for number in range(1000)))
        arguments = ("--net", NET, "--weights", published, picture)
        numbered, named = output_lines(capsys, *arguments), output_lines(capsys, *arguments, "--names", names)
        assert named[0] == re.sub(r"([:,]) (\d+) ", r"\1 class \2 ", numbered[0])
        names.write_text("cat\ndog\n")
        assert "2 names for 1000 classes" in error_of(*arguments, "--names", names)

    def test_other_numbers_of_classes(self, picture, tmp_path, capsys):
        ocl.save(models.get_model(NET, num_classes=7).state_dict(), tmp_path / "weights")
        (line,) = output_lines(capsys, "--net", NET, "--weights", tmp_path / "weights", "--top", 9, picture)
        assert len(re.findall(r"\d \d+\.\d %", line)) == 7

    def test_weights_of_another_net(self, published, picture, tmp_path):
        assert "no weights of alexnet" in error_of("--net", "alexnet", "--weights", published, picture)
        ocl.save([1, 2], tmp_path / "list")
        assert "no state dict" in error_of("--net", NET, "--weights", tmp_path / "list", picture)


@pytest.mark.parametrize(
    "arguments",
    [
        "--top 0 m p",
        "--top -1 m p",
        "m",
        "--net x p",
        "--weights x p",
        "--net x --weights x",
        "--names x m p",
    ],
)
def test_senseless_arguments_are_refused(arguments):
    assert error_of(*arguments.split()) == "2"


def test_a_file_that_is_no_model(tmp_path):
    ocl.save({"weights": ocl.ones(2)}, tmp_path / "other")
    assert "not written by examples/train.py" in error_of(tmp_path / "other", "picture.png")


def test_a_picture_that_cannot_be_read_is_named(tmp_path, published):
    broken = tmp_path / "broken.jpg"
    MadePictures(1, 240)[0][0].save(broken)
    broken.write_bytes(broken.read_bytes()[:-300])
    assert str(broken) in error_of("--net", NET, "--weights", published, broken)
