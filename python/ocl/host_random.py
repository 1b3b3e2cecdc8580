"""Random numbers on the host: what samplers, data loaders and transforms draw.

They follow ``ocl.manual_seed`` but touch no device, so that worker processes may draw them. A thread draws
from the stream of the process unless it is inside of ``drawing_from``.
"""

import contextlib
import copy
import random
import threading

from ocl import _C
from ocl.late_numpy import np

__all__ = ["manual_seed", "manual_seed_all"]

_lock = threading.Lock()
_of_thread = threading.local()
_process_stream = None
_seedings = 0


def manual_seed(seed):
    """Seeds the random numbers of every device, of samplers, loaders and transforms, and gives the default
    generator. Matches torch.manual_seed.
    """
    _C.manual_seed(seed)
    _restart()
    from ocl.process_generator import default_generator

    return default_generator


def manual_seed_all(seed):
    """Another name of ``manual_seed``. Matches torch.cuda.manual_seed_all."""
    _C.manual_seed_all(seed)
    _restart()


def _restart():
    global _process_stream, _seedings
    with _lock:
        _seedings += 1
        _process_stream = None


def seeding():
    """Changes whenever the process is seeded: who keeps a stream of its own asks whether to start anew."""
    return _seedings, _C.initial_seed()


def new_stream(*key):
    """A numpy.random.Generator that the integers of `key` determine."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([part % 2**64 for part in key])))


def stream():
    """The numpy.random.Generator that this thread draws from at present."""
    global _process_stream
    own = getattr(_of_thread, "stream", None)
    if own is not None:
        return own
    with _lock:
        if _process_stream is None:
            _process_stream = new_stream(_C.initial_seed())
        return _process_stream


@contextlib.contextmanager
def drawing_from(own_stream):
    """Inside, this thread draws from `own_stream`."""
    outer = getattr(_of_thread, "stream", None)
    _of_thread.stream = own_stream
    try:
        yield own_stream
    finally:
        _of_thread.stream = outer


@contextlib.contextmanager
def kept():
    """Afterwards the stream of the process goes on where it stood, whatever was seeded or drawn inside."""
    global _process_stream
    source = stream() if getattr(_of_thread, "stream", None) is None else None
    before = copy.deepcopy(source)
    try:
        yield
    finally:
        if source is not None:
            with _lock:
                _process_stream = before


def seed_whole_process(*key):
    """Seeds this module's stream, Python's ``random`` and ``numpy.random`` alike; not the devices."""
    global _process_stream
    with _lock:
        _process_stream = new_stream(*key)
    drawn = new_stream(*key, 1)
    random.seed(int(drawn.integers(2**63)))
    np.random.seed(int(drawn.integers(2**32)))


# --- what transforms draw ---


def uniform(low=0.0, high=1.0):
    """A float, low <= x < high."""
    return float(stream().uniform(low, high))


def integer(low, high):
    """An int, low <= x < high."""
    return int(stream().integers(low, high))


def permutation(count):
    """0 to count - 1 in random order, a list."""
    return stream().permutation(count).tolist()


def normal(shape):
    """float32 array of the standard normal distribution."""
    return stream().standard_normal(shape, dtype=np.float32)


def choose(options, weights=None):
    """One of a sequence; `weights` need not add up to 1."""
    if weights is None:
        return options[integer(0, len(options))]
    bounds = np.cumsum(weights)
    return options[min(int(np.searchsorted(bounds, uniform(0, bounds[-1]), "right")), len(options) - 1)]
