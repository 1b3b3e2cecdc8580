"""tools/bench.py nets, run as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from comparisons import needs_torchvision

import ocl

BENCH = Path(__file__).parents[2] / "tools" / "bench.py"
SMALL = ("--nets", "squeezenet1_1,resnet18", "--batch", "2", "--side", "64", "--steps", "1", "--blocks", "2")


def bench(tmp_path, *arguments):
    """(what it prints, its figures)."""
    figures = tmp_path / "figures.json"
    device = str(ocl.get_default_device())
    command = [sys.executable, BENCH, "nets", "--device", device, *SMALL, "--json", figures, *arguments]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout, json.loads(figures.read_text())["nets"]


def test_training_steps_with_a_profile(tmp_path):
    printed, figures = bench(tmp_path, "--profile", "operator")
    assert "training step, batch 2, 64 pixels" in printed and "Conv2dBackward" in printed
    assert [net["net"] for net in figures] == ["squeezenet1_1", "resnet18"]
    for net in figures:
        assert len(net["ocl"]["blocks"]) == 2 and net["ocl"]["seconds"] > 0
        assert net["ocl"]["peak_bytes"] > 0 and "ratio" not in net
    squeezenet, resnet = (net["ocl"]["gflops"] * net["ocl"]["seconds"] for net in figures)
    assert resnet / squeezenet > 2  # operations of a step: 0.9 and 0.2 GFLOP


@needs_torchvision("the bench of nets with torchvision's")
def test_inference_beside_torchvision(tmp_path):
    printed, figures = bench(tmp_path, "--inference", "--against", "torch")
    assert "geometric mean" in printed
    for net in figures:
        assert 0 < net["difference"] < 1e-4
        assert net["ratio"] > 0 and net["torch"]["gflops"] > 0


@needs_torchvision("the bench of nets' operators")
@pytest.mark.parametrize("inference", [False, True])
def test_operators_beside_torchvision(tmp_path, inference):
    options = ["--operators", "--against", "torch", *(["--inference"] if inference else [])]
    printed, (squeezenet, resnet) = bench(tmp_path, *options)
    assert printed.count("all calls of these modules") == 2
    assert printed.count("forward and backward") == (0 if inference else 2)
    for net, convolutions in ((squeezenet, 26), (resnet, 20)):
        kinds = [operator["module"].partition("(")[0] for operator in net["operators"]]
        counts = {
            kind: sum(o["count"] for o, of in zip(net["operators"], kinds, strict=True) if of == kind)
            for kind in kinds
        }
        assert counts["Conv2d"] == convolutions
        for library in ("ocl", "torch"):
            total = sum(o["count"] * o["seconds"][library] for o in net["operators"])
            assert net["seconds"][library] == pytest.approx(total) and total > 0
    (stem,) = (o for o in resnet["operators"] if "(7, 7)" in o["module"])
    assert (stem["shape"], stem["count"]) == ([2, 3, 64, 64], 1)


def test_operators_want_a_library_beside_ours():
    command = [sys.executable, str(BENCH), "nets", "--operators"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 2 and "--against torch" in result.stderr


def test_nets_of_16_bits_are_for_inference():
    command = [sys.executable, str(BENCH), "nets", "--dtype", "bfloat16", "--nets", "resnet18"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 2 and "--inference" in result.stderr
    small = ["--inference", "--batch", "2", "--side", "32", "--steps", "1", "--blocks", "1"]
    result = subprocess.run([*command, *small], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    assert "bfloat16" in result.stdout and "resnet18" in result.stdout


def test_a_net_that_is_wrong_ends_it(tmp_path, monkeypatch):
    sys_path = [str(BENCH.parent), *sys.path]
    monkeypatch.setattr(sys, "path", sys_path)
    nets = pytest.importorskip("benchmarks.nets")

    class Fixed:
        def __init__(self, value):
            self.value = value

        def output(self):
            return self.value

    class Options:
        precision, dtype, amp = "highest", "float32", None

    right = ocl.tensor([1.0, 2.0]).numpy()
    assert nets.check_outputs("net", Fixed(right), Fixed(right), Options) == 0
    for wrong in (right * 1.01, right * float("nan")):
        with pytest.raises(SystemExit, match="net: the outputs differ"):
            nets.check_outputs("net", Fixed(wrong), Fixed(right), Options)


@needs_torchvision("the bench of nets under autocast")
def test_steps_under_autocast_on_both_sides(tmp_path):
    printed, figures = bench(tmp_path, "--amp", "bfloat16", "--against", "torch")
    assert "autocast to bfloat16" in printed
    for net in figures:
        # Numbers of 8 bits differ by as much or not at all; the float32 of either would differ by less.
        assert net["difference"] == 0 or 1e-4 < net["difference"] < 0.2


@needs_torchvision("the bench of nets against PyTorch with its best settings")
@pytest.mark.parametrize("rival", ["torch-best", "unfused"])
def test_other_rivals(tmp_path, rival):
    printed, figures = bench(tmp_path, "--against", rival, "--channels-last")
    assert "channels-last" in printed
    for net in figures:
        assert net["ratio"] > 0
        assert net[rival]["seconds"] > 0
