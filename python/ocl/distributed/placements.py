"""How a tensor would lie over several processes: the values of torch.distributed.tensor.placement_types."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is split, along ``dim`` where one is given."""
        return False

    def is_replicate(self) -> bool:
        """Whether every process has all of it."""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the processes' values have to be reduced, by ``reduce_op`` where one is given."""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """Split along a dimension, as ``chunk`` splits."""

    dim: int

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The elements along the dimension that a rank has, and where they begin."""
        length = -(-curr_local_size // num_chunks)
        begin = min(rank * length, curr_local_size)
        return min(length, curr_local_size - begin), begin


@dataclass(frozen=True)
class _StridedShard(Placement):
    """Split along a dimension by turns, several parts each."""

    dim: int
    split_factor: int = 1

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim


@dataclass(frozen=True)
class Replicate(Placement):
    """Every process has all of it."""

    def is_replicate(self) -> bool:
        return True


@dataclass(frozen=True)
class Partial(Placement):
    """The processes' values have to be reduced."""

    reduce_op: str = "sum"

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return reduce_op is None or reduce_op == self.reduce_op
