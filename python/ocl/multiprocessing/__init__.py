"""Python's multiprocessing under the name torch.multiprocessing.

Tensors pass between processes as copies of their elements. A process that is forked from one which has used
OpenCL cannot use it: start processes by "spawn" or "forkserver".
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any

__all__ = [
    *multiprocessing.__all__,
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
]
__all__ += ["spawn"]


def get_all_sharing_strategies() -> set[str]:
    """{"file_system"}: there is one way, by copies. (torch.multiprocessing.get_all_sharing_strategies)"""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """ "file_system". (torch.multiprocessing.get_sharing_strategy)"""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Takes "file_system" and "file_descriptor", which change nothing; ValueError for others."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise ValueError(f"set_sharing_strategy: unknown strategy {new_strategy!r}")


def _run(function: Callable, rank: int, args: tuple) -> None:
    function(rank, *args)


def spawn(
    fn: Callable,
    args: tuple = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> list | None:
    """Starts ``nprocs`` processes that call ``fn(rank, *args)``, and waits for them if ``join``.

    Without ``join`` it gives the list of processes. Raises RuntimeError where one of them fails; the others
    are ended. (torch.multiprocessing.spawn)
    """
    context = multiprocessing.get_context(start_method)
    processes: list[Any] = [
        context.Process(target=_run, args=(fn, rank, args), daemon=daemon) for rank in range(nprocs)
    ]
    for process in processes:
        process.start()
    if not join:
        return processes
    running = dict(enumerate(processes))
    while running:
        ready = multiprocessing.connection.wait([process.sentinel for process in running.values()])
        for rank, process in list(running.items()):
            if process.sentinel not in ready:
                continue
            process.join()
            del running[rank]
            if process.exitcode != 0:
                for other in running.values():
                    other.terminate()
                for other in running.values():
                    other.join()
                raise RuntimeError(f"process {rank} terminated with exit code {process.exitcode}")
    return None
