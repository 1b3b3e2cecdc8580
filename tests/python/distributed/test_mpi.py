"""The backend "mpi": programs that mpirun starts, on one host, and as if each rank were a host of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ranks import HEAD

import ocl

LIBRARY = Path(ocl.__file__).parent / "libtapecl_mpi.so"
pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("mpirun") and LIBRARY.exists()),
        reason="NOT TESTED: the backend mpi, as there is no mpirun or the package was built without MPI",
    )
]
HEAD_OF_MPI = (
    HEAD[: HEAD.index("rank, size =")]
    + """
dist.init_process_group("mpi", timeout=timeout)
rank, size = dist.get_rank(), dist.get_world_size()
"""
)


def mpirun(program, size, *, as_hosts=False, timeout=120, check=True):
    """Runs the program. ``as_hosts``: no rank sees the processes of others, so none shares memory."""
    command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(size)]
    if as_hosts:
        if os.geteuid() != 0 or subprocess.run(["unshare", "--pid", "--fork", "true"]).returncode:
            pytest.skip("this machine makes no spaces of processes")
        command += ["--mca", "btl", "tcp,self", "unshare", "--pid", "--fork", "--kill-child"]
    command += [sys.executable, "-c", HEAD_OF_MPI + program]
    process = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if check:
        assert process.returncode == 0, process.stdout + process.stderr
    return process


COLLECTIVES = """
assert dist.get_backend() == "mpi" and size == 3
neighbour = (rank + 1) % size
shares = dist.group.WORLD.shares_memory_with(neighbour)
assert shares == (not {as_hosts}), shares
for count in (0, 1, 3, 1000, (1 << 20) + 1, 5_000_003):
    t = ocl.arange(count, dtype=ocl.float32) % 64 + rank
    dist.all_reduce(t)
    np.testing.assert_array_equal(t.numpy(), np.arange(count) % 64 * 3 + 3)
    t = ocl.full((count,), float(rank))
    dist.broadcast(t, 2)
    assert (t.numpy() == 2).all()
    parts = [ocl.zeros(count, dtype=ocl.int64) for _ in range(size)]
    dist.all_gather(parts, ocl.full((count,), rank, dtype=ocl.int64))
    assert all((part.numpy() == r).all() for r, part in enumerate(parts))
    t = ocl.empty(count)
    dist.reduce_scatter_tensor(t, ocl.arange(3 * count).float() % 32)
    np.testing.assert_array_equal(t.numpy(), 3.0 * (np.arange(rank * count, (rank + 1) * count) % 32))
    outgoing = [ocl.full((count,), 10 * rank + r) for r in range(size)]
    incoming = [ocl.zeros(count, dtype=ocl.int64) for _ in range(size)]
    dist.all_to_all(incoming, outgoing)
    assert all((part.numpy() == 10 * r + rank).all() for r, part in enumerate(incoming))
    works = [dist.isend(ocl.full((count,), float(rank)), neighbour)]
    t = ocl.zeros(count)
    works.append(dist.irecv(t, (rank - 1) % size))
    for work in works:
        work.wait()
    assert (t.numpy() == (rank - 1) % size).all()
pair, swapped = dist.new_group([0, 2]), dist.new_group([2, 1], backend="mpi")
if rank != 1:
    t = ocl.tensor([float(rank)])
    dist.all_reduce(t, group=pair)
    assert t.item() == 2 and dist.get_backend(pair) == "mpi"
if rank != 0:
    assert dist.get_rank(swapped) == 2 - rank
    t = ocl.tensor([rank])
    dist.broadcast(t, 2, group=swapped)
    assert t.item() == 2
dist.barrier()
dist.destroy_process_group()
dist.init_process_group("mpi", timeout=timeout)  # MPI itself begins once
dist.barrier()
print("right")
"""


@pytest.mark.parametrize("as_hosts", [False, True])
def test_collectives(as_hosts):
    process = mpirun(COLLECTIVES.replace("{as_hosts}", str(as_hosts)), 3, as_hosts=as_hosts)
    assert process.stdout.count("right") == 3  # lines of ranks may run together


def test_a_rank_that_ends_is_named():
    program = """
if rank == 1:
    os._exit(7)
try:
    dist.all_reduce(ocl.ones(5_000_000))
except dist.DistBackendError as error:
    print("heard:", error, flush=True)
    time.sleep(2)
"""
    process = mpirun(program, 2, as_hosts=True, check=False, timeout=60)
    assert process.returncode != 0
    assert "heard: rank 1 (process" in process.stdout or "exit" in process.stdout + process.stderr


def test_arguments():
    program = """
dist.destroy_process_group()
for given in ({"rank": 0}, {"world_size": 1}, {"init_method": "env://"}):
    try:
        dist.init_process_group("mpi", **given)
    except ValueError as error:
        assert "MPI says the rank" in str(error)
    else:
        raise SystemExit("accepted")
dist.init_process_group("mpi")
try:
    dist.new_group([0], backend="tcp")
except ValueError as error:
    assert "backend 'tcp', expected 'mpi'" in str(error)
else:
    raise SystemExit("accepted")
"""
    mpirun(program, 1)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("/nowhere/libtapecl_mpi.so", "there is no MPI: .*libopenmpi-dev"),
        ("libm.so.6", "another version of TapeCL"),
    ],
)
def test_where_there_is_no_mpi(file, message, monkeypatch):
    monkeypatch.setenv("TAPECL_MPI_LIBRARY", file)
    program = HEAD_OF_MPI.replace("ocl.set_default_device(device)", "")
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert process.returncode == 1
    last = process.stderr.strip().splitlines()[-1]
    assert re.search(f"DistBackendError: .*{message}", last), last
