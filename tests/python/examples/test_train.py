"""examples/train.py and predict.py: every source of pictures, every option, stopping at any moment."""

import csv
import gzip
import os
import re
import signal
import struct
import sys
import types

import numpy as np
import predict
import processes
import pytest
import train
from example_programs import REPOSITORY, interrupted_when_it_prints, kill_when_it_prints, output_of
from PIL import Image
from training import checkpoint, display, nets
from training.checkpoint import NAME, PREVIOUS, load_checkpoint, save_checkpoint
from training.classifier import load_classifier
from training.data import MadePictures, Preparation
from training.mixing import Mixing
from training.trainer import Trainer, warm_up_and_cosine

import ocl
from ocl import nn
from ocl.examples.precision import Precision
from ocl.utils.data import DataLoader, TensorDataset

DIGITS = REPOSITORY.parent / "shared" / "data" / "mnist"
SHORT = "--fake-size 48 --batch-size 8 --epochs 2 --lr 0.01 --log-interval 1".split()
# Everything that a resumed training must carry on.
EVERYTHING = (
    "--ema 0.9 --mixup 0.2 --cutmix 1 --erase 0.3 --clip 1 --accumulate 2 --augment randaugment".split()
)

# One net of each family, and the side of its pictures where 32 would be the default.
SIDES = {
    "alexnet": 63,
    "vgg11": 32,
    "resnet18": 32,
    "squeezenet1_0": 32,
    "densenet121": 32,
    "googlenet": 32,
    "inception_v3": 299,
    "shufflenet_v2_x0_5": 32,
    "mobilenet_v2": 32,
    "mobilenet_v3_small": 32,
    "mnasnet0_5": 32,
    "efficientnet_b0": 32,
    "regnet_x_400mf": 32,
    "convnext_tiny": 32,
    "vit_b_16": 32,
    "swin_t": 32,
    "swin_v2_t": 32,
    "maxvit_t": 64,
}


def run(folder, *arguments):
    device = str(ocl.get_default_device())
    train.main(["--device", device, "--output", str(folder), "--workers", "0", *map(str, arguments)])
    with open(folder / "log.csv", newline="") as file:
        return list(csv.DictReader(file))


def figures(rows):
    """All of a table but times."""
    return [{name: value for name, value in row.items() if name != "images_per_second"} for row in rows]


def model_bytes(folder):
    return (folder / "model.safetensors").read_bytes()


