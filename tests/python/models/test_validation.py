"""tools/validate_network.py: right nets pass, wrong ones fail, ties are told apart from faults."""

import copy
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import validate_network
from comparisons import needs_torchvision
from validation import comparison, report
from validation.comparison import FAIL, PASS, PASS_KINKS, Comparison, Distance, validate
from validation.kinks import Recording, Repeating

import ocl
import ocl.models

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
    outcome = validate("small", theirs, residual_net(ocl), PICTURES, mode)
    assert outcome.verdict in (PASS, PASS_KINKS)
    comparison = outcome.comparison
    names = [name for name, _ in theirs.named_parameters()]
    assert [d.name for d in comparison.aligned] == ["(pictures)", *names]
    buffers = [name for name, _ in theirs.named_buffers()] if mode == "train" else []
    assert [d.name for d in comparison.values] == ["(output 0)", *buffers]
    weights = [d for d in comparison.aligned if d.name.endswith("weight")]
    assert all(0 < d.ours < 1e-5 and 0 < d.torch < 1e-5 for d in weights)


def test_it_leaves_the_net_as_it_was(theirs):
    before = {key: value.clone() for key, value in theirs.state_dict().items()}
    validate("small", theirs, residual_net(ocl), PICTURES, "train")
    assert all(torch.equal(value, before[key]) for key, value in theirs.state_dict().items())
    assert isinstance(theirs.relu, torch.nn.ReLU)
    assert theirs.drop.p == 0.5


class ReLU(ocl.nn.Module):
    """Counts as a ReLU, and computes something else."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class MaxPool2d(ocl.nn.Module):
    """Right in its values; its gradient goes to every element of a window alike."""

    kernel_size, stride, padding, dilation, ceil_mode = 3, 2, 1, 1, False

    def forward(self, x):
        F = ocl.nn.functional
        mean = F.avg_pool2d(x, 3, 2, 1)
        return mean + (ocl.max_pool2d(x, 3, 2, 1) - mean).detach()


def wrong_relu(function):
    return lambda: residual_net(ocl, relu=ReLU(function))


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
    "a leaky ReLU": wrong_relu(lambda x: ocl.nn.functional.leaky_relu(x, 0.001)),
    "a ReLU's gradient": wrong_relu(lambda x: x + (ocl.relu(x) - x).detach()),
    "a ReLU's gradient, slightly": wrong_relu(lambda x: ocl.relu(x) * 1.001 - (ocl.relu(x) * 0.001).detach()),
    "a max pool's gradient": lambda: residual_net(ocl, pool=MaxPool2d()),
    "a gradient that is cut": wrong_relu(lambda x: ocl.relu(x).detach()),
    "not a number": wrong_relu(lambda x: ocl.relu(x) / (x - x)),
    "batch norm's statistics": lambda: wrong_statistics(residual_net(ocl)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_net_fails(theirs, fault):
    assert validate("wrong", theirs, FAULTS[fault](), PICTURES, "train").verdict == FAIL


def comparison_of(value=1e-7, gradient=1e-6, aligned=1e-6, decision=1e-7):
    """One tensor of each kind, so far off; PyTorch is 1e-6 off."""
    given = (value, gradient, aligned, decision)
    return Comparison(*([Distance("tensor", ours, 1e-6)] for ours in given))


@pytest.mark.parametrize(
    ("distances", "verdict"),
    [
        ({"gradient": 3.9e-6}, PASS),
        ({"gradient": 4.1e-6}, PASS_KINKS),
        ({"gradient": 0.5}, PASS_KINKS),
        ({"gradient": 0.5, "aligned": 4.1e-6}, FAIL),
        ({"aligned": 4.1e-6}, FAIL),
        ({"value": 4.1e-6}, FAIL),
        ({"gradient": 0.5, "decision": 4.1e-6}, FAIL),
        ({"aligned": math.nan}, FAIL),
    ],
)
def test_verdicts(distances, verdict):
    assert comparison_of(**distances).verdict == verdict


def test_an_exact_reference_leaves_room_for_roundings():
    assert Distance("exact", 2e-7, 0.0).passes
    assert not Distance("exact", 2e-6, 0.0).passes
    assert comparison.worst([Distance("a", 1.0, 1.0), Distance("b", math.nan, 1.0)]).name == "b"


KINKS = [-4.0, -3.0, -1.0, 0.0, 1e-30, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0]


@pytest.mark.parametrize("kind", ["ReLU", "ReLU6", "Hardswish", "Hardsigmoid"])
@pytest.mark.parametrize("library", [torch, ocl])
def test_repeated_decisions_give_the_same_values_and_gradients(library, kind):
    """Except for gradients exactly at an end, where PyTorch's functions differ among themselves."""

    def run(library, ways):
        net = library.nn.Sequential(getattr(library.nn, kind)())
        x = library.tensor(np.array(KINKS, np.float32), requires_grad=True)
        with ways.of(library, net):
            y = net(x)
        y.backward(library.ones_like(y))
        return y.detach().numpy(), x.grad.numpy()

    recording = Recording()
    recorded = run(library, recording)
    assert len(recording.decisions) == 1
    inside = [i for i, x in enumerate(KINKS) if kind == "ReLU" or x not in (-3, 0, 3, 6)]
    repeated = run(torch, Repeating(recording.decisions))
    np.testing.assert_allclose(repeated[0], recorded[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(repeated[1][inside], recorded[1][inside], rtol=1e-6)


@pytest.mark.parametrize("library", [torch, ocl])
def test_a_net_that_is_told_how_to_decide_forgets_its_own_ways(library, theirs):
    recording = Recording()
    relu, net = library.nn.functional.relu, residual_net(library)
    with recording.of(library, net):
        net(library.tensor(PICTURES))
    assert [decision.shape[1:] for decision in recording.decisions] == [
        (8, 16, 16),
        (8, 8, 8),
        (8, 8, 8),
        (8, 8, 8),
    ]
    assert library.nn.functional.relu is relu
    stem, pool, *others = recording.decisions
    changed = [1 - stem, np.roll(pool, 1, 0), *others]
    pictures = torch.tensor(PICTURES)
    outputs = []
    for decisions in (recording.decisions, recording.decisions, changed):
        net = copy.deepcopy(theirs).eval()
        with Repeating(decisions).of(torch, net):
            outputs.append(net(pictures).detach().numpy())
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert np.abs(outputs[2] - outputs[0]).max() > 0.01


def test_ties_are_told_apart_from_faults():
    """Sums that are 0 but for their rounding decide, so that every library goes its own ways."""

    def make(library):
        nn = library.nn
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 64, bias=False), nn.ReLU(), nn.Linear(64, 3))

    torch.manual_seed(0)
    theirs = make(torch)
    with torch.no_grad():
        theirs[1].weight[:, 32:] = -theirs[1].weight[:, :32].roll(1, 1)
    half = np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32)
    pictures = np.concatenate([half, np.roll(half, 1, 1)], 1).reshape(64, 1, 8, 8)
    comparison = validate("ties", theirs, make(ocl), pictures, "train").comparison
    gradients, aligned = ({d.name: d for d in kind} for kind in (comparison.gradients, comparison.aligned))
    for name in ("(pictures)", "1.weight"):
        assert gradients[name].ours > 0.1
        assert gradients[name].torch > 0.1  # PyTorch's float32 too
        assert aligned[name].ours < 1e-5
        assert aligned[name].passes


