"""tools/validate_network.py: right nets pass, wrong ones fail, ties are told apart from faults."""

import json
import math

import numpy as np
import pytest
import torch
import validate_network
from validation import comparison, report
from validation.comparison import FAIL, PASS, PASS_KINKS, Comparison, Distance, Outcome, validate
from validation.kinks import Smoothing
from validation.torchvision_files import find_torchvision

import ocl

PICTURES = np.random.default_rng(0).standard_normal((8, 3, 16, 16)).astype(np.float32)


def residual_net(library, relu=None, pool=None):
    """A ResNet in small, with the kinks of one, as modules and as functions, and a dropout."""
    nn, F = library.nn, library.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
            self.norm = nn.BatchNorm2d(8)
            self.relu = relu or nn.ReLU(inplace=True)
            self.pool = pool or nn.MaxPool2d(3, 2, 1)
            self.conv1 = nn.Conv2d(8, 8, 3, padding=1)
            self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
            self.drop = nn.Dropout(0.5)
            self.head = nn.Linear(8, 5)

        def forward(self, x):
            x = self.pool(self.relu(self.norm(self.stem(x))))
            x = F.relu(x + self.conv2(self.relu(self.conv1(x))))
            return self.head(self.drop(library.flatten(F.adaptive_avg_pool2d(x, 1), 1)))

    return Net()


@pytest.fixture
def theirs():
    torch.manual_seed(0)
    return residual_net(torch)


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_the_same_net_passes(theirs, mode):
    outcome = validate("small", theirs, lambda: residual_net(ocl), PICTURES, mode)
    assert outcome.verdict in (PASS, PASS_KINKS)
    names = [name for name, _ in theirs.named_parameters()]
    for run in (outcome.exact, outcome.smooth):
        assert [d.name for d in run.gradients] == ["(pictures)", *names]
        assert run.passes or run is outcome.exact
        assert all(0 < d.ours < 0.05 and 0 < d.torch < 0.05 for d in run.gradients)


def test_it_leaves_the_net_as_it_was(theirs):
    before = {key: value.clone() for key, value in theirs.state_dict().items()}
    validate("small", theirs, lambda: residual_net(ocl), PICTURES, "train")
    assert all(torch.equal(value, before[key]) for key, value in theirs.state_dict().items())
    assert isinstance(theirs.relu, torch.nn.ReLU)
    assert theirs.drop.p == 0.5


