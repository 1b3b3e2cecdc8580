"""In which order a dataset's samples are visited, as in torch.utils.data.sampler."""

import itertools
from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np

from ocl import host_random

from .random_source import RandomSource

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_AT_ONCE = 2**20  # indices of a pass that are drawn before the first is given; more are drawn in parts
_FEW = 2**12  # of a part that is made of many permutations

_T = TypeVar("_T", covariant=True)


class Sampler(Generic[_T]):
    """Yields indices, or lists of them; subclasses define ``__iter__``. Matches torch.utils.data.Sampler.

    ``state_dict()`` and ``load_state_dict(state)``, where a subclass has them, are part of the loader's.
    """

    def __iter__(self) -> Iterator[_T]:
        raise NotImplementedError(f"{type(self).__name__}.__iter__")


class _OrderedSampler(Sampler[int]):
    """Knows the order of a pass in parts, so that batches can be cut out of them."""

    def parts(self):
        """Yields ranges, or arrays of integers; each when the one before it has been used up."""
        raise NotImplementedError(f"{type(self).__name__}.parts")

    def __iter__(self):
        for part in self.parts():
            yield from part if isinstance(part, range) else part.tolist()


class SequentialSampler(_OrderedSampler):
    """0, 1, ... in order. Matches torch.utils.data.SequentialSampler."""

    def __init__(self, data_source):
        self.data_source = data_source

    def parts(self):
        yield range(len(self.data_source))

    def __len__(self):
        return len(self.data_source)


class _RandomlyOrderedSampler(_OrderedSampler):
    """Draws an order for each pass from a RandomSource."""

    def __init__(self, generator):
        self._source = RandomSource(generator)

    @property
    def generator(self):
        return self._source.generator

    def state_dict(self):
        """Where the random numbers stand."""
        return {"random": self._source.state()}

    def load_state_dict(self, state):
        """Goes on where ``state_dict()`` was called."""
        self._source.set_state(state["random"])

    def _drawn(self, count, draw, part=_AT_ONCE):
        """Yields `count` indices from ``draw(stream, how_many)``; many of them in parts, as they are needed.

        Parts come from a stream of the pass's own. So a pass that is given up, however far workers were
        ahead in it, leaves the sampler's stream where it always does.
        """
        stream = self._source.stream()
        if count <= max(part, _AT_ONCE):
            yield draw(stream, count)
            return
        of_pass = host_random.new_stream(int(stream.integers(2**63)))
        for left in range(count, 0, -part):
            yield draw(of_pass, min(left, part))