def mean_colour(num_classes, channels):
    """A net that learns at once what brightness tells."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, num_classes))


class TestSources:
    def test_without_arguments_it_needs_no_files_and_no_network(self, tmp_path):
        dead_proxy = "http://127.0.0.1:1"
        output = output_of(
            "train.py", "--dry-run", cwd=tmp_path, http_proxy=dead_proxy, https_proxy=dead_proxy
        )
        assert re.search(r"top 1 \d+\.\d\d %, top 5", output)
        folder = tmp_path / "training-output"
        assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
        assert {path.name for path in folder.iterdir()} == {
            "checkpoint",
            "curves.png",
            "log.csv",
            "model.safetensors",
        }

    @pytest.mark.parametrize("separate", [True, False])
    def test_a_folder_of_pictures_and_naming_them(self, tmp_path, separate, capsys, monkeypatch):
        monkeypatch.setitem(nets._registered, "mean_colour", mean_colour)
        for part in ("train", "val") if separate else (".",):
            for number, name in enumerate(("dark", "light")):
                folder = tmp_path / "pictures" / part / name
                folder.mkdir(parents=True)
                for i in range(12):
                    noise = np.random.default_rng(i).integers(0, 60, (20, 30, 3))
                    Image.fromarray((noise + 180 * number).astype(np.uint8)).save(folder / f"{i}.png")
        rows = run(
            tmp_path,
            *("--data", tmp_path / "pictures", "--test-share", 0.25, "--side", 16, "--workers", 0),
            *("--net", "mean_colour", "--batch-size", 6, "--epochs", 4, "--lr", 0.3),
        )
        assert float(rows[-1]["test_top1"]) == 100
        assert int(rows[-1]["update"]) == 4 * (4 if separate else 3)
        pictures = sorted((tmp_path / "pictures").rglob("1.png"))
        capsys.readouterr()
        predict.main([str(tmp_path / "model.safetensors"), *map(str, pictures), "--top", "1"])
        for path, line in zip(pictures, capsys.readouterr().out.splitlines(), strict=True):
            assert re.fullmatch(rf"{path}: {path.parent.name} \d+\.\d %", line)

    @pytest.mark.parametrize("channels", [1, 3])
    def test_mnist_files(self, tmp_path, channels):
        rng = np.random.default_rng(0)
        for part, count in (("train", 24), ("t10k", 8)):
            images = rng.integers(0, 256, (count, 28, 28), np.uint8)
            header = struct.pack(">IIII", 0x803, count, 28, 28)
            with gzip.open(tmp_path / f"{part}-images-idx3-ubyte.gz", "wb") as file:
                file.write(header + images.tobytes())
            labels = rng.integers(0, 10, count, np.uint8)
            with gzip.open(tmp_path / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
                file.write(struct.pack(">II", 0x801, count) + labels.tobytes())
        run(tmp_path, "--mnist", tmp_path, "--channels", channels, "--dry-run", "--batch-size", 4)
        content = ocl.load(tmp_path / "model.safetensors")
        assert content["weights"]["0.weight"].shape == (16, channels, 3, 3)
        assert len(content["classes"]) == 10

    @pytest.mark.slow
    @pytest.mark.skipif(not DIGITS.is_dir(), reason=f"no MNIST files in {DIGITS}, training unchecked")
    def test_resnet18_learns_the_digits(self, tmp_path):
        """The command of docs/models.md, on a sixth of MNIST."""
        rows = run(tmp_path, "--mnist", DIGITS, "--net", "resnet18", "--epochs", 10, "--batch-size", 64)
        assert len(rows) == 10
        assert float(rows[-1]["test_top1"]) >= 98.5
        weights = ocl.load(tmp_path / "model.safetensors")["weights"]
        assert weights["conv1.weight"].shape == (64, 1, 7, 7)

    def test_made_pictures_stay_the_same_and_are_told_apart(self):
        pictures = MadePictures(40, 32)
        first, again = pictures[3], pictures[3]
        np.testing.assert_array_equal(np.asarray(first[0]), np.asarray(again[0]))
        assert {target for _, target in pictures} == set(range(len(pictures.classes)))
        others = MadePictures(40, 32, first=40)
        assert not np.array_equal(np.asarray(others[0][0]), np.asarray(pictures[0][0]))

    def test_a_picture_that_cannot_be_read_is_named(self, tmp_path, capsys):
        folder = tmp_path / "pictures" / "one"
        folder.mkdir(parents=True)
        for number in range(4):
            MadePictures(4, 40)[number][0].save(folder / f"{number}.jpg")
        broken = folder / "broken.jpg"
        broken.write_bytes((folder / "0.jpg").read_bytes()[:-300])
        for workers in (0, 1):
            with pytest.raises(SystemExit, match=rf"^train.py: {broken}: .*truncated") as stopped:
                run(tmp_path, "--data", tmp_path / "pictures", "--side", 16, "--workers", workers)
            assert stopped.value.code == 2
            assert len(capsys.readouterr().err.splitlines()) == 1

    @pytest.mark.parametrize("options", [("--test-share", 1), ("--test-share", 0.6), ()])
    def test_too_few_pictures_to_train_on(self, tmp_path, options):
        (tmp_path / "pictures" / "one").mkdir(parents=True)
        for number in range(2 if options else 1):
            MadePictures(4, 40)[number][0].save(tmp_path / "pictures" / "one" / f"{number}.png")
        with pytest.raises(SystemExit, match="train on") as stopped:
            run(tmp_path, "--data", tmp_path / "pictures", *options)
        assert stopped.value.code == 2

    def test_a_last_batch_of_one_picture_is_left_out(self, tmp_path):
        rows = run(
            tmp_path, "--net", "resnet18", "--fake-size", 9, "--batch-size", 8, "--side", 8, "--epochs", 1
        )
        assert rows[0]["update"] == "1"

    @pytest.mark.parametrize(("source", "workers"), [("", 1), ("--mnist x", 1), ("--data x", 2)])
    def test_pictures_are_prepared_ahead(self, source, workers):
        assert train.parse_arguments(source.split()).workers == workers

    def test_workers_change_nothing(self, tmp_path):
        options = ("--dry-run", "--batch-size", 4, "--augment", "trivial")
        alone = run(tmp_path / "0", *options, "--workers", 0)
        assert figures(run(tmp_path / "1", *options, "--workers", 1)) == figures(alone)

    def test_gray_digits_become_what_the_net_takes(self):
        digit = np.arange(784, dtype=np.uint8).reshape(28, 28)
        for channels in (1, 3):
            prepared = Preparation.of(28, channels, digits=True).to_test()(digit)
            assert prepared.shape == (channels, 28, 28)
            assert prepared.dtype == np.float32


class TestResuming:
    @pytest.mark.parametrize("amp", [(), ("--amp", "fp16")])
    def test_a_training_that_is_killed_repeats_every_bit(self, amp, tmp_path):
        options = (*SHORT, *EVERYTHING, "--checkpoint-every", 1, *amp)
        whole = run(tmp_path / "whole", *options)
        killed = tmp_path / "killed"
        kill_when_it_prints("epoch 1/2: batch 4", "train.py", "--output", killed, *options)
        assert (killed / NAME).exists()
        assert not (killed / "model.safetensors").exists()
        kill_when_it_prints("epoch 2/2: batch 2", "train.py", "--output", killed, *options, "--resume")
        rows = run(killed, *options, "--resume")
        assert figures(rows) == figures(whole)
        assert model_bytes(killed) == model_bytes(tmp_path / "whole")
        scalers = [load_checkpoint(folder).get("scaler") for folder in (killed, tmp_path / "whole")]
        assert scalers[0] == scalers[1]
        assert (scalers[0] is None) == (not amp)

    def test_a_checkpoint_from_before_mixed_precision(self, tmp_path):
        run(tmp_path, "--dry-run")
        older = load_checkpoint(tmp_path)
        del older["options"]["amp"]
        save_checkpoint(older, tmp_path)
        run(tmp_path, "--dry-run", "--resume")
        with pytest.raises(SystemExit, match="is of another training: --amp was None"):
            run(tmp_path, "--dry-run", "--amp", "bf16", "--resume")

    def test_a_finished_training_stays_as_it_is(self, tmp_path):
        run(tmp_path, *SHORT)
        before = model_bytes(tmp_path)
        written = sorted(os.listdir(tmp_path))
        (tmp_path / "log.csv").unlink()
        (tmp_path / "curves.png").unlink()
        run(tmp_path, *SHORT, "--resume")
        assert model_bytes(tmp_path) == before
        assert sorted(os.listdir(tmp_path)) == written

    def test_a_constant_rate_goes_on_for_more_epochs(self, tmp_path):
        constant = (*SHORT, "--schedule", "constant")
        whole = run(tmp_path / "whole", *constant, "--epochs", 3)
        run(tmp_path / "longer", *constant, "--epochs", 1)
        assert figures(run(tmp_path / "longer", *constant, "--epochs", 3, "--resume")) == figures(whole)
        assert model_bytes(tmp_path / "longer") == model_bytes(tmp_path / "whole")

    def test_a_cosine_has_its_end(self, tmp_path):
        run(tmp_path, *SHORT, "--epochs", 1)
        with pytest.raises(SystemExit, match="--epochs was 1, where the cosine .* --schedule constant"):
            run(tmp_path, *SHORT, "--epochs", 2, "--resume")

    @pytest.mark.parametrize("content", [{"a": 1}, [1, 2]])
    def test_a_checkpoint_of_something_else(self, tmp_path, content, capsys):
        ocl.save(content, tmp_path / NAME)
        with pytest.raises(SystemExit, match="is none of examples/train.py") as stopped:
            run(tmp_path, "--dry-run", "--resume")
        assert stopped.value.code == 2
        assert len(capsys.readouterr().err.splitlines()) == 1

    @pytest.mark.parametrize("times", [1, 2, 5])
    def test_ctrl_c_is_one_line_however_often(self, tmp_path, times):
        stop = (*SHORT, "--epochs", 1000, "--output", tmp_path, "--workers", 1)
        found = interrupted_when_it_prints("epoch 2/1000: batch 2", "train.py", *stop, times=times)
        assert found == (130, "train.py: stopped; --resume goes on from the last checkpoint\n")
        assert load_checkpoint(tmp_path)["progress"]["epoch"] == 2

    def test_another_seed_gives_another_training(self, tmp_path):
        assert figures(run(tmp_path / "1", *SHORT)) != figures(run(tmp_path / "2", *SHORT, "--seed", 2))

    def test_other_options_are_refused(self, tmp_path, capsys):
        run(tmp_path, "--dry-run")
        with pytest.raises(SystemExit, match="--lr was 0.003"):
            run(tmp_path, "--dry-run", "--lr", 0.1, "--resume")

    def test_nothing_to_resume(self, tmp_path):
        with pytest.raises(SystemExit, match="no checkpoint"):
            run(tmp_path, "--dry-run", "--resume")


KILLED_AT = {
    "while it is written": """
