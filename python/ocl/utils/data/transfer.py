"""Batches from one process to another through shared memory.

A batch is pickled with its arrays left out of the pickle; both lie in one block of shared memory, from which
the receiver makes arrays without a copy.
"""

import pickle
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

__all__ = ["discard", "receive", "send", "start_tracker"]

_ALIGNMENT = 64
_still_mapped = []


def start_tracker():
    """Starts the process that unlinks blocks whose owners have died; before the workers, which share it."""
    resource_tracker.ensure_running()


def send(value, name):
    """Puts `value` into a new block of that name; returns what ``receive`` needs besides the name."""
    buffers = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    places, size = _places(parts)
    block = SharedMemory(name, create=True, size=max(size, 1))
    try:
        for part, (start, stop) in zip(parts, places, strict=True):
            block.buf[start:stop] = part
    except BaseException:
        block.unlink()
        raise
    finally:
        block.close()
    return places


def receive(name, places, use):
    """Gives use(value) of what ``send`` has put there, and removes the block.

    The value's arrays lie in the block: it stays mapped for as long as something keeps one of them.
    """
    block = SharedMemory(name)
    try:
        return use(_unpickled(block, places))
    finally:
        block.unlink()
        _close_when_unused(block)


def _unpickled(block, places):
    pickled, *buffers = (block.buf[start:stop] for start, stop in places)
    return pickle.loads(pickled, buffers=buffers)


def _close_when_unused(block):
    _still_mapped.append(block)
    for mapped in _still_mapped.copy():
        try:
            mapped.close()
        except BufferError:
            continue
        _still_mapped.remove(mapped)


def discard(name):
    """Removes the block of that name, if there is one."""
    try:
        block = SharedMemory(name)
    except FileNotFoundError:
        return
    except ValueError:  # its maker was ended before the block had a size
        _unlink_without_mapping(name)
        return
    block.close()
    block.unlink()


def _unlink_without_mapping(name):
    import _posixshmem

    _posixshmem.shm_unlink(f"/{name}")


def _places(parts):
    places, end = [], 0
    for part in parts:
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = start + part.nbytes
        places.append((start, end))
    return places, end
