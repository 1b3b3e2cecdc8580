"""
Groups of processes.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import typing
__all__: list[str] = ['DistBackendError', 'ProcessGroup', 'ReduceOp', 'Reducer', 'Work']
class DistBackendError(RuntimeError):
    """
    A group of processes that cannot go on: a rank ended, hangs, or calls something else.
    """
class ReduceOp:
    """
    How values of several ranks become one. (torch.distributed.ReduceOp)
    
    Members:
    
      SUM
    
      AVG
    
      MIN
    
      MAX
    
      PRODUCT
    """
    AVG: typing.ClassVar[ReduceOp]
    MAX: typing.ClassVar[ReduceOp]
    MIN: typing.ClassVar[ReduceOp]
    PRODUCT: typing.ClassVar[ReduceOp]
    SUM: typing.ClassVar[ReduceOp]
    __members__: typing.ClassVar[dict[str, ReduceOp]]
    @staticmethod
    def __repr__(*args, **kwargs):
        """
        (self: object) -> str
        """
    def __eq__(self, arg0: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsIndex) -> None:
        ...
    def __ne__(self, arg0: typing.Any) -> bool:
        ...
    def __setstate__(self, state: typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class Work:
    """
    A collective under way. (torch.distributed.Work)
    """
    def is_completed(self) -> bool:
        """
        Whether it is over. Does not wait.
        """
    def wait(self) -> bool:
        """
        Waits until the results are there. Raises what went wrong.
        """
class ProcessGroup:
    """
    A group of processes; see ocl.distributed.
    """
    @staticmethod
    def connect(host: str, port: typing.SupportsIndex, rank: typing.SupportsIndex, size: typing.SupportsIndex, timeout: typing.SupportsFloat | typing.SupportsIndex) -> ProcessGroup:
        ...
    @staticmethod
    def connect_by_mpi(timeout: typing.SupportsFloat | typing.SupportsIndex) -> ProcessGroup:
        ...
    def all_gather(self, outputs: collections.abc.Sequence[ocl._C.Tensor], input: ocl._C.Tensor) -> Work:
        ...
    def all_gather_bytes(self, own: str) -> list:
        ...
    def all_reduce(self, tensor: ocl._C.Tensor, op: ReduceOp) -> Work:
        ...
    def all_to_all(self, outputs: collections.abc.Sequence[ocl._C.Tensor], inputs: collections.abc.Sequence[ocl._C.Tensor]) -> Work:
        ...
    def barrier(self) -> None:
        ...
    def broadcast(self, tensor: ocl._C.Tensor, src: typing.SupportsIndex) -> Work:
        ...
    def close(self) -> None:
        ...
    def drain(self) -> None:
        ...
    def gather(self, outputs: collections.abc.Sequence[ocl._C.Tensor], input: ocl._C.Tensor, dst: typing.SupportsIndex) -> Work:
        ...
    def global_ranks(self) -> list[int]:
        ...
    def rank(self) -> int:
        ...
    def recv(self, tensor: ocl._C.Tensor, src: typing.SupportsIndex, tag: typing.SupportsIndex) -> Work:
        ...
    def reduce(self, tensor: ocl._C.Tensor, dst: typing.SupportsIndex, op: ReduceOp) -> Work:
        ...
    def reduce_scatter(self, output: ocl._C.Tensor, input: ocl._C.Tensor, op: ReduceOp) -> Work:
        ...
    def scatter(self, output: ocl._C.Tensor, inputs: collections.abc.Sequence[ocl._C.Tensor], src: typing.SupportsIndex) -> Work:
        ...
    def send(self, tensor: ocl._C.Tensor, dst: typing.SupportsIndex, tag: typing.SupportsIndex) -> Work:
        ...
    def shares_memory_with(self, rank: typing.SupportsIndex) -> bool:
        ...
    def size(self) -> int:
        ...
    def subgroup(self, ranks: collections.abc.Sequence[typing.SupportsIndex]) -> ProcessGroup:
        ...
    def timeout(self) -> float:
        ...
    def uses_mpi(self) -> bool:
        ...
class Reducer:
    """
    Averages gradients over a group while backward runs; see DistributedDataParallel.
    """
    synchronizes: bool
    def __init__(self, parameters: collections.abc.Sequence[ocl._C.Tensor], buffers: collections.abc.Sequence[ocl._C.Tensor], group: ProcessGroup, bucket_cap_mb: typing.SupportsFloat | typing.SupportsIndex, find_unused_parameters: bool, static_graph: bool) -> None:
        ...
    def begin_backward(self, outputs: collections.abc.Sequence[ocl._C.Tensor]) -> None:
        ...
    def begin_forward(self) -> None:
        ...
    def broadcast_state(self) -> None:
        ...
    def buckets(self) -> list[list[int]]:
        ...
