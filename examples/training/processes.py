"""One training by several processes, where a launcher has started them; see docs/distributed.md."""

import contextlib
import os

import ocl

__all__ = ["Processes", "own_device"]


def own_device():
    """The device of this process: each of a host has one of its own, as far as there are so many."""
    return f"ocl:{int(os.environ.get('LOCAL_RANK', 0)) % max(1, ocl.device_count())}"


class Processes:
    """This process among those that train together: the only one, unless a launcher says otherwise."""

    def __init__(self):
        from ocl import distributed

        self._group = distributed if distributed.is_launched() else None
        if self._group and not self._group.is_initialized():
            self._group.init_process_group()
        self.rank = self._group.get_rank() if self._group else 0
        self.size = self._group.get_world_size() if self._group else 1

    @property
    def is_first(self):
        """Whether it is the one that tests, prints and writes."""
        return self.rank == 0

    def sampler(self, dataset, seed):
        """The share of a dataset that this process trains on; None for all of it."""
        if self.size == 1:
            return None
        return ocl.utils.data.DistributedSampler(dataset, self.size, self.rank, seed=seed)

    def parallel(self, net):
        """The net, or what calls it and averages gradients."""
        return net if self.size == 1 else ocl.nn.parallel.DistributedDataParallel(net)

    def adding_up(self, net, is_last):
        """The context of a backward pass, which the last one before an update reduces."""
        return contextlib.nullcontext() if self.size == 1 or is_last else net.no_sync()

    def gathered(self, own):
        """The values of all processes, in the order of ranks."""
        all_of_them = [own] * self.size
        if self._group:
            self._group.all_gather_object(all_of_them, own)
        return all_of_them

    def end(self):
        if self._group:
            self._group.destroy_process_group()