class Wrong(ocl.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class SecondMaximum(ocl.nn.Module):
    """A max pool, right in its values, whose gradient goes to every element of a window alike."""

    def forward(self, x):
        F = ocl.nn.functional
        mean = F.avg_pool2d(x, 3, 2, 1)
        return mean + (F.max_pool2d(x, 3, 2, 1) - mean).detach()


def wrong_statistics(net):
    net.norm.momentum = 0.2
    return net


def wrong_weight_after_loading(net):
    def change(module, keys):
        module.conv1.weight.data.mul_(1.0001)

    net.register_load_state_dict_post_hook(change)
    return net


FAULTS = {
    "a weight 0.01 % off": lambda: wrong_weight_after_loading(residual_net(ocl)),
    "a leaky ReLU": lambda: residual_net(ocl, relu=Wrong(lambda x: ocl.nn.functional.leaky_relu(x, 0.01))),
    "a max pool's gradient": lambda: residual_net(ocl, pool=SecondMaximum()),
    "a gradient that is cut": lambda: residual_net(ocl, relu=Wrong(lambda x: ocl.relu(x).detach())),
    "not a number": lambda: residual_net(ocl, relu=Wrong(lambda x: ocl.relu(x) / (x - x))),
    "batch norm's statistics": lambda: wrong_statistics(residual_net(ocl)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_net_fails(theirs, fault):
    assert validate("wrong", theirs, FAULTS[fault], PICTURES, "train").verdict == FAIL


def outcome_of(exact, smooth):
    """An outcome whose gradient of one weight, or whose output, is `exact` and `smooth` off."""

    def comparison_of(ours):
        if ours is None:
            return None
        output, gradient = ours
        return Comparison([Distance("output 0", output, 1e-7)], [Distance("weight", gradient, 1e-6)], [])

    return Outcome("net", "train", (1, 3, 8, 8), comparison_of(exact), comparison_of(smooth), 0.0)


@pytest.mark.parametrize(
    ("exact", "smooth", "verdict"),
    [
        ((1e-7, 3.9e-6), (1e-7, 1e-6), PASS),
        ((1e-7, 4.1e-6), (1e-7, 1e-6), PASS_KINKS),
        ((1e-7, 0.04), (1e-7, 1e-6), PASS_KINKS),
        ((1e-7, 0.06), (1e-7, 1e-6), FAIL),  # more than a tie does
        ((2e-6, 1e-6), (1e-7, 1e-6), FAIL),  # an output has no ties
        ((1e-7, 1e-6), (1e-7, 4.1e-6), FAIL),
        ((1e-7, 1e-6), (2e-6, 1e-6), FAIL),
        ((1e-7, 1e-6), None, PASS),
        ((1e-7, 4.1e-6), None, FAIL),
        ((1e-7, math.nan), (1e-7, 1e-6), FAIL),
    ],
)
def test_verdicts(exact, smooth, verdict):
    assert outcome_of(exact, smooth).verdict == verdict


def test_an_exact_reference_leaves_room_for_roundings():
    assert Distance("exact", 2e-7, 0.0).passes
    assert not Distance("exact", 2e-6, 0.0).passes
    assert comparison.worst([Distance("a", 1.0, 1.0), Distance("b", math.nan, 1.0)]).name == "b"


def test_a_net_without_kinks_is_compared_once():
    def smooth_net(library):
        return library.nn.Sequential(library.nn.Conv2d(3, 4, 3), library.nn.GELU(), library.nn.Flatten())

    outcome = validate("smooth", smooth_net(torch), lambda: smooth_net(ocl), PICTURES, "train")
    assert outcome.smooth is None
    assert outcome.verdict == PASS


@pytest.mark.parametrize("library", [torch, ocl])
def test_smoothing_reaches_modules_and_functions(library):
    net, smoothing = residual_net(library), Smoothing()
    relu = library.nn.functional.relu
    with smoothing.of(library, net):
        net(library.tensor(PICTURES))
        assert type(net.relu).__name__ == "SiLU"
        assert type(net.pool).__name__ == "AvgPool2d"
    assert smoothing.sites == 3
    assert library.nn.functional.relu is relu


@pytest.mark.skipif(find_torchvision() is None, reason="torchvision is not installed")
@pytest.mark.filterwarnings("ignore")
class TestProgram:
    def run(self, *arguments):
        device = str(ocl.get_default_device())
        return validate_network.main(["--device", device, "--source", "torchvision", *arguments])

    def test_files_and_exit_code(self, tmp_path, capsys):
        figures, page = tmp_path / "figures.json", tmp_path / "page.md"
        options = "--nets squeezenet1_1 --modes eval --side 32 --batch 2".split()
        assert self.run(*options, "--verbose", "--json", str(figures), "--markdown", str(page)) == 0
        text = capsys.readouterr().out
        assert text.splitlines()[-1] == "1 of 1 pass"
        assert "features.0.weight" in text
        (net,) = json.loads(figures.read_text())["nets"]
        assert net["shape"] == [2, 3, 32, 32]
        assert len(net["smooth"]["gradients"]) == 53
        assert f"| {' | '.join(report.HEADINGS)} |" in page.read_text()
        assert page.read_text().splitlines()[-1].startswith("| squeezenet1_1 | eval | 2×3×32×32 |")

    def test_a_failure_is_exit_code_1(self, monkeypatch, capsys):
        def wrong_factory(source):
            make = right_factory(source)

            def make_wrong(name, **options):
                def change(module, keys):
                    module.features[0].weight.data.mul_(1.001)

                net = make(name, **options)
                net.register_load_state_dict_post_hook(change)
                return net

            return make_wrong

        right_factory = validate_network.nets.our_factory
        monkeypatch.setattr(validate_network.nets, "our_factory", wrong_factory)
        assert self.run(*"--nets squeezenet1_1 --modes eval --side 32 --batch 2".split()) == 1
        assert "FAIL: squeezenet1_1 (eval)" in capsys.readouterr().out

    @pytest.mark.parametrize("arguments", ["--nets resnet999", "--modes test"])
    def test_what_does_not_exist_is_refused(self, arguments):
        with pytest.raises(SystemExit, match="2"):
            self.run(*arguments.split())