class RandomSampler(_RandomlyOrderedSampler):
    """A new order for each pass. Matches torch.utils.data.RandomSampler.

    Args:
        data_source: has a length.
        replacement: draw each index from all.
        num_samples: how many to draw; None is the length of `data_source`.
        generator: the seed, as that of DataLoader.

    Raises:
        TypeError: `replacement` that is no bool.
        ValueError: `num_samples` that is no positive integer.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(generator)
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement should be a boolean value, given {replacement}")
        if num_samples is not None:
            _require_positive("RandomSampler", "num_samples", num_samples)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def parts(self):
        size, count = len(self.data_source), self.num_samples
        if size == 0:
            return iter(())
        if self.replacement:
            return self._drawn(count, lambda stream, n: stream.integers(size, size=n))

        def permutations(stream, n):
            return np.concatenate([stream.permutation(size) for _ in range(-(-n // size))])[:n]

        return self._drawn(count, permutations, part=size * max(1, _FEW // size))

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(_RandomlyOrderedSampler):
    """`indices` in a new order for each pass. Matches torch.utils.data.SubsetRandomSampler."""

    def __init__(self, indices, generator=None):
        super().__init__(generator)
        self.indices = indices

    def parts(self):
        yield self._source.stream().permutation(np.asarray(self.indices, np.int64))

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(_RandomlyOrderedSampler):
    """0 to len(weights) - 1, drawn with these weights. Matches torch.utils.data.WeightedRandomSampler.

    Args:
        weights: numbers that need not add up to 1.
        num_samples: how many to draw.
        replacement: draw each index from all; otherwise none is drawn twice.
        generator: the seed, as that of DataLoader.

    Raises:
        ValueError: `weights` not of one dimension, negative, not finite or all 0; `num_samples` that is no
            positive integer, or more than there are positive weights without replacement; `replacement` that
            is no bool.
    """

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        super().__init__(generator)
        _require_positive("WeightedRandomSampler", "num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"WeightedRandomSampler: replacement should be a boolean value, given {replacement}"
            )
        self.weights = np.asarray(weights, np.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"WeightedRandomSampler: weights should be a 1d sequence, given {self.weights.shape}"
            )
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all() and self.weights.any()):
            raise ValueError("WeightedRandomSampler: weights must be finite, at least 0 and not all 0")
        if not replacement and num_samples > np.count_nonzero(self.weights):
            raise ValueError(
                f"WeightedRandomSampler: {num_samples} samples without replacement of "
                f"{np.count_nonzero(self.weights)} with a weight"
            )
        self.num_samples = num_samples
        self.replacement = replacement

    def parts(self):
        shares = self.weights / self.weights.sum()
        part = _AT_ONCE if self.replacement else self.num_samples
        return self._drawn(
            self.num_samples, lambda stream, n: stream.choice(len(shares), n, self.replacement, shares), part
        )

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of `batch_size`. Matches torch.utils.data.BatchSampler.

    Raises:
        ValueError: `batch_size` that is no positive integer, `drop_last` that is no bool.
    """

    def __init__(self, sampler, batch_size, drop_last):
        _require_positive("BatchSampler", "batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"BatchSampler: drop_last should be a boolean value, given {drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        return map(as_list, self.cuts())

    def cuts(self):
        """The batches as they are cut: ranges, arrays or lists."""
        for batch in self._all_cuts():
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def _all_cuts(self):
        if type(self.sampler).__iter__ is _OrderedSampler.__iter__:
            yield from _cut(self.sampler.parts(), self.batch_size)
            return
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            yield batch

    def __len__(self):
        return batch_count(len(self.sampler), self.batch_size, self.drop_last)

    def state_dict(self):
        """That of the sampler, where it has one. A subclass may have no sampler."""
        return sampler_state(getattr(self, "sampler", None))

    def load_state_dict(self, state):
        load_sampler_state(getattr(self, "sampler", None), state)


def _cut(parts, size):
    """Batches of `size` out of ranges and arrays that follow each other; the last may be smaller."""
    rest = ()
    for part in parts:
        if len(rest):
            missing = size - len(rest)
            rest, part = np.concatenate([rest, part[:missing]]), part[missing:]
            if len(rest) < size:
                continue
            yield rest
        whole = len(part) - len(part) % size
        for start in range(0, whole, size):
            yield part[start : start + size]
        rest = part[whole:]
    if len(rest):
        yield rest


def sampler_state(sampler):
    """``sampler.state_dict()``; None where there is no such method."""
    return sampler.state_dict() if hasattr(sampler, "state_dict") else None


def load_sampler_state(sampler, state):
    if state is not None and hasattr(sampler, "load_state_dict"):
        sampler.load_state_dict(state)


def as_list(indices):
    """A range, an array or a list of indices as a list."""
    return indices.tolist() if isinstance(indices, np.ndarray) else list(indices)


def batch_count(samples, batch_size, drop_last):
    """How many batches so many samples make."""
    full, rest = divmod(samples, batch_size)
    return full + (rest > 0 and not drop_last)


def batch_cuts(batch_sampler):
    """The batches of indices of a pass, ranges and arrays where nobody has overridden how they are made."""
    if type(batch_sampler).__iter__ is BatchSampler.__iter__:
        return batch_sampler.cuts()
    return iter(batch_sampler)


def _require_positive(owner, name, value):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value <= 0:
        raise ValueError(f"{owner}: {name} must be at least 1 and an integer, given {value!r}")
