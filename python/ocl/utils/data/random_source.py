"""Where a sampler or a loader takes its random numbers from."""

import numpy as np

import ocl
from ocl import host_random

__all__ = ["RandomSource"]


class RandomSource:
    """A stream of random numbers that starts anew when its seed changes, and can be saved.

    Args:
        generator: an int, the seed; an ocl.Generator, whose seed counts; a numpy.random.Generator, which is
            drawn from; None follows ``ocl.manual_seed``.

    Raises:
        TypeError: another generator.
    """

    def __init__(self, generator=None):
        if generator is not None and not isinstance(
            generator, (int, np.integer, ocl.Generator, np.random.Generator)
        ):
            raise TypeError(
                "generator: expected an int, an ocl.Generator, a numpy.random.Generator or None, "
                f"given {type(generator).__name__}"
            )
        self.generator = generator
        self._seeding = None
        self._stream = generator if isinstance(generator, np.random.Generator) else None

    def stream(self):
        """The numpy.random.Generator to draw from."""
        if isinstance(self.generator, np.random.Generator):
            return self._stream
        seeding, seed = self._current_seed()
        if self._stream is None or seeding != self._seeding:
            self._seeding = seeding
            self._stream = np.random.Generator(np.random.Philox(seed % 2**64))
        return self._stream

    def _current_seed(self):
        if self.generator is None:
            return host_random.seeding(), ocl.initial_seed()
        seed = (
            self.generator.initial_seed()
            if isinstance(self.generator, ocl.Generator)
            else int(self.generator)
        )
        return seed, seed

    def state(self):
        """Where the stream stands: plain numbers and strings in dicts."""
        return _plain(self.stream().bit_generator.state)

    def set_state(self, state):
        """Goes on where ``state()`` was called."""
        self.stream().bit_generator.state = _with_arrays(state)


def _plain(state):
    """NumPy's state with lists for arrays, so that files of any kind hold it."""
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state


def _with_arrays(state):
    if isinstance(state, dict):
        return {name: _with_arrays(value) for name, value in state.items()}
    return np.array(state, np.uint64) if isinstance(state, list) else state
