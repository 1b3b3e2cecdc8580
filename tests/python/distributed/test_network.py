"""Ranks in two network namespaces, which share no memory: as two hosts with a slow line between them."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from fifty_steps import ALONE, PARALLEL
from ranks import HEAD, ends, run_ranks


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True)


@pytest.fixture
def namespaces():
    """Names of two namespaces, whose addresses are 10.213.7.1 and 10.213.7.2."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and iproute2")
    names = [f"tapecl{os.getpid()}{side}" for side in "ab"]
    if ip("netns", "add", names[0], check=False).returncode:
        pytest.skip("this machine makes no network namespaces")
    try:
        ip("netns", "add", names[1])
        ip(
            "link",
            "add",
            "tcl0",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            "tcl1",
            "netns",
            names[1],
        )
        for i, name in enumerate(names):
            ip("-n", name, "addr", "add", f"10.213.7.{i + 1}/24", "dev", f"tcl{i}")
            for link in ("lo", f"tcl{i}"):
                ip("-n", name, "link", "set", link, "up")
            # A kernel without netem has no delay.
            delay = ["tc", "-n", name, "qdisc", "add", "dev", f"tcl{i}", "root", "netem", "delay", "2ms"]
            subprocess.run(delay, capture_output=True)
        yield names
    finally:
        for name in names:
            ip("netns", "del", name, check=False)


def run_in(namespaces, program, size, timeout=120):
    """Ranks by turns in the namespaces; (exit status, output, errors) of each."""
    processes = []
    for rank in range(size):
        variables = {"RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": "10.213.7.1", "MASTER_PORT": 29400}
        processes.append(
            subprocess.Popen(
                ["ip", "netns", "exec", namespaces[rank % 2], sys.executable, "-c", HEAD + program],
                env=os.environ | {name: str(value) for name, value in variables.items()},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return ends(processes, timeout)


def test_fifty_steps_over_tcp_are_those_of_one_process(namespaces):
    results = run_in(namespaces, PARALLEL, 4)
    losses, weights = json.loads(run_ranks(ALONE, 1, ALONE=1)[0])
    for rank, (status, output, errors) in enumerate(results):
        assert status == 0, errors
        own_losses, own_weights, _ = json.loads(output)
        assert own_losses == losses[rank]
        assert own_weights == weights


def test_collectives_over_tcp(namespaces):
    """Large and small, between ranks of which some share memory and some do not."""
    program = """
assert [dist.group.WORLD.shares_memory_with(r) for r in range(size) if r != rank] == [
    r % 2 == rank % 2 for r in range(size) if r != rank]
for count in (0, 1, 5000, 3_000_001):
    t = ocl.full((count,), rank + 1.0)
    dist.all_reduce(t)
    assert (t.numpy() == 6).all()
    outputs = [ocl.zeros(count) for _ in range(size)]
    dist.all_gather(outputs, ocl.full((count,), float(rank)))
    assert all((output.numpy() == r).all() for r, output in enumerate(outputs))
    t = ocl.zeros(count)
    dist.reduce_scatter_tensor(t, ocl.cat([ocl.full((count,), rank + 10.0 * r) for r in range(size)]))
    assert (t.numpy() == 3 + 30 * rank).all()
    t = ocl.full((count,), float(rank))
    dist.broadcast(t, 1)
    assert (t.numpy() == 1).all()
print("right")
"""
    for status, output, errors in run_in(namespaces, program, 3):
        assert status == 0, errors
        assert output == "right\n"


def test_a_rank_that_dies_beyond_the_network_is_named(namespaces):
    program = """
t = ocl.ones(2_000_000)
for step in range(1000):
    if rank == 1 and step == 3:
        os.kill(os.getpid(), 9)
    dist.all_reduce(t)
"""
    results = run_in(namespaces, program, 3, timeout=60)
    for rank in (0, 2):
        assert results[rank][0] == 1
        assert "rank 1 (process" in results[rank][2] and "10.213.7.2" in results[rank][2]
