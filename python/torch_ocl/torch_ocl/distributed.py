"""``torch.distributed.init_process_group("ocl")``: collectives of ocl tensors, through the host and gloo.

Tensors on the CPU go through gloo as they are. DistributedDataParallel, DTensor and FSDP work with it. Every
collective waits; ``isend`` and ``irecv`` do not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_map_only


class _Done(dist._Work):
    """The result of a collective that is over."""

    def __init__(self, result: Any, of_gloo: dist._Work | None = None) -> None:
        super().__init__()
        self._result = result
        self._of_gloo = of_gloo
        self._future = torch.futures.Future()
        self._future.set_result(result)

    def wait(self, timeout: timedelta | None = None) -> bool:
        return True

    def is_completed(self) -> bool:
        return True

    def is_success(self) -> bool:
        return True

    def result(self) -> Any:
        return self._result

    def _source_rank(self) -> int:
        return self._of_gloo._source_rank()

    def get_future(self) -> torch.futures.Future:
        return self._future


class _Message(_Done):
    """A tensor on its way between two processes. A receiver has it once :meth:`wait` returns."""

    def __init__(self, result: Any, of_gloo: dist._Work, written: list[tuple[torch.Tensor, torch.Tensor]]):
        super().__init__(result, of_gloo)
        self._written = written
        self._is_over = False

    def wait(self, timeout: timedelta | None = None) -> bool:
        self._of_gloo.wait() if timeout is None else self._of_gloo.wait(timeout)
        while self._written:
            device, host = self._written.pop()
            device.copy_(host.view(device.shape))
        self._is_over = True
        return True

    def is_completed(self) -> bool:
        return self._is_over  # gloo's own are over once somebody has waited, too


def _staged(
    name: str, outputs: int, of_gloo: str | None = None, waits: bool = True, flat: bool = False
) -> Callable[..., dist._Work]:
    """The collective ``name``, whose first ``outputs`` arguments it writes (0: none). Gloo may have it by
    another name. Where it does not wait, both of two processes may send before either receives. A flat one
    takes tensors as their elements in a row, which gloo shares out by their first dimension."""

    def collective(self: ProcessGroup, *arguments: Any, **options: Any) -> dist._Work:
        if self._gloo is None:
            raise RuntimeError(f"{name}: this process group has been destroyed")
        there: list[tuple[torch.Tensor, torch.Tensor]] = []

        def to_host(tensor: torch.Tensor) -> torch.Tensor:
            host = tensor.contiguous().view(-1) if flat else tensor
            if tensor.device.type != "ocl":
                return host
            there.append((tensor, host.cpu()))
            return there[-1][1]

        staged = [tree_map_only(torch.Tensor, to_host, argument) for argument in arguments[:outputs]]
        written = len(there)
        staged += [tree_map_only(torch.Tensor, to_host, argument) for argument in arguments[outputs:]]
        work = getattr(self._gloo, of_gloo or name)(*staged, **options)
        result = arguments[0] if arguments else None
        message = _Message(result, work, there[:written])
        if not waits:
            return message
        message.wait()
        return _Done(result, work)

    collective.__name__ = name
    return collective


def _one_by_one(name: str) -> Callable[..., dist._Work]:
    """The collective ``name`` of each output and its input."""

    def collective(
        self: ProcessGroup, outputs: list[torch.Tensor], inputs: list[torch.Tensor], *options: Any
    ) -> dist._Work:
        for output, given in zip(outputs, inputs, strict=True):
            getattr(self, name)(output, given, *options)
        return _Done(outputs)

    return collective


class ProcessGroup(dist.ProcessGroup):
    """A group of processes whose tensors lie on ocl devices, or on the CPU."""

    def __init__(self, store: dist.Store, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._gloo: dist.ProcessGroupGloo | None = dist.ProcessGroupGloo(store, rank, size, timeout)
        self._name = self._description = ""

    def getBackendName(self) -> str:
        return "ocl"

    # PyTorch keeps names and devices with the back ends of a group, which one made in Python has none of.

    def setGroupName(self, name: str) -> None:
        self._name = name

    def getGroupName(self) -> str:
        return self._name

    def setGroupDesc(self, description: str) -> None:
        self._description = description

    def getGroupDesc(self) -> str:
        return self._description

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu"), torch.device("ocl")]

    # ``init_process_group(device_id=…)`` asks the device's back end whether groups can be split off it.
    supports_splitting = False

    def _get_backend(self, device: torch.device) -> ProcessGroup:
        return self

    def shutdown(self) -> None:
        """Ends gloo's threads now (``destroy_process_group``), not somewhere in the process's end."""
        self._gloo = None

    allreduce = _staged("allreduce", 1)
    allreduce_coalesced = _staged("allreduce_coalesced", 1)
    broadcast = _staged("broadcast", 1)
    reduce = _staged("reduce", 1)
    allgather = _staged("allgather", 1)
    _allgather_base = _staged("_allgather_base", 1, flat=True)
    gather = _staged("gather", 1)
    scatter = _staged("scatter", 1)
    reduce_scatter = _staged("reduce_scatter", 1)
    _reduce_scatter_base = _staged("_reduce_scatter_base", 1, flat=True)
    alltoall = _staged("alltoall", 1)
    alltoall_base = _staged("alltoall_base", 1)
    send = _staged("send", 0, waits=False)
    recv = _staged("recv", 1, waits=False)
    recv_anysource = _staged("recv_anysource", 1, waits=False)
    barrier = _staged("barrier", 0)

    # By their names of PyTorch 2.13.
    all_gather_single = _staged("all_gather_single", 1, "_allgather_base", flat=True)
    reduce_scatter_single = _staged("reduce_scatter_single", 1, "_reduce_scatter_base", flat=True)
    all_to_all_single = _staged("all_to_all_single", 1, "alltoall_base")
    all_gather_single_coalesced = _one_by_one("all_gather_single")
    reduce_scatter_single_coalesced = _one_by_one("reduce_scatter_single")


def install() -> None:
    """Registers the group."""
    dist.Backend.register_backend("ocl", ProcessGroup, devices=["ocl"])
