"""Which samples each of several processes visits, as in torch.utils.data.distributed."""

import math
import operator

import numpy as np

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """A share of the dataset for each process, of one length for all.

    It gives the indices of torch.utils.data.distributed.DistributedSampler.

    With `shares`, for processes of different speeds, process i gets ``shares[i]`` of every ``sum(shares)``
    samples, which are its batch of a step. All processes have the same number of steps. Where a loss is the
    mean over a process's batch, multiply it by ``weight``: then the average over processes is the mean over
    all samples.

    Args:
        dataset: has a length.
        num_replicas, rank: those of the group of all processes where None.
        shuffle: a new order for each epoch, see ``set_epoch``.
        seed: of that order; the same in all processes.
        drop_last: leave out samples that would make shares unequal, where otherwise the first come again.
        shares: how many samples of a step each process gets; distributed.measure_shares finds them.

    Raises:
        ValueError: `rank` that is not from 0 to `num_replicas` - 1; there is no group to ask; `shares` are
            not `num_replicas` positive numbers.
        TypeError: a share is no whole number.
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False, shares=None
    ):
        if num_replicas is None or rank is None:
            from ocl import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        self.shares = [1] * num_replicas if shares is None else [operator.index(share) for share in shares]
        if len(self.shares) != num_replicas or min(self.shares) < 1:
            raise ValueError(f"expected {num_replicas} positive shares, got {self.shares}")
        together = sum(self.shares)
        rounds = len(dataset) // together if drop_last else math.ceil(len(dataset) / together)
        self.num_samples = rounds * self.shares[rank]
        self.total_size = rounds * together

    def __iter__(self):
        count = len(self.dataset)
        indices = _torch_permutation(count, self.seed + self.epoch) if self.shuffle else list(range(count))
        if not self.drop_last:
            missing = self.total_size - len(indices)
            if missing and indices:
                indices += (indices * math.ceil(missing / len(indices)))[:missing]
        first, together = sum(self.shares[: self.rank]), sum(self.shares)
        begins = range(first, self.total_size, together)
        return (index for begin in begins for index in indices[begin : begin + self.shares[self.rank]])

    @property
    def weight(self):
        """This process's share over the average share."""
        return self.shares[self.rank] * self.num_replicas / sum(self.shares)

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Makes the next pass that of `epoch`; without it all have the same order.

        The order follows from the seed and the epoch alone: who resumes a training sets the epoch again.
        """
        self.epoch = epoch


def _torch_permutation(count, seed):
    """``torch.randperm(count)`` of a generator with that seed: Fisher and Yates' with Matsumoto's numbers."""
    twister = np.random.RandomState(seed & 0xFFFFFFFF)
    drawn = twister.randint(0, 2**32, size=max(count - 1, 0), dtype=np.uint32)
    order = list(range(count))
    for i, number in enumerate((drawn % np.arange(count, 1, -1, dtype=np.uint32)).tolist()):
        order[i], order[i + number] = order[i + number], order[i]
    return order
