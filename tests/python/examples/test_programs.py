"""examples/gpt.py, vae.py, dcgan.py and unet.py: a few steps of each, and what could be wrong quietly."""

import math
import re

import dcgan
import gpt
import numpy as np
import pytest
import unet
import vae
from example_programs import interrupted_when_it_prints, output_of
from PIL import Image
from processes import start
from training.program import save_grid

import ocl

PROGRAMS = {"gpt.py": "gpt.safetensors", "vae.py": "vae.png", "dcgan.py": "dcgan.png", "unet.py": "unet.png"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_few_steps_without_files_and_network(program, tmp_path):
    dead_proxy = "http://127.0.0.1:1"
    output = output_of(program, "--dry-run", cwd=tmp_path, http_proxy=dead_proxy, https_proxy=dead_proxy)
    losses = re.findall(r"(?:loss|test) (\d+\.\d+)", output)
    assert losses
    assert all(math.isfinite(float(loss)) for loss in losses)
    assert (tmp_path / PROGRAMS[program]).stat().st_size > 500


@pytest.mark.parametrize("amp", ["bf16", "fp16"])
def test_gpt_in_mixed_precision(amp, tmp_path):
    command = ("gpt.py", "--dry-run", "--test-interval", 1, "--output", tmp_path / "net", "--amp", amp)
    losses = re.findall(r"training loss (\S+), test (\S+) ", output_of(*command))
    assert len(losses) == 3
    assert all(math.isfinite(float(loss)) for pair in losses for loss in pair)


@pytest.mark.parametrize("main", [gpt.main, vae.main, dcgan.main, unet.main])
def test_a_device_that_is_not_there_is_one_line(main):
    with pytest.raises(SystemExit, match=r"\.py: .*99"):
        main(["--device", "ocl:99"])


@pytest.mark.parametrize(
    ("main", "arguments", "message"),
    [
        (gpt.main, "--context 1", "--context: must be at least 2"),
        (gpt.main, "--amp int8", "--amp: invalid choice: 'int8'"),
        (gpt.main, "--steps 0", "--steps: must be at least 1"),
        (vae.main, "--epochs 0", "--epochs: must be at least 1"),
        (unet.main, "--side 0", "--side: must be at least 1"),
        (dcgan.main, "--lr nan", "--lr: must be at least 0"),
        (
            dcgan.main,
            "--batch-size 100000 --dry-run",
            "dcgan.py: --batch-size 100000 is more than the 1500 im",
        ),
        (unet.main, "--output /nonexist/x.png", "unet.py: --output /nonexist/x.png: there is no folder"),
    ],
)
def test_what_cannot_be_is_refused_at_once(main, arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--device", str(ocl.get_default_device()), *arguments.split()])
    assert stopped.value.code == 2
    output = capsys.readouterr()
    assert message in output.err
    assert not output.out


LONG = {
    "gpt.py": ("--test-interval", "1", "--steps", "100000"),
    "vae.py": ("--epochs", "100000"),
    "dcgan.py": ("--epochs", "100000", "--width", "4"),
    "unet.py": ("--epochs", "100000", "--size", "12", "--side", "16"),
}


@pytest.mark.parametrize("program", LONG)
def test_ctrl_c_is_one_line(program, tmp_path):
    found = interrupted_when_it_prints("1", program, "--output", tmp_path / "output", *LONG[program])
    assert found == (130, f"{program}: stopped\n")


INTERRUPTED_IN_A_FINALIZER = """
import os, signal, sys, time
from ocl.examples.program import ends_in_one_line

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

with ends_in_one_line("name"):
    Finalized()
    time.sleep(60)
"""


def test_ctrl_c_in_a_finalizer_is_not_lost():
    process = start(INTERRUPTED_IN_A_FINALIZER)
    assert process.communicate(timeout=50) == ("", "name: stopped\n")
    assert process.returncode == 130


class TestGPT:
    def test_options_reach_the_net(self):
        options = "--context 8 --width 16 --layers 3 --heads 2 --dropout 0.25"
        net = gpt.make_net(11, gpt.parse_arguments(options.split()))
        assert (net.vocab_size, net.n_positions, net.n_embd, net.n_layer, net.n_head) == (11, 8, 16, 3, 2)
        assert net.transformer.h[0].attn.attn_pdrop == 0.25
        assert {m.p for m in net.modules() if isinstance(m, ocl.nn.Dropout)} == {0.25}

    @pytest.mark.parametrize("context", [2, 3, 8])
    def test_it_writes_beyond_what_it_sees(self, context):
        net = gpt.make_net(11, gpt.parse_arguments(["--context", str(context), "--width", "8"]))
        written = gpt.write(net, np.arange(context), 30, 0.8)
        assert len(written) == 30
        assert set(written) <= set(range(11))
        assert net.training

    @pytest.mark.parametrize("amp", ["", "--amp bf16", "--amp fp16"])
    def test_it_learns_a_text_by_heart(self, amp, tmp_path, capsys):
        (tmp_path / "text").write_text("abcd" * 100)
        options = (
            "--steps 60 --context 8 --width 16 --heads 2 --layers 1 --sample 12 --temperature 0.1 --lr 0.02"
        )
        gpt.main(
            ["--device", str(ocl.get_default_device()), "--text", str(tmp_path / "text")]
            + ["--output", str(tmp_path / "net"), *options.split(), *amp.split()]
        )
        output = capsys.readouterr().out
        assert output.splitlines()[-1] == "abcdabcdabcd"
        assert float(re.findall(r"test (\S+) bits", output)[-1]) < 0.1
        content = ocl.load(tmp_path / "net")
        assert content["characters"] == list("abcd")

    def test_targets_are_the_inputs_moved_on(self):
        inputs, targets = gpt.random_batch(np.arange(50), 5, 7, np.random.default_rng(0), None)
        np.testing.assert_array_equal(targets.numpy(), inputs.numpy() + 1)

    def test_senseless_sizes_are_one_line(self, tmp_path):
        (tmp_path / "text").write_text("abc")
        device = str(ocl.get_default_device())
        with pytest.raises(SystemExit, match="gpt.py: the text is too short"):
            gpt.main(["--device", device, "--text", str(tmp_path / "text")])
        with pytest.raises(SystemExit, match="n_embd=10 is not divisible by n_head=4"):
            gpt.main(["--device", device, "--width", "10", "--dry-run"])


class TestVAE:
    def test_the_bound(self, monkeypatch):
        """Against its formula, with noise that is known."""
        ocl.manual_seed(0)
        net, images = vae.VAE(hidden=9, latent=3), ocl.rand(4, 1, 28, 28)
        noise = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
        monkeypatch.setattr(vae.ocl, "randn_like", lambda tensor: ocl.tensor(noise))
        mean, log_variance = np.split(net.encoder(images).detach().numpy().astype(np.float64), 2, 1)
        code = mean + np.exp(log_variance / 2) * noise
        p = 1 / (
            1 + np.exp(-net.decoder(ocl.tensor(code.astype(np.float32))).detach().numpy().astype(np.float64))
        )
        x = images.numpy().reshape(4, -1)
        pixels = -(x * np.log(p) + (1 - x) * np.log(1 - p)).sum(1).mean()
        divergence = 0.5 * (np.exp(log_variance) + mean**2 - 1 - log_variance).sum(1).mean()
        found = [part.item() for part in vae.bound(net, images)]
        np.testing.assert_allclose(found, [pixels, divergence], rtol=1e-4)

    def test_it_learns(self, tmp_path, capsys):
        device = str(ocl.get_default_device())
        vae.main(["--device", device, "--epochs", "3", "--output", str(tmp_path / "vae.png")])
        bounds = [float(text) for text in re.findall(r"test (\S+);", capsys.readouterr().out)]
        assert bounds[2] < bounds[1] < bounds[0] < 300
        assert Image.open(tmp_path / "vae.png").size == (300, 150)


class TestDCGAN:
    def contest(self):
        ocl.manual_seed(0)
        return dcgan.Contest(dcgan.parse_arguments(["--width", "8", "--noise", "6"]))

    def test_each_step_changes_its_own_net_alone(self):
        contest = self.contest()

        def weights():
            nets = (contest.generator, contest.discriminator)
            return [[p.detach().numpy() for p in net.parameters()] for net in nets]

        def changed(before, after):
            return [
                any(not np.array_equal(a, b) for a, b in zip(*pair, strict=True))
                for pair in zip(before, after, strict=True)
            ]

        start, fake = weights(), contest.drawn(8)
        contest.teach_discriminator(ocl.rand(8, 1, 28, 28), fake)
        middle = weights()
        assert changed(start, middle) == [False, True]
        contest.teach_generator(fake)
        assert changed(middle, weights()) == [True, False]

    def test_sizes_and_ranges(self):
        contest = self.contest()
        images = contest.drawn(5)
        assert images.shape == (5, 1, 28, 28)
        assert images.abs().max().item() <= 1
        assert contest.discriminator(images).shape == (5,)
        real = dcgan.load_images(None).arrays()[0]
        assert (real.min(), real.max()) == (-1, 1)


class TestUNet:
    def test_sizes(self):
        assert unet.UNet(7, width=4)(ocl.rand(2, 3, 16, 24)).shape == (2, 7, 16, 24)

    def test_masks_say_what_pictures_show(self):
        scenes = unet.Scenes(20, 32)
        for image, mask in scenes:
            assert image.shape == (3, 32, 32)
            assert mask.shape == (32, 32)
            assert image[:, mask == 0].std(1).max() < 0.08  # of one colour: whatever was drawn is in the mask
        assert {*np.unique([mask for _, mask in scenes])} == set(range(7))

    def test_the_measures(self, monkeypatch):
        masks = np.array([[[0, 0], [1, 1]]])
        logits = np.eye(7, dtype=np.float32)[[[[0, 1], [1, 1]]]].transpose(0, 3, 1, 2)
        net = ocl.nn.Module()
        monkeypatch.setattr(type(net), "__call__", lambda self, images: ocl.tensor(logits), raising=False)
        right, overlap = unet.tested(net, [(None, ocl.tensor(masks))])
        assert right == 3 / 4
        assert overlap == pytest.approx((1 / 2 + 2 / 3) / 2)

    def test_it_learns(self, tmp_path, capsys):
        options = "--epochs 4 --size 60 --side 16 --batch-size 6 --width 6".split()
        device = str(ocl.get_default_device())
        unet.main(["--device", device, "--output", str(tmp_path / "unet.png"), *options])
        losses = [float(text) for text in re.findall(r"loss (\S+);", capsys.readouterr().out)]
        assert losses[-1] < 0.8 * losses[0]


def test_a_grid_of_pictures(tmp_path):
    images = np.linspace(0, 1, 5)[:, None, None] * np.ones((5, 4, 3))
    save_grid(images, 2, tmp_path / "grid.png")
    pixels = np.asarray(Image.open(tmp_path / "grid.png"))
    assert pixels.shape == (3 * 6, 2 * 5, 3)
    assert [pixels[y, x, 0] for y, x in ((2, 2), (2, 7), (8, 2), (8, 7), (14, 2), (14, 7))] == [
        0,
        64,
        128,
        191,
        255,
        255,
    ]