def save(state, path):
    real_save(state, path)
    content = open(path, "rb").read()
    open(path, "wb").write(content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
real_save, ocl.save = ocl.save, save
""",
    "before the first name changes": """
def replace(old, new):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
""",
    "between the names": """
def replace(old, new):
    real_replace(old, new)
    os.kill(os.getpid(), signal.SIGKILL)
real_replace, os.replace = os.replace, replace
""",
}


class TestCheckpoint:
    @pytest.mark.parametrize("moment", KILLED_AT)
    def test_a_kill_leaves_the_one_before(self, tmp_path, moment):
        save_checkpoint({"number": 1}, tmp_path)
        save_checkpoint({"number": 2}, tmp_path)
        program = (
            "import os, signal, sys, ocl\n"
            "sys.path.insert(0, 'examples')\n"
            "from training.checkpoint import save_checkpoint\n"
            f"{KILLED_AT[moment]}\n"
            "save_checkpoint({'number': 3}, sys.argv[1])\n"
        )
        process = processes.start(program, str(tmp_path))
        process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL
        assert load_checkpoint(tmp_path) == {"number": 2}
        save_checkpoint({"number": 4}, tmp_path)
        assert load_checkpoint(tmp_path) == {"number": 4}

    @pytest.mark.parametrize("moment", KILLED_AT)
    def test_a_training_killed_in_a_checkpoint_goes_on_from_the_one_before(self, tmp_path, moment, capsys):
        options = (*SHORT, "--checkpoint-every", 1)
        whole = run(tmp_path / "whole", *options)
        program = f"""
import os, signal, sys, ocl
sys.path.insert(0, "examples")
import train
from training import trainer
def save_checkpoint(state, folder):
    global saves
    saves += 1
    if saves == 3:
        exec({KILLED_AT[moment]!r}, globals())
    real_save_checkpoint(state, folder)
real_save_checkpoint, saves, trainer.save_checkpoint = trainer.save_checkpoint, 0, save_checkpoint
train.main(sys.argv[1:])
"""
        device, killed = str(ocl.get_default_device()), tmp_path / "killed"
        process = processes.start(program, "--device", device, "--output", killed, *options)
        errors = process.communicate(timeout=300)[1]
        assert process.returncode == -signal.SIGKILL, errors
        capsys.readouterr()
        rows = run(killed, *options, "--resume")
        assert "resumed at epoch 1, update 2\n" in capsys.readouterr().out
        assert figures(rows) == figures(whole)
        assert model_bytes(killed) == model_bytes(tmp_path / "whole")

    def test_the_one_before_is_kept_and_serves_where_the_last_is_damaged(self, tmp_path, capsys):
        for number in range(3):
            save_checkpoint({"number": number, "tensor": ocl.full((9,), number)}, tmp_path)
        assert sorted(os.listdir(tmp_path)) == [NAME, PREVIOUS]
        content = (tmp_path / NAME).read_bytes()
        (tmp_path / NAME).write_bytes(content[:-20])
        assert load_checkpoint(tmp_path)["number"] == 1
        assert "going on from the one before" in capsys.readouterr().err

    def test_what_is_damaged_altogether_is_refused(self, tmp_path):
        (tmp_path / NAME).write_bytes(b"nothing")
        with pytest.raises(OSError, match=NAME):
            load_checkpoint(tmp_path)

    def test_the_file_is_on_the_disk_before_it_takes_the_name(self, tmp_path, monkeypatch):
        done = []
        monkeypatch.setattr(checkpoint, "_to_disk", lambda path: done.append(path.name))
        monkeypatch.setattr(checkpoint.os, "replace", lambda old, new: done.append("replace"))
        save_checkpoint({}, tmp_path)
        assert done == ["checkpoint.unfinished", "replace", tmp_path.name]


class TestNets:
    @pytest.fixture
    def library(self, monkeypatch):
        """An ocl.models of two nets."""

        def get_model(name, num_classes=1000, **options):
            layers = [nn.Conv2d(3, 4, 3, 2, 1, bias=name == "vit_b_16"), nn.Conv2d(4, num_classes, 1)]
            net = nn.Sequential(nn.Sequential(*layers), nn.AdaptiveAvgPool2d(1), nn.Flatten())
            net.options = options
            return net

        models = types.ModuleType("ocl.models")
        models.get_model = get_model
        models.list_models = lambda module: ["maxvit_t", "resnet18", "vit_b_16"]
        monkeypatch.setitem(sys.modules, "ocl.models", models)
        monkeypatch.setattr(ocl, "models", models, raising=False)
        return models

    def test_names(self, library):
        assert nets.net_names() == ["maxvit_t", "resnet18", "small", "vit_b_16"]

    def test_one_of_the_library(self, library):
        net = nets.make_net("resnet18", 7, channels=3)
        assert net(ocl.ones(2, 3, 8, 8)).shape == (2, 7)
        assert net[0][0].in_channels == 3

    def test_its_first_convolution_takes_other_channels(self, library):
        net = nets.make_net("resnet18", 7, channels=1)
        first = net[0][0]
        assert (first.in_channels, first.stride, first.padding, first.bias) == (1, (2, 2), (1, 1), None)
        assert net[0][1].in_channels == 4
        assert net(ocl.ones(2, 1, 8, 8)).shape == (2, 7)

    def test_positions_of_a_transformer_follow_the_pictures(self, library):
        assert nets.make_net("vit_b_16", 7, side=48).options == {"image_size": 48}
        maxvit = nets.make_net("maxvit_t", 7, side=64)
        assert maxvit.options == {"input_size": (64, 64), "partition_size": 2}

    def test_training_and_naming_with_one_of_the_library(self, library, tmp_path, capsys):
        run(tmp_path, "--dry-run", "--net", "resnet18")
        MadePictures(1, 40)[0][0].save(tmp_path / "picture.png")
        predict.main([str(tmp_path / "model.safetensors"), str(tmp_path / "picture.png")])
        last = capsys.readouterr().out.splitlines()[-1]
        assert len(re.findall(r"[a-z]+ \d+\.\d %", last)) == 3

    @pytest.mark.parametrize("name", SIDES)
    def test_every_family_is_trained_on_made_pictures(self, name, tmp_path):
        run(tmp_path, "--net", name, "--dry-run", "--fake-size", 4, "--batch-size", 2)
        assert load_classifier(tmp_path / "model.safetensors", None).preparation.side == SIDES[name]

    def test_digits_are_enlarged_where_a_net_needs_that(self):
        sides = {name: nets.suitable_side(name, 28) for name in SIDES}
        assert sides["resnet18"] == 28
        assert sides["densenet121"] == 29
        assert {sides[name] for name in ("convnext_tiny", "vgg11", "vit_b_16")} == {32}

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ocl.models.list_models(module=ocl.models))
    def test_every_net_is_trained_on_made_pictures(self, name, tmp_path):
        run(tmp_path, "--net", name, "--dry-run", "--batch-size", 2)

    @pytest.mark.parametrize(
        ("name", "side", "message"),
        [
            ("alexnet", 62, "alexnet needs --side 63 or more, and not 62"),
            ("vit_b_16", 40, "vit_b_16 needs --side 48 or more, in multiples of 16, and not 40"),
            ("maxvit_t", 32, "maxvit_t needs --side 64 or more, in multiples of 32, and not 32"),
        ],
    )
    def test_a_side_that_is_too_small(self, name, side, message, tmp_path):
        with pytest.raises(SystemExit, match=message):
            run(tmp_path, "--net", name, "--side", side)

    def test_a_name_that_is_none(self, library):
        with pytest.raises(ValueError, match="'resnet81'; did you mean resnet18"):
            nets.make_net("resnet81", 7)

    def test_without_the_library(self, monkeypatch, tmp_path):
        monkeypatch.setattr(nets, "_library", lambda: None)
        with pytest.raises(SystemExit, match="no net 'resnet18' .this ocl has no ocl.models"):
            run(tmp_path, "--dry-run", "--net", "resnet18")

    def test_a_second_head_takes_part(self, monkeypatch, tmp_path):
        class TwoHeads(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = (nn.Linear(3 * 32 * 32, 6) for _ in range(2))

            def forward(self, x):
                x = ocl.flatten(x, 1)
                return (self.first(x), self.second(x)) if self.training else self.first(x)

        monkeypatch.setitem(nets._registered, "two", lambda num_classes, channels: TwoHeads())
        run(tmp_path, "--dry-run", "--net", "two", "--lr", 0)
        before = ocl.load(tmp_path / "model.safetensors")["weights"]["second.weight"].numpy()
        run(tmp_path, "--dry-run", "--net", "two")
        assert not np.array_equal(
            ocl.load(tmp_path / "model.safetensors")["weights"]["second.weight"].numpy(), before
        )


class TestMixedPrecision:
    @pytest.mark.parametrize("amp", ["bf16", "fp16"])
    def test_a_dry_run(self, amp, tmp_path):
        (row,) = run(tmp_path / amp, "--dry-run", "--clip", 1, "--amp", amp)
        (in_float32,) = run(tmp_path / "float32", "--dry-run", "--clip", 1)
        for loss in ("train_loss", "test_loss"):
            assert float(row[loss]) == pytest.approx(float(in_float32[loss]), rel=0.02)
        assert row != in_float32
        weights = ocl.load(tmp_path / amp / "model.safetensors")["weights"]
        assert not {tensor.dtype for tensor in weights.values()} & {ocl.float16, ocl.bfloat16}

    def test_the_norm_that_clips_is_of_unscaled_gradients(self):
        weight = nn.Parameter(ocl.ones(4))
        net = nn.ParameterList([weight])
        precision = Precision("fp16")
        precision.backward((weight * 3).sum())
        precision.step(ocl.optim.SGD(net.parameters(), lr=1), net, clip=1)
        np.testing.assert_allclose(weight.detach().numpy(), 0.5, rtol=1e-5)

    def test_another_precision_is_refused(self, capsys):
        with pytest.raises(SystemExit, match="2"):
            train.parse_arguments(["--amp", "int8"])
        assert "argument --amp: invalid choice: 'int8'" in capsys.readouterr().err


class TestParts:
    def test_the_schedule(self):
        factor = warm_up_and_cosine(4, 14)
        np.testing.assert_allclose([factor(i) for i in range(5)], [0.2, 0.4, 0.6, 0.8, 1])
        np.testing.assert_allclose([factor(9), factor(14), factor(15)], [0.5, 0, 0], atol=1e-12)

    def test_mixup_and_cutmix_keep_the_share_they_say(self):
        images = ocl.tensor(np.stack([np.full((3, 20, 30), i, np.float32) for i in range(4)]))
        before = np.roll(np.arange(4), 1)
        for mixing in (Mixing(0.4, 0, 1), Mixing(0, 1.0, 1)):
            shares = set()
            for batch in range(5):
                mixed, share = mixing(images, batch)
                again, _ = mixing(images, batch)
                np.testing.assert_array_equal(mixed.numpy(), again.numpy())
                expected = share * np.arange(4) + (1 - share) * before
                np.testing.assert_allclose(mixed.numpy().mean((1, 2, 3)), expected, atol=1e-5)
                shares.add(share)
            assert len(shares) == 5
            assert all(0 <= share <= 1 for share in shares)

    def test_no_mixing(self):
        images = ocl.ones(2, 3, 4, 4)
        assert Mixing(0, 0, 1)(images, 0) == (images, 1.0)

    def test_accumulated_batches_are_one_large_batch(self):
        """The training of a net without batch norm, and the last update of a pass from fewer batches."""
        rng = np.random.default_rng(0)
        pictures = TensorDataset(rng.standard_normal((24, 3, 8, 8)).astype(np.float32), np.arange(24) % 5)
        weights = []
        for batch_size, accumulate in ((16, 1), (4, 4)):
            ocl.manual_seed(0)
            options = train.parse_arguments(
                ["--accumulate", str(accumulate), "--optimizer", "sgd", "--clip", "1"]
            )
            options.device = ocl.get_default_device()
            net = mean_colour(5, 3)
            trainer = Trainer(net, DataLoader(pictures, batch_size), DataLoader(pictures, 8), options)
            trainer._train_epoch()
            assert trainer.progress.update == 2
            weights.append(net.state_dict()["2.weight"].numpy())
        np.testing.assert_allclose(weights[0], weights[1], rtol=1e-5, atol=1e-7)

    @pytest.mark.parametrize(
        "arguments", ["--batch-size 0", "--ema 2", "--mixup -1", "--data a --fake-data", "--channels 2"]
    )
    def test_senseless_options_are_refused(self, arguments):
        with pytest.raises(SystemExit, match="2"):
            train.parse_arguments(arguments.split())

    def test_the_time_left_is_of_all_epochs(self, tmp_path, capsys):
        run(tmp_path, *SHORT)
        lines = capsys.readouterr().out.splitlines()
        assert all(re.search(r" images/s, 0:\d\d:\d\d left$", line) for line in lines[:-1])
        assert lines[-2].endswith("0:00:00 left")

    def test_time_left(self, monkeypatch):
        now = 100.0
        monkeypatch.setattr(display.time, "perf_counter", lambda: now)
        left = display.TimeLeft(done=50, total=200)
        now += 30
        assert str(left.after(60)) == "0:07:00"
        assert str(left.after(200)) == "0:00:00"
