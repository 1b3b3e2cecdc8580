"""Programs run by several ranks, each a process of its own."""

import os
import socket
import subprocess
import time

from processes import start

HEAD = """
import os, sys, time
import numpy as np
import ocl
import ocl.distributed as dist

device = os.environ.get("OCL_TEST_DEVICE", "ocl:0")
ocl.set_default_device(device)
timeout = float(os.environ.get("TIMEOUT", 120))
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
if not os.environ.get("ALONE"):
    dist.init_process_group(timeout=timeout)
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_ranks(program, size, *arguments, **variables):
    """Starts `program`, which finds `dist` initialised, `rank` and `size`."""
    port = free_port()
    return [
        start(
            HEAD + program,
            *arguments,
            RANK=rank,
            LOCAL_RANK=rank,
            WORLD_SIZE=size,
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=port,
            **variables,
        )
        for rank in range(size)
    ]


def ends(processes, timeout=120):
    """(exit status, output, errors) of each; all are ended by then."""
    deadline = time.monotonic() + timeout
    results = []
    try:
        for process in processes:
            output, errors = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
            results.append((process.returncode, output, errors))
    except subprocess.TimeoutExpired:
        raise AssertionError(f"rank {len(results)} hangs; the others: {results}") from None
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return results


def run_ranks(program, size, *arguments, timeout=120, **variables):
    """The output of each rank; all must succeed."""
    results = ends(start_ranks(program, size, *arguments, **variables), timeout)
    for rank, (status, _, errors) in enumerate(results):
        assert status == 0, f"rank {rank}: exit status {status}\n{errors}\nall: {[r[0] for r in results]}"
    return [output for _, output, _ in results]


def shared_segments():
    """Segments in /dev/shm, of which none may be left."""
    return set(os.listdir("/dev/shm"))
