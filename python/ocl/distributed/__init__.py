"""Groups of processes that train together, by torch.distributed's names; docs/distributed.md tells more.

    # python -m ocl.distributed.run --nproc-per-node 2 train.py
    import ocl.distributed as dist

    dist.init_process_group()
    net = ocl.nn.parallel.DistributedDataParallel(net)

Collectives take ocl tensors, begin when the device has reached the place where they are called, and run
beside what is enqueued afterwards. Those with ``async_op=True`` give a work, whose ``wait()`` returns when
the results are there; the others have waited.
"""

from ocl._C._distributed import DistBackendError, ProcessGroup, ReduceOp, Work

from . import checkpoint
from .collectives import (
    all_gather,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    irecv,
    isend,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    send,
)
from .groups import (
    destroy_process_group,
    get_backend,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
    is_launched,
    new_group,
)
from .shares import measure_shares, split_batch

__all__ = [
    "DistBackendError",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "checkpoint",
    "destroy_process_group",
    "gather",
    "get_backend",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "is_launched",
    "isend",
    "measure_shares",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "send",
    "split_batch",
]
