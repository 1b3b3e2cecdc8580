"""Profiles by module: paths, backward steps, and the ranges of a trace."""

import csv
import json

import numpy as np
import pytest

import ocl
from ocl import nn
from ocl.profiler import profile


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList([nn.Linear(6, 6), nn.Sequential(nn.Linear(6, 6), nn.Tanh())])

    def forward(self, x):
        return sum(branch(x) for branch in self.branches).exp()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 6)
        self.blocks = nn.Sequential(Block(), Block())
        self.unregistered = [nn.Linear(6, 2)]

    def forward(self, x):
        return self.unregistered[0](self.blocks(self.stem(x)))


# A launch that several modules share counts for the last of them alone.
pytestmark = pytest.mark.usefixtures("calls_apart")

OF_A_BLOCK = ["branches.0 (Linear)", "branches.1.0 (Linear)", "branches.1.1 (Tanh)"]
MODULES = {
    "stem (Linear)",
    *(f"blocks.{i} (Block)" for i in range(2)),
    *(f"blocks.{i}.{path}" for i in range(2) for path in OF_A_BLOCK),
}


@pytest.fixture
def net():
    return Net()


@pytest.fixture
def x():
    return ocl.tensor(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))


def rows_of(recorded, folder):
    recorded.export_csv(str(folder / "launches.csv"))
    with open(folder / "launches.csv", newline="") as file:
        return list(csv.DictReader(file))


def operators_by_module(rows):
    found = {}
    for row in rows:
        found.setdefault(row["module"], set()).add(row["operator"])
    return found


def test_modules_are_called_by_path_and_class(net, x, tmp_path):
    with ocl.no_grad(), profile() as recorded:
        net(x)
    found = operators_by_module(rows_of(recorded, tmp_path))
    assert set(found) == MODULES | {"Linear"}  # the one that is not registered has no path
    assert found["blocks.0 (Block)"] == {"add", "exp"}  # what a module computes itself
    assert found["blocks.1.branches.1.1 (Tanh)"] == {"tanh"}
    lines = recorded.table("module").splitlines()
    assert lines[0].startswith("module ")
    assert any(line.startswith("blocks.0.branches.1.0 (Linear) ") for line in lines)


def test_a_module_that_is_called_alone_is_the_outermost(net, x, tmp_path):
    with ocl.no_grad():
        y = net.stem(x)
        with profile() as recorded:
            net.blocks[0](y)
    expected = {"Block", *OF_A_BLOCK}
    assert set(operators_by_module(rows_of(recorded, tmp_path))) == expected


def test_backward_steps_count_for_the_module_of_the_forward_call(net, x, tmp_path):
    with profile() as recorded:
        loss = net(x).square().sum()
    forward = rows_of(recorded, tmp_path)
    with profile() as recorded:
        loss = net(x).square().sum()
        loss.backward()
    rows = rows_of(recorded, tmp_path)
    assert [row["module"] for row in rows[: len(forward)]] == [row["module"] for row in forward]
    found = operators_by_module(rows[len(forward) :])
    assert MODULES | {"Linear"} <= set(found)
    assert found["blocks.0.branches.1.1 (Tanh)"] == {"tanh"}
    assert found["blocks.1 (Block)"] >= {"exp"}
    assert found["stem (Linear)"] == found["Linear"] == {"LinearBackward"}
    assert not {"tanh", "exp", "LinearBackward"} & found[""]


def test_a_forward_call_before_the_profile_has_no_module(net, x, tmp_path):
    loss = net(x).sum()
    with profile() as recorded:
        loss.backward()
    assert set(operators_by_module(rows_of(recorded, tmp_path))) == {""}


def test_names_with_quotes_and_commas_are_written_as_they_are(x, tmp_path):
    net = nn.Sequential()
    net.add_module('a "b", c', nn.Linear(4, 4))
    with ocl.no_grad(), profile() as recorded:
        net(x)
    name = 'a "b", c (Linear)'
    assert {row["module"] for row in rows_of(recorded, tmp_path)} == {name}
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert name in {event["name"] for event in events if event["cat"] == "module"}


def test_ranges_of_a_trace_lie_within_each_other(net, x, tmp_path):
    with profile() as recorded:
        net(x).sum().backward()
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kernels, operators, modules = (
        [event for event in events if event["cat"] == kind] for kind in ("kernel", "operator", "module")
    )
    assert len(kernels) == len(recorded.launches())

    def span(event):
        return event["ts"], event["ts"] + event["dur"]

    def ranges_around(kernel, ranges):
        start, end = span(kernel)
        slack = 2e-3  # times are written in thousandths
        return {r["name"] for r in ranges if span(r)[0] <= start + slack and end <= span(r)[1] + slack}

    for kernel in kernels:
        operator, module = kernel["args"]["operator"], kernel["args"]["module"]
        assert operator in ranges_around(kernel, operators)
        if module:
            path = module.split(" ")[0].split(".")
            outer = {".".join(path[:i]) for i in range(1, len(path))}
            assert outer | {module} <= ranges_around(kernel, modules)
    assert {"blocks", "blocks.0", "blocks.0.branches"} <= {event["name"] for event in modules}
