"""Every test runs on the device that OCL_TEST_DEVICE names (ocl:0 where unset)."""

import faulthandler
import os
import random
import signal
import zlib

# PyTorch's threads else spin while they wait, on the cores that PoCL computes on. Set before torch is read.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import pytest
import torch
from comparisons import lines_of_skips
from program_counts import ProgramCounts

import ocl

TEST_DEVICE = os.environ.get("OCL_TEST_DEVICE", "ocl:0")


def pytest_configure(config):
    config.pluginmanager.register(ProgramCounts())
    # A runner that a shell started in the background ignores SIGINT, which children inherit: tests of Ctrl-C
    # would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(2)
    ocl.set_default_device(TEST_DEVICE)


def pytest_runtest_setup(item):
    # A test draws the same numbers in every run, whatever ran before it.
    for seed in (random.seed, np.random.seed, torch.manual_seed, ocl.manual_seed):
        seed(zlib.crc32(item.nodeid.encode()))
    if item.get_closest_marker("slow"):
        faulthandler.cancel_dump_traceback_later()  # its own processes have limits


def pytest_terminal_summary(terminalreporter):
    for line in lines_of_skips(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line, yellow=True)
    if failures := os.environ.get("CPP_FAILURES"):  # test.sh's, which ran them before
        terminalreporter.write_line(failures, red=True)


@pytest.fixture(scope="session")
def device():
    """The device under test; tensors that name none are there too."""
    return ocl.device(TEST_DEVICE)


@pytest.fixture
def rng(request):
    """NumPy's random generator, the same for the same test in every run."""
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture(scope="session", autouse=True)
def kernels_build_without_warnings():
    """At the end of all tests: no kernel that they built made a compiler complain."""
    yield
    assert ocl._C._kernel_warnings() == []


@pytest.fixture
def calls_apart():
    """Every pointwise operator is a launch of its own."""
    before = ocl.get_fusion()
    ocl.set_fusion(False)
    yield
    ocl.set_fusion(before)