def test_a_net_whose_kinks_nobody_sees_has_a_twin(theirs):
    class Hidden(ocl.nn.Module):
        def __init__(self):
            super().__init__()
            self._modules.update(residual_net(ocl)._modules.items())

        def forward(self, x):
            x = ocl.max_pool2d(self.norm(self.stem(x)).relu(), 3, 2, 1)
            x = (x + self.conv2(self.conv1(x).relu())).relu()
            return self.head(self.drop(ocl.flatten(ocl.nn.functional.adaptive_avg_pool2d(x, 1), 1)))

    with pytest.raises(ValueError, match="0 calls with kinks"):
        validate("hidden", theirs, Hidden(), PICTURES, "train")
    outcome = validate("hidden", theirs, Hidden(), PICTURES, "train", twin=residual_net(ocl))
    assert outcome.verdict in (PASS, PASS_KINKS)
    wrong = wrong_weight_after_loading(Hidden())
    assert validate("wrong", theirs, wrong, PICTURES, "train", twin=residual_net(ocl)).verdict == FAIL


def test_nets_of_other_kinks_are_refused(theirs):
    with pytest.raises(ValueError, match="3 calls with kinks, PyTorch's has 4"):
        validate("other", theirs, residual_net(ocl, pool=ocl.nn.AvgPool2d(3, 2, 1)), PICTURES, "train")


