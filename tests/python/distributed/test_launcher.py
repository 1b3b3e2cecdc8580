"""python -m ocl.distributed.run: torchrun's variables, failures, restarts, and examples/train.py under it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from processes import ROOT, finish, run, start
from ranks import free_port

import ocl

PROGRAM = """
import os, sys, time
rank, attempt = int(os.environ["RANK"]), int(os.environ["RESTART_COUNT"])

def say(text):  # one write, between which no other rank's comes
    os.write(1, f"{text}\\n".encode())
"""


def launched(tmp_path, program, *options, arguments=(), **variables):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + program)
    command = [sys.executable, "-m", "ocl.distributed.run", *options, str(path), *arguments]
    return subprocess.Popen(
        command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def has_ended(number):
    """Whether that process runs no more; one that nobody has asked for its status counts as ended."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def test_variables_are_torchrun_s(tmp_path):
    names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR".split()
    program = f"""
import json
row = [{{name: os.environ[name] for name in {names}}}, int(os.environ["MASTER_PORT"]), sys.argv[1:]]
say(json.dumps(row))
"""
    process = launched(tmp_path, program, "--nproc-per-node", "3", arguments=["--lr", "1"])
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    rows = sorted((json.loads(line) for line in output.splitlines()), key=lambda row: row[0]["RANK"])
    for rank, (variables, port, arguments) in enumerate(rows):
        expected = dict(zip(names, [str(rank), str(rank), "3", "3", "0", "127.0.0.1"], strict=True))
        assert variables == expected and arguments == ["--lr", "1"] and port == rows[0][1]
    assert len(rows) == 3


def of_two_nodes(tmp_path, counts):
    """(exit status, output, errors) of a launcher on each of two nodes, which start so many processes."""
    program = """
import ocl.distributed as dist
dist.init_process_group(timeout=60)
all = [None] * dist.get_world_size()
dist.all_gather_object(all, os.environ["GROUP_RANK"])
say(f"{rank} {all}")
"""
    port = free_port()
    nodes = [
        launched(
            tmp_path, program, "--nnodes=2", f"--node_rank={node}", f"--nproc_per_node={counts[node]}",
            f"--master_port={port}",
        )
        for node in range(2)
    ]  # fmt: skip
    outputs = [node.communicate(timeout=90) for node in nodes]
    return [(node.returncode, *output) for node, output in zip(nodes, outputs, strict=True)]


def test_two_nodes_meet(tmp_path):
    first, second = of_two_nodes(tmp_path, [1, 1])
    assert (first[0], first[1]) == (0, "0 ['0', '1']\n"), first
    assert (second[0], second[1]) == (0, "1 ['0', '1']\n"), second


def test_nodes_of_unequal_size_have_no_common_world(tmp_path):
    results = of_two_nodes(tmp_path, [2, 1])
    assert all(status for status, _, _ in results)
    assert any("world size" in errors for _, _, errors in results)


def test_the_rank_that_fails_is_named_and_the_others_end(tmp_path):
    program = """
import subprocess
if rank == 1:
    time.sleep(0.3)
    sys.exit(7)
child = subprocess.Popen(["sleep", "60"])
say(f"{os.getpid()} {child.pid}")
time.sleep(60)
"""
    process = launched(tmp_path, program, "--nproc-per-node", "3")
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 7
    assert errors.splitlines()[-1] == "ocl.distributed.run: rank 1 failed with exit status 7"
    time.sleep(0.1)
    assert len(output.split()) == 4 and all(map(has_ended, output.split()))


def test_a_killed_rank_is_named(tmp_path):
    program = """
if rank == 1:
    os.kill(os.getpid(), 9)
time.sleep(60)
"""
    process = launched(tmp_path, program, "--nproc-per-node", "2")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGKILL
    assert "rank 1 was ended by SIGKILL" in errors


def test_restarts(tmp_path):
    program = """
if attempt < 2 and rank == 0:
    sys.exit(1)
say(f"{rank} {attempt}")
if rank == 1 and attempt < 2:
    time.sleep(30)
"""
    process = launched(tmp_path, program, "--nproc-per-node", "2", "--max-restarts", "2")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert {"0 2", "1 2"} <= set(output.splitlines())
    assert errors.count("rank 0 failed with exit status 1") == 2


def test_ctrl_c_ends_all(tmp_path):
    process = launched(tmp_path, "say(os.getpid())\ntime.sleep(60)", "--nproc-per-node", "2")
    numbers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert all(map(has_ended, numbers))


def test_variables_of_mpirun_stand_for_ours():
    program = """
import ocl.distributed as dist
assert dist.is_launched()
dist.init_process_group(timeout=60)
all = [None] * 2
dist.all_gather_object(all, dist.get_rank())
assert all == [0, 1]
"""
    given = {
        "OMPI_COMM_WORLD_SIZE": 2,
        "OMPI_COMM_WORLD_LOCAL_SIZE": 2,
        "PMIX_NAMESPACE": f"prte-{os.getpid()}@1",
    }
    for process in [start(program, OMPI_COMM_WORLD_RANK=rank, **given) for rank in range(2)]:
        finish(process, 90)


def test_plain_programs_are_not_launched():
    run("import ocl.distributed as dist; assert not dist.is_launched() and not dist.is_initialized()")


def train(output, *options, program="train.py"):
    device = str(ocl.get_default_device())
    launcher = [sys.executable, "-m", "ocl.distributed.run", "--nproc-per-node", "2"]
    small = "--fake-size 96 --side 16 --workers 0 --batch-size 8 --checkpoint-every 2".split()
    command = [*launcher, str(ROOT / "examples" / program), "--device", device, *small, *options]
    command += ["--output", str(output)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_train_py_resumes_to_the_same_bits(tmp_path):
    """Stopped after the first epoch, a training goes on to the weights of one that was not."""
    whole = train(tmp_path / "whole", "--epochs", "2", "--schedule", "constant")
    assert whole.returncode == 0, whole.stderr
    assert whole.stdout.count("wrote ") == 1 and whole.stdout.count("epoch 2/2: training") == 1
    assert train(tmp_path / "parts", "--epochs", "1", "--schedule", "constant").returncode == 0
    rest = train(tmp_path / "parts", "--epochs", "2", "--schedule", "constant", "--resume")
    assert rest.returncode == 0, rest.stderr
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts")]
    assert weights[0] == weights[1]
