"""The groups of this process: how they begin and end."""

import atexit
import contextlib
import os
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from ocl._C._distributed import DistBackendError, ProcessGroup

__all__ = [
    "destroy_process_group",
    "get_backend",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_initialized",
    "is_launched",
    "new_group",
    "of",
]

DEFAULT_TIMEOUT = timedelta(minutes=30)

# The launchers' variables; the variables of mpirun (Open MPI, MPICH) stand for ours.
_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


class group:  # noqa: N801  (PyTorch's name)
    """``group.WORLD`` is the group of all processes, None before ``init_process_group``."""

    WORLD = None


class GroupMember:
    """``new_group`` gives it to processes that are not in the group. (torch.distributed.GroupMember)"""

    NON_GROUP_MEMBER = object()


_groups = []  # those that this process has made and not destroyed


def is_available():
    """Whether processes can be grouped: always."""
    return True


def is_initialized():
    """Whether there is a group of all processes."""
    return group.WORLD is not None


def is_launched():
    """Whether a launcher has started this process as one of several: ``ocl.distributed.run``, torchrun
    or mpirun."""
    return _variable(_RANK) is not None and _variable(_WORLD_SIZE) is not None


def init_process_group(
    backend="tcp", init_method=None, timeout=DEFAULT_TIMEOUT, world_size=-1, rank=-1, group_name=""
):
    """Meets the other processes, and makes of all of them ``group.WORLD``. (torch.distributed)

    Args:
        backend: "tcp": connections, and shared memory between processes of one host; or "mpi": MPI carries
            what goes between hosts. mpirun has started the processes then, and MPI says where and who, so
            that the other arguments are left out.
        init_method: "env://", the default: MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE say where and who;
            or "tcp://HOST:PORT", where rank 0 listens.
        timeout: a timedelta, or seconds: how long a process waits for another, here and in collectives.
        world_size, rank: where `init_method` does not say them.
        group_name: not used.

    Raises:
        ValueError: an unknown `backend` or `init_method`, or what is needed is missing.
        RuntimeError: there is a group already.
        DistBackendError: processes do not come within the time-out; their ranks are named. Or there is
            no MPI.
    """
    if group.WORLD is not None:
        raise RuntimeError("init_process_group: there is a group already; destroy_process_group ends it")
    if backend not in (None, "tcp", "mpi"):
        raise ValueError(f"init_process_group: backend {backend!r}, expected 'tcp' or 'mpi'")
    if backend == "mpi":
        if init_method is not None or rank >= 0 or world_size >= 0:
            raise ValueError("init_process_group: MPI says the rank, the world size and where to meet")
        group.WORLD = ProcessGroup.connect_by_mpi(_seconds(timeout))
    else:
        host, port, rank, world_size = _meeting(init_method or "env://", rank, world_size)
        group.WORLD = ProcessGroup.connect(host, port, rank, world_size, _seconds(timeout))
    _groups.append(group.WORLD)


def _meeting(init_method, rank, world_size):
    """(host, port, rank, world size)."""
    url = urlparse(init_method)
    if url.scheme == "env":
        rank = _number("RANK", _RANK) if rank < 0 else rank
        world_size = _number("WORLD_SIZE", _WORLD_SIZE) if world_size < 0 else world_size
        host = os.environ.get("MASTER_ADDR", "127.0.0.1" if world_size == 1 or _is_one_host() else None)
        if host is None:
            raise ValueError("init_process_group: MASTER_ADDR is not set")
        port = _number("MASTER_PORT", ("MASTER_PORT",), _port_of_job(world_size))
    elif url.scheme == "tcp" and url.hostname and url.port:
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        rank = int(query.get("rank", rank))
        world_size = int(query.get("world_size", world_size))
        host, port = url.hostname, url.port
    else:
        raise ValueError(
            f"init_process_group: init_method {init_method!r}, expected 'env://' or 'tcp://HOST:PORT'"
        )
    if rank < 0 or world_size < 1 or rank >= world_size:
        raise ValueError(f"init_process_group: rank {rank} in a world of {world_size}")
    return host, port, rank, world_size