@needs_torchvision("a net with torchvision's")
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
        assert len(net["aligned"]) == 53
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

    def test_nets_of_ocl_models_have_a_twin(self, monkeypatch, capsys):
        made = []

        def factory(source):
            made.append(source)
            return right_factory("torchvision")

        right_factory = validate_network.nets.our_factory
        monkeypatch.setattr(validate_network.nets, "our_factory", factory)
        options = "--source models --nets squeezenet1_1 --modes eval --side 32 --batch 2".split()
        assert self.run(*options) == 0
        assert made == ["models", "torchvision"]

    def test_nets_are_left_out(self):
        options = validate_network.parse_arguments("--nets all --without vit_h_14,regnet_y_128gf".split())
        assert len(options.nets) == 78
        assert not {"vit_h_14", "regnet_y_128gf"} & set(options.nets)

    @pytest.mark.parametrize("arguments", ["--nets resnet999", "--without resnet999", "--modes test"])
    def test_what_does_not_exist_is_refused(self, arguments):
        with pytest.raises(SystemExit, match="2"):
            self.run(*arguments.split())

    def test_it_goes_on_where_it_was_stopped(self, tmp_path, capsys, monkeypatch):
        figures = tmp_path / "figures.json"
        options = ["--nets", "squeezenet1_1", *"--side 32 --batch 2 --json".split(), str(figures)]
        assert self.run(*options, "--modes", "eval") == 0
        done = []
        monkeypatch.setattr(
            validate_network, "validate", lambda *given: done.append(given[4]) or validate(*given)
        )
        resume = ("--resume", str(figures), str(tmp_path / "absent.json"))
        assert self.run(*options, *resume) == 0
        assert done == ["train"]
        modes = [(net["net"], net["mode"]) for net in json.loads(figures.read_text())["nets"]]
        assert modes == [("squeezenet1_1", "train"), ("squeezenet1_1", "eval")]
        assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 pass"
        figures.write_text(figures.read_text().replace('"device": "', '"device": "another '))
        with pytest.raises(SystemExit, match="not gone on with"):
            self.run(*options, *resume)

    def test_runs_of_one_net_each_are_joined(self, tmp_path, capsys):
        nets, files = ["squeezenet1_1", "squeezenet1_0"], []
        for net in nets:
            files.append(str(tmp_path / f"{net}.json"))
            given = ["--nets", net, *"--modes eval --side 32 --batch 2 --json".split(), files[-1]]
            assert self.run(*given) == 0
        page = tmp_path / "page.md"
        joined = ["--nets", ",".join(nets), "--modes", "eval", "--resume", *files, "--markdown", str(page)]
        assert self.run(*joined) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 pass"
        assert [line[0] for line in report.rows_of_page(page.read_text())] == sorted(nets)

    def test_a_page_has_a_table_of_families(self, tmp_path):
        page = tmp_path / "page.md"
        options = "--nets squeezenet1_1,squeezenet1_0 --side 32 --batch 2 --markdown".split()
        assert self.run(*options, str(page)) == 0
        assert re.fullmatch(
            r"\| nets \| number \| output \| gradient \| passed \|\n\|(---\|){5}\n"
            r"\| squeezenet \| 2 \| \d\.\d\d× \| \d\.\d\d× \| 4 of 4 \|",
            report.families_of_page(page.read_text()),
        )
        assert len(report.rows_of_page(page.read_text())) == 4


def test_outcomes_survive_being_written():
    outcome = comparison.Outcome("net", "train", (2, 3), comparison_of(gradient=math.nan), 1.5)
    (again,) = report.from_json(json.loads(json.dumps(report.as_json([outcome], "", "", "", ""))))
    assert report.row(again) == report.row(outcome)


def line_of(net, output, aligned, verdict=PASS):
    return (net, "train", "1", f"1e-7 ({output}×)", "1e-7 (9.00×)", f"1e-7 ({aligned}×)", "weight", verdict)


def test_families_of_the_short_table():
    rows = [
        line_of("vgg11", "0.50", "1.00"),
        line_of("vgg11_bn", "0.70", "0.90"),
        line_of("wide_resnet50_2", "nan", "5.00", FAIL),
        line_of("resnext50_32x4d", "1.00", "inf", FAIL),
    ]
    assert report.short_table(rows).splitlines()[2:] == [
        "| resnext | 1 | 1.00× | inf× | 0 of 1 |",
        "| vgg | 2 | 0.70× | 1.00× | 2 of 2 |",
        "| wide_resnet | 1 | nan× | 5.00× | 0 of 1 |",
    ]


ROOT = Path(__file__).parents[3]


def rows_of(page):
    return report.rows_of_page((ROOT / "docs" / page).read_text())


@pytest.mark.parametrize("page", ["validated-nets.md", "validated-nets-nvidia.md"])
def test_the_pages_have_every_net_in_both_modes(page):
    rows = rows_of(page)
    nets = set(ocl.models.list_models(module=ocl.models))
    assert sorted((line[0], line[1]) for line in rows) == sorted(itertools.product(nets, ["train", "eval"]))
    assert not [line for line in rows if line[-1] == FAIL]


@pytest.mark.parametrize("page", ["validated-nets.md", "validated-nets-nvidia.md"])
def test_the_families_of_the_pages_are_those_of_their_nets(page):
    text = (ROOT / "docs" / page).read_text()
    assert report.families_of_page(text) == report.short_table(report.rows_of_page(text))
