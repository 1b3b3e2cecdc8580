"""Starts a program as several processes, with torchrun's variables and options.

    python -m ocl.distributed.run --nproc-per-node 2 train.py --epochs 3
    python -m ocl.distributed.run --nnodes 2 --node-rank 0 --master-addr HOST --master-port 29500 train.py

Every process gets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and MASTER_PORT.
When one of them fails, the others are ended, the one that failed first is named, and the exit status is not
0. With ``--max-restarts`` all start again so many times, and RESTART_COUNT says which time it is.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time

__all__ = ["main"]

_GRACE = 5.0  # seconds that processes have to end by themselves after SIGTERM


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m ocl.distributed.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def option(name, **settings):
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", **settings)

    option("nproc-per-node", type=_count, default=1, metavar="N", help="processes on this host")
    option("nnodes", type=_count, default=1, metavar="N", help="hosts")
    option("node-rank", type=int, default=0, metavar="I", help="this host's number, from 0")
    option("master-addr", default="127.0.0.1", help="where rank 0 runs, default %(default)s")
    option("master-port", type=int, help="default any free one; 29500 for several hosts")
    option("max-restarts", type=int, default=0, metavar="N", help="times that all start again")
    option("standalone", action="store_true", help="one host, as is the default")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module's name")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not 0 <= options.node_rank < options.nnodes:
        parser.error(f"--node-rank {options.node_rank} of --nnodes {options.nnodes}")
    if options.nnodes > 1 and options.max_restarts:
        parser.error("--max-restarts is for one host")
    return options


def _count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _command(options):
    return [sys.executable, *(["-m"] if options.module else []), options.program, *options.arguments]


def _start_all(options, attempt):
    """The processes of this host, by rank."""
    port = options.master_port or (_free_port() if options.nnodes == 1 else 29500)
    processes = {}
    for local_rank in range(options.nproc_per_node):
        rank = options.node_rank * options.nproc_per_node + local_rank
        variables = {
            "RANK": rank,
            "LOCAL_RANK": local_rank,
            "WORLD_SIZE": options.nnodes * options.nproc_per_node,
            "LOCAL_WORLD_SIZE": options.nproc_per_node,
            "GROUP_RANK": options.node_rank,
            "MASTER_ADDR": options.master_addr,
            "MASTER_PORT": port,
            "RESTART_COUNT": attempt,
        }
        environment = os.environ | {name: str(value) for name, value in variables.items()}
        # A group of its own, so that its children end with it.
        processes[rank] = subprocess.Popen(_command(options), env=environment, start_new_session=True)
    return processes


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _end_all(processes):
    """Ends those that still run, and what they have started."""
    for process in processes.values():
        if process.poll() is None:
            _signal(process, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    for process in processes.values():
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
    for process in processes.values():
        _signal(process, signal.SIGKILL)
        process.wait()


def _said(status):
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"failed with exit status {status}"


def _first_failure(failed):
    """The cause among failures that are found at once: a signal before an exit status."""
    return min(failed, key=lambda one: (one[1] > 0, one[0]))


def _run_once(options, attempt):
    """None, or (rank, exit status) of the process that failed first."""
    processes = _start_all(options, attempt)
    try:
        while True:
            statuses = {rank: process.poll() for rank, process in processes.items()}
            failed = [(rank, status) for rank, status in statuses.items() if status]
            if failed:
                return _first_failure(failed)
            if all(status == 0 for status in statuses.values()):
                return None
            time.sleep(0.02)
    finally:
        _end_all(processes)


def _stop(number, _):
    raise SystemExit(128 + number)


def main(arguments=None):
    options = parse_arguments(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stop)
    for attempt in range(options.max_restarts + 1):
        failure = _run_once(options, attempt)
        if failure is None:
            return 0
        rank, status = failure
        left = options.max_restarts - attempt
        again = f"; starting again, {left} times left" if left else ""
        print(f"ocl.distributed.run: rank {rank} {_said(status)}{again}", file=sys.stderr, flush=True)
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