def _variable(names):
    return next((os.environ[name] for name in names if name in os.environ), None)


def _number(name, names, otherwise=None):
    text = _variable(names)
    if text is None:
        if otherwise is not None:
            return otherwise
        raise ValueError(f"init_process_group: {name} is not set")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"init_process_group: {name} is {text!r}, expected a whole number") from None


def _is_one_host():
    """Whether mpirun has started all processes on this host."""
    local = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or os.environ.get("MPI_LOCALNRANKS")
    return local is not None and local == _variable(_WORLD_SIZE)


def _port_of_job(world_size):
    """A port that the processes of one job of mpirun agree on; none without mpirun."""
    job = os.environ.get("PMIX_NAMESPACE") or os.environ.get("PMI_JOBID")
    if job is None:
        return 29500 if world_size == 1 else None
    return 20000 + sum(ord(letter) * (i + 1) for i, letter in enumerate(job)) % 10000


def _seconds(timeout):
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)


def of(given, function):
    """The group that a collective is for. None stands for all processes."""
    if given is GroupMember.NON_GROUP_MEMBER:
        raise ValueError(f"{function}: this process is not in the group")
    chosen = group.WORLD if given is None else given
    if chosen is None:
        raise ValueError(f"{function}: there is no group; call init_process_group first")
    if chosen not in _groups:
        raise ValueError(f"{function}: the group has been destroyed")
    return chosen


def new_group(ranks=None, timeout=None, backend=None):
    """A group of some processes, or of all. All processes of ``group.WORLD`` call it, in the same order.

    Args:
        ranks: their numbers in ``group.WORLD``; in the new one they are 0, 1, … in the order given, where
            PyTorch sorts them.
        timeout: that of ``group.WORLD``; another one is a ValueError.
        backend: that of ``group.WORLD``; another one is a ValueError.
    """
    world = of(None, "new_group")
    if backend not in (None, get_backend(world)):
        raise ValueError(f"new_group: backend {backend!r}, expected {get_backend(world)!r}")
    if timeout is not None and _seconds(timeout) != world.timeout():
        raise ValueError("new_group: a time-out other than that of init_process_group")
    made = world.subgroup(list(range(world.size())) if ranks is None else [int(rank) for rank in ranks])
    if made is None:
        return GroupMember.NON_GROUP_MEMBER
    _groups.append(made)
    return made


def destroy_process_group(group_to_end=None):
    """Finishes the collectives under way, and leaves the group; without one all groups."""
    world = of(group_to_end, "destroy_process_group")
    ending = list(_groups) if world is group.WORLD else [world]
    for one in reversed(ending):
        with contextlib.suppress(DistBackendError):  # its failure was raised where somebody waited
            one.drain()
    _forget(ending)


def _forget(ending):
    for one in ending:
        _groups.remove(one)
        one.close()
        if one is group.WORLD:
            group.WORLD = None


@atexit.register
def _leave_all():
    """At the end of the process: others hear that it has left, and nothing is waited for."""
    _forget(list(reversed(_groups)))


def get_rank(group=None):  # noqa: A002
    """This process's number in the group; -1 where it is not in it."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return of(group, "get_rank").rank()


def get_world_size(group=None):
    """How many processes are in the group; -1 where this one is not in it."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return of(group, "get_world_size").size()


def get_process_group_ranks(group):
    """The numbers in ``group.WORLD`` of the group's processes, in the order of the group; of None all."""
    return of(group, "get_process_group_ranks").global_ranks()


def get_backend(group=None):
    """The way of the bytes between hosts: "tcp" or "mpi"."""
    return "mpi" if of(group, "get_backend").uses_mpi() else "tcp"
