"""Programs that Python writes here, run by a cross build under an emulator; tools/cross calls it."""

import os
import subprocess

import numpy as np
import pytest
from comparisons import not_compared
from support import expect_near
from training_steps import training

import ocl
from ocl import models, nn, optim

BUILD = os.environ.get("OCL_TEST_CROSS_BUILD")
EMULATOR = os.environ.get("OCL_TEST_EMULATOR")
pytestmark = pytest.mark.skipif(
    BUILD is None,
    reason=not_compared(
        "results of other processors and systems", "cross build (tools/cross/aarch64, tools/cross/windows)"
    ),
)


def started(program, *arguments):
    path = f"{BUILD}/{program}"
    if not os.path.exists(path):
        path += ".exe"
    command = [EMULATOR, path, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=3600)


def run(program, *arguments):
    made = started(program, *arguments)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


def emulated(program, folder, *inputs, options=()):
    """The program's first result there."""
    program.save(folder / "program.ocl")
    arguments = []
    for i, ((name, *_), values) in enumerate(zip(program.inputs, inputs, strict=True)):
        np.save(folder / f"{i}.npy", values)
        arguments += ["-i", f"{name}={folder / f'{i}.npy'}"]
    run("tools/tapecl-run", folder / "program.ocl", *arguments, "-o", folder / "y.npy", *options)
    return np.load(folder / "y.npy")


def drawn(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def result(net, values):
    with ocl.no_grad():
        return net(values).numpy()


def check_net(net, values, folder, **export):
    """The emulated result is as near to float64's as this machine's is."""
    net.eval()
    program = ocl.export(net, (ocl.tensor(values),), **export)
    here = result(net, ocl.tensor(values))
    truth = result(net.double(), ocl.tensor(values).double())
    expect_near(emulated(program, folder, values), truth, here)


def test_mobilenet(tmp_path):
    ocl.manual_seed(0)
    check_net(models.mobilenet_v3_small(num_classes=10), drawn(1, 3, 32, 32), tmp_path)


def test_dynamic_shapes(tmp_path):
    ocl.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5)
    )
    batch = ocl.export.Dim("batch", max=5)
    check_net(net, drawn(3, 1, 9, 9), tmp_path, dynamic_shapes={"input": {0: batch}})


def training_step(dtype):
    """A step of a net for MNIST, and arguments for it."""
    ocl.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 169, 10),
    ).to(dtype)
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    step = training(net, optimizer)
    x, y = ocl.tensor(drawn(4, 1, 28, 28)).to(dtype), ocl.tensor(np.arange(4))
    step(x, y)  # the optimizer makes its states
    return step, x, y, net


def test_training_steps(tmp_path):
    step, x, y, net = training_step(ocl.float32)
    program = ocl.export(step, (x, y), named=net)
    there = emulated(program, tmp_path, x.numpy(), y.numpy(), options=("--repeat", 4))
    step64, x64, y64, _ = training_step(ocl.float64)
    here = [step(x, y).item() for _ in range(4)]
    truth = [step64(x64, y64).item() for _ in range(4)]
    assert truth[-1] < truth[0]
    expect_near(there, np.array(truth[-1]), np.array(here[-1], np.float32), units=8)


def test_the_example_in_c(tmp_path):
    ocl.manual_seed(0)
    net = nn.Linear(7, 2)
    ocl.export(net, (ocl.zeros(1, 7),)).save(tmp_path / "net.ocl")
    printed = run("examples/runner", tmp_path / "net.ocl", "ocl:0", 3)
    assert printed.startswith("output float32 [1, 2]")
    x = (np.arange(7) % 7 / 7).astype(np.float32)[None]
    here = result(net, ocl.tensor(x))
    truth = result(net.double(), ocl.tensor(x).double())
    expect_near(np.array([printed.split("]")[1].split()], np.float32), truth, here)


def test_kernels_in_the_file(tmp_path):
    ocl.manual_seed(0)
    net = nn.Linear(7, 2).eval()
    x = drawn(3, 7)
    without = emulated(ocl.export(net, (ocl.tensor(x),)), tmp_path, x)
    run("tools/tapecl-run", tmp_path / "program.ocl", "--save-binaries", tmp_path / "binaries.ocl")
    arguments = ["-i", tmp_path / "0.npy", "-o", tmp_path / "again.npy", "--trust-binaries"]
    run("tools/tapecl-run", tmp_path / "binaries.ocl", *arguments)
    assert np.load(tmp_path / "again.npy").tobytes() == without.tobytes()


def test_names_of_any_script(tmp_path):
    folder = tmp_path / "größer 漢字"
    folder.mkdir()
    ocl.manual_seed(0)
    check_net(nn.Linear(7, 2), drawn(3, 7), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["0.npy", "program.ocl", "y.npy"]


def test_refusals(tmp_path):
    made = started("tools/tapecl-run", tmp_path / "absent.ocl")
    assert made.returncode == 1
    assert "absent.ocl: cannot open: No such file or directory" in made.stderr
    program = tmp_path / "program.ocl"
    ocl.export(nn.Linear(7, 2), (ocl.zeros(1, 7),)).save(program)
    program.write_bytes(program.read_bytes()[:-1])
    made = started("tools/tapecl-run", program, "--show")
    assert made.returncode == 1
    assert "program.ocl: not a valid safetensors file" in made.stderr
