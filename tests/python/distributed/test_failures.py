"""Ranks that end, hang, or call something else: the others get an error that says so, and nobody hangs."""

import random
import signal
import time

import pytest
from ranks import ends, run_ranks, shared_segments, start_ranks

TRAIN = """
t = ocl.ones(200_000)
print("ready", flush=True)
while True:
    dist.all_reduce(t)
    t /= size
"""


def kill_one(size, victim, delay, program=TRAIN):
    """(exit statuses and errors of the others, seconds until all had ended)."""
    processes = start_ranks(program, size)
    for process in processes:
        assert process.stdout.readline().strip() == "ready"
    time.sleep(delay)
    processes[victim].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    results = ends(processes, timeout=30)
    return [r for i, r in enumerate(results) if i != victim], time.monotonic() - killed


def check_kills(rounds):
    segments, source = shared_segments(), random.Random(rounds)
    for _ in range(rounds):
        victim = source.randrange(3)
        others, seconds = kill_one(3, victim, source.uniform(0, 0.3))
        assert seconds < 10
        for status, _, errors in others:
            assert status == 1
            assert f"rank {victim} (process" in errors and "has ended" in errors, errors
    assert shared_segments() == segments


def test_a_killed_rank_is_named_by_the_others():
    check_kills(3)


@pytest.mark.slow
def test_twenty_kills():
    check_kills(20)


def test_a_rank_that_ends_between_collectives_is_named():
    results = ends(
        start_ranks(
            """
dist.barrier()
if rank == 1:
    os._exit(3)
time.sleep(1)
try:
    dist.all_reduce(ocl.ones(3))
except dist.DistBackendError as error:
    print(error)
""",
            3,
        )
    )
    assert [status for status, _, _ in results] == [0, 3, 0]
    for rank in (0, 2):
        assert results[rank][1].startswith("rank 1 (process")


def test_a_rank_that_leaves_in_good_order_is_named_by_who_waits_for_it():
    out = run_ranks(
        """
dist.barrier()
if rank == 1:
    dist.destroy_process_group()
else:
    try:
        dist.all_reduce(ocl.ones(300_000))
    except dist.DistBackendError as error:
        print(error)
    try:
        dist.barrier()
    except dist.DistBackendError as again:
        print(again)
""",
        2,
    )
    first, second = out[0].splitlines()
    assert (
        first
        == second
        == (
            "rank 1 has left the group, and does not take part in all_reduce(SUM) of float32, 300000 elements"
        )
    )


@pytest.mark.parametrize("hanging", [0, 2])
def test_a_rank_that_hangs_is_named_after_the_time_out(hanging):
    began = time.monotonic()
    results = ends(
        start_ranks(
            """
if rank == int(sys.argv[1]):
    time.sleep(6)
    os._exit(0)
try:
    dist.all_reduce(ocl.ones(10))
except dist.DistBackendError as error:
    print(error)
""",
            3,
            hanging,
            TIMEOUT=2,
        )
    )
    assert time.monotonic() - began < 30
    for rank, (status, output, _) in enumerate(results):
        assert status == 0
        if rank != hanging:
            said = f"rank {hanging} did not go on with all_reduce(SUM) of float32, 10 elements"
            assert output.startswith(said)


MISMATCHES = {
    "operation": ("dist.broadcast(ocl.ones(3), 0)", "dist.barrier()", "broadcast of", "barrier"),
    "size": ("dist.all_reduce(ocl.ones(3))", "dist.all_reduce(ocl.ones(4))", "3 elements", "4 elements"),
    "dtype": (
        "dist.all_reduce(ocl.ones(3))",
        "dist.all_reduce(ocl.ones(3, dtype=ocl.float16))",
        "float32",
        "float16",
    ),
    "op": (
        "dist.all_reduce(ocl.ones(3))",
        "dist.all_reduce(ocl.ones(3), dist.ReduceOp.MAX)",
        "all_reduce(SUM)",
        "all_reduce(MAX)",
    ),
    "root": ("dist.broadcast(ocl.ones(3), 0)", "dist.broadcast(ocl.ones(3), 1)", "root 0", "root 1"),
    "shares": (
        "dist.all_to_all([ocl.ones(1), ocl.ones(2)], [ocl.ones(1), ocl.ones(3)])",
        "dist.all_to_all([ocl.ones(2), ocl.ones(1)], [ocl.ones(2), ocl.ones(1)])",
        "12",
        "expects 8",
    ),
    "message": ("dist.send(ocl.ones(3), 1)", "dist.recv(ocl.ones(5), 0)", "3 elements", "5 elements"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_calls_that_differ_are_an_error_that_says_both(name):
    first, second, one, other = MISMATCHES[name]
    program = f"""
try:
    {first} if rank == 0 else {second}
    dist.barrier()
except dist.DistBackendError as error:
    print(error)
"""
    for output in run_ranks(program, 2, timeout=60):
        assert one in output and other in output, output


def test_who_does_not_come_is_named():
    program = """
try:
    if rank < 2:
        dist.init_process_group(timeout=3)
except dist.DistBackendError as error:
    print(error)
"""
    results = ends(start_ranks(program, 3, ALONE=1), timeout=60)
    assert "rank 2 did not come to 127.0.0.1" in results[0][1]
    assert "rank 2 did not come" in results[1][1]


def test_other_world_sizes_and_two_of_one_rank():
    program = """
os.environ["WORLD_SIZE"] = sys.argv[1 + rank]
try:
    dist.init_process_group(timeout=10)
except dist.DistBackendError as error:
    print(error)
"""
    for output in run_ranks(program, 2, 2, 3, ALONE=1):
        assert output.strip() == "rank 0 has a world size of 2, rank 1 one of 3"


def test_arguments():
    run_ranks(
        """
def refused(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise SystemExit("accepted: " + text)

t = ocl.ones(3)
refused(ValueError, "2 inputs, expected 1", lambda: dist.scatter(t, [t, t], 0))
refused(ValueError, "rank 7 is not in the group [0]", lambda: dist.broadcast(t, 7))
refused(ValueError, "this one", lambda: dist.send(t, 0))
refused(ValueError, "float32 [4]", lambda: dist.all_gather([ocl.ones(4)], t))
refused(RuntimeError, "there is a group already", lambda: dist.init_process_group())
dist.destroy_process_group()
refused(ValueError, "there is no group", lambda: dist.all_reduce(t))
refused(ValueError, "backend 'nccl'", lambda: dist.init_process_group("nccl"))
refused(ValueError, "init_method 'file:///x'", lambda: dist.init_process_group(init_method="file:///x"))
refused(ValueError, "rank 3 in a world of 2",
        lambda: dist.init_process_group(init_method="tcp://127.0.0.1:1", rank=3, world_size=2))
del os.environ["MASTER_PORT"]
refused(ValueError, "RANK is 'x'", lambda: (os.environ.update(RANK="x"), dist.init_process_group()))
assert dist.is_available() and not dist.is_initialized()
""",
        1,
    )


def test_children_of_a_fork_do_not_hold_the_connections():
    """A rank that is killed counts as ended though a child of it, as of a DataLoader, lives on."""
    program = "if os.fork() == 0:\n    os.close(1)\n    os.close(2)\n    time.sleep(15)\n    os._exit(0)\n"
    others, seconds = kill_one(2, 1, 0.2, program + TRAIN)
    assert seconds < 10
    assert "rank 1 (process" in others[0][2]
