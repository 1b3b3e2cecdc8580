"""Batches from one process to another through shared memory that has no name.

Such memory lives as long as a descriptor or a mapping of it. So nothing is left of it however its processes
end, and no limit of a container's /dev/shm applies to it.
"""

import mmap
import os
import pickle
import tempfile
import weakref
from socket import AF_UNIX, SOCK_STREAM, fromfd, recv_fds, send_fds

__all__ = ["Block"]

_ALIGNMENT = 64
_MARK = b"F"  # goes with a descriptor, which cannot be sent alone


class Block:
    """Memory with a pickled value and, beside the pickle, the arrays that were left out of it."""

    def __init__(self, descriptor, places):
        self._descriptor = descriptor
        self._places = places
        self._close = weakref.finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, value):
        buffers = []
        pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
        block = cls(_new_memory(), _places(parts))
        with open(block._descriptor, "wb", closefd=False) as file:
            for part, (start, _) in zip(parts, block._places, strict=True):
                file.seek(start)
                file.write(part)
        return block

    def send(self, pipe):
        """Through a pipe of multiprocessing, to ``received``."""
        pipe.send(self._places)
        with _socket_of(pipe) as socket:
            send_fds(socket, [_MARK], [self._descriptor])

    @classmethod
    def received(cls, pipe):
        """Receives the values that ``send`` has sent.

        Raises:
            EOFError: the sender has died.
            RuntimeError: this process has as many open files as it may have.
        """
        places = pipe.recv()
        with _socket_of(pipe) as socket:
            mark, descriptors, _, _ = recv_fds(socket, len(_MARK), 1)
        if not mark:
            raise EOFError
        if not descriptors:
            raise RuntimeError("DataLoader: too many open files to receive a batch (ulimit -n)")
        [descriptor] = descriptors
        os.set_inheritable(descriptor, False)
        return cls(descriptor, places)

    def take(self):
        """The value, once. Its arrays lie in the block, which stays mapped for as long as one is kept."""
        memory = memoryview(mmap.mmap(self._descriptor, 0))
        self._close()
        pickled, *buffers = (memory[start:stop] for start, stop in self._places)
        return pickle.loads(pickled, buffers=buffers)


# multiprocessing.reduction does not do: from Python 3.14 on it reads an answer from the pipe, on which a
# thread of the worker waits for tasks.
def _socket_of(pipe):
    return fromfd(pipe.fileno(), AF_UNIX, SOCK_STREAM)


def _new_memory():
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ocl-batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _places(parts):
    places, end = [], 0
    for part in parts:
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = start + part.nbytes
        places.append((start, end))
    return places
