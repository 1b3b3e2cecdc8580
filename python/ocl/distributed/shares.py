"""Shares of a global batch for processes whose devices are not equally fast."""

import math
import statistics
import time

import ocl

from .collectives import all_gather_object
from .groups import of

__all__ = ["measure_shares", "split_batch"]


def split_batch(batch_size, speeds):
    """How many samples of a batch each process takes, so that the slowest is ready as soon as can be.

    Each takes one at least. The result follows from the arguments alone: keep it to repeat a training.

    Args:
        batch_size: samples of all processes together.
        speeds: of each process, in samples a second or any other unit.

    Raises:
        ValueError: there are more processes than samples, or a speed is not positive.
    """
    speeds = [float(speed) for speed in speeds]
    if not speeds or not all(speed > 0 and math.isfinite(speed) for speed in speeds):
        raise ValueError(f"split_batch: expected positive speeds, got {speeds}")
    if batch_size < len(speeds):
        raise ValueError(f"split_batch: a batch of {batch_size} for {len(speeds)} processes")
    shares = [1] * len(speeds)
    for _ in range(batch_size - len(speeds)):
        # The next sample goes to the process that would have done it first; of several, the lowest rank.
        first = min(range(len(speeds)), key=lambda rank: (shares[rank] + 1) / speeds[rank])
        shares[first] += 1
    return shares


def measure_shares(step, batch_size, process_group=None, rounds=2, repeats=3):
    """The shares of a batch by the processes' measured speeds: a list, the same in all processes.

    All processes call it, and step at the same time, as in training: devices of one host share its cores. The
    first round gives all the same number of samples; each further one measures the shares found before.

    Args:
        step: is called with a number of samples, and computes a training step of as many, without
            collectives: of the module itself, not of DistributedDataParallel.
        batch_size: samples of all processes together.
        process_group: all processes where None.
        rounds: of measuring and sharing out.
        repeats: steps of a round, of which the median counts; one more goes before them.

    Raises:
        ValueError: `rounds` or `repeats` is not positive; there are more processes than samples.
    """
    group = of(process_group, "measure_shares")
    if rounds < 1 or repeats < 1:
        raise ValueError(f"measure_shares: expected positive rounds and repeats, got {rounds}, {repeats}")
    shares = split_batch(batch_size, [1] * group.size())
    for _ in range(rounds):
        own = shares[group.rank()]
        step(own)
        group.barrier()
        speeds = [None] * group.size()
        all_gather_object(speeds, own / statistics.median(_seconds(step, own) for _ in range(repeats)), group)
        shares = split_batch(batch_size, speeds)
    return shares


def _seconds(step, samples):
    ocl.synchronize()
    began = time.perf_counter()
    step(samples)
    ocl.synchronize()
    return time.perf_counter() - began
