"""A module whose gradients are averaged over processes. C++ does the work on them (nn/distributed)."""

import contextlib

import ocl
from ocl._C import ArgumentTypeError, Tensor
from ocl._C._distributed import Reducer
from ocl._C._nn import Module
from ocl.distributed.groups import of
from ocl.sparse import arriving

__all__ = ["DistributedDataParallel"]


_NO_SPARSE = (
    "DistributedDataParallel: gradients of layout ocl.sparse_coo are not averaged; make embeddings with "
    "sparse=False"
)


def _tensors_in(value):
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors_in(one)
    elif hasattr(value, "__dict__"):
        yield from _tensors_in(vars(value))


class DistributedDataParallel(Module):
    """Averages a module's gradients over the processes of a group while backward runs.

    (torch.nn.parallel.DistributedDataParallel) All processes make it over the same module, whose parameters
    and buffers become rank 0's; they call it and run backward equally often. Gradients are reduced in
    buckets, each as soon as its last gradient is there, and are the same bits on all ranks when backward
    returns. They are parts of the buckets then: no copy is made. While backward runs, rank 0's buffers go to
    the others.

    Args:
        module: at least one of its parameters requires gradients.
        device_ids, output_device: not used: the module stays on its devices.
        broadcast_buffers: whether buffers, as batch norm's, follow rank 0's.
        init_sync: whether parameters and buffers become rank 0's at first.
        process_group: all processes where None.
        bucket_cap_mb: MiB of a bucket; the first is of 1 MiB at most.
        find_unused_parameters: look in each pass for parameters that the outputs do not depend on; without it
            such a pass is an AutogradError (RuntimeError) of the next forward.
        gradient_as_bucket_view: not used: gradients are views of buckets.
        static_graph: as find_unused_parameters, but they are looked for once.

    Raises:
        TypeError: an embedding has ``sparse=True``; in backward, a parameter gets a sparse gradient.
        ValueError: no parameter requires gradients; no group; `bucket_cap_mb` is not positive.
        DistBackendError: ranks have other parameters; a rank has ended or hangs.
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
    ):
        super().__init__()
        parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        for parameter in parameters:
            arriving.refuse(parameter, _NO_SPARSE)
        if any(getattr(each, "sparse", False) is True for each in module.modules()):
            raise ArgumentTypeError(_NO_SPARSE)
        self.process_group = of(process_group, "DistributedDataParallel")
        self.module = module
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.static_graph = static_graph
        self._reducer = Reducer(
            parameters,
            list(module.buffers()) if broadcast_buffers else [],
            self.process_group,
            25.0 if bucket_cap_mb is None else float(bucket_cap_mb),
            find_unused_parameters,
            static_graph,
        )
        if init_sync:
            self._reducer.broadcast_state()

    def forward(self, *inputs, **kwargs):
        if not ocl.is_grad_enabled():
            return self.module(*inputs, **kwargs)
        self._reducer.begin_forward()
        output = self.module(*inputs, **kwargs)
        self._reducer.begin_backward(list(_tensors_in(output)))
        return output

    @contextlib.contextmanager
    def no_sync(self):
        """Inside, forward and backward passes add gradients up on each rank alone; the first backward of a
        forward outside reduces the sums."""
        before = self._reducer.synchronizes
        self._reducer.synchronizes = False
        try:
            yield
        finally:
            self._reducer.synchronizes = before

    def __getstate__(self):
        raise TypeError("DistributedDataParallel cannot be copied or pickled; its module can")
