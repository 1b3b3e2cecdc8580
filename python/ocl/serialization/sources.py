"""Paths and open files to load and save through, and the kind of a file by its first bytes."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from mmap import mmap
from typing import BinaryIO, NamedTuple

from ocl.serialization import torch_file

File = str | os.PathLike | BinaryIO

_LONGEST_HEADER, _HEADER_AT = 2**32, 8
_PICKLE_PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


class Source(NamedTuple):
    """The content of a file, where it lies if that is known, and what errors call it."""

    content: mmap | bytes
    path: str | bytes | None
    name: str

    @contextlib.contextmanager
    def as_path(self) -> Iterator[str | bytes]:
        """A path to the content, by which errors do not call it."""
        if self.path is not None:
            yield self.path
            return
        with _temporary_path() as path:
            with open(path, "wb") as file:
                file.write(self.content)
            try:
                yield path
            except OSError as error:
                raise type(error)(str(error).replace(path, self.name)) from error


def source_of(file: File) -> Source:
    """The source of a file; the rest of an open one. Raises OSError, and TypeError for text."""
    if not hasattr(file, "read"):
        path = os.fspath(file)
        return Source(torch_file.mapped(path), path, os.fsdecode(path))
    content = file.read()
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError("load: the file gives text; open it in binary mode")
    return Source(bytes(content), None, str(getattr(file, "name", type(file).__name__)))


@contextlib.contextmanager
def path_to_write(file: File) -> Iterator[str | bytes]:
    """A path, what is written to which gets into the file."""
    if not hasattr(file, "write"):
        yield os.fspath(file)
        return
    with _temporary_path() as path:
        yield path
        with open(path, "rb") as written:
            shutil.copyfileobj(written, file)


@contextlib.contextmanager
def _temporary_path() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ocl-") as folder:
        yield os.path.join(folder, "content")


def is_safetensors(content: mmap | bytes) -> bool:
    length = int.from_bytes(content[:_HEADER_AT], "little")
    return length < _LONGEST_HEADER and content[_HEADER_AT : _HEADER_AT + 1] == b"{"


def described(content: mmap | bytes) -> str:
    """The kind of a file that is neither of safetensors nor of torch.save."""
    if not content:
        return "it is empty"
    is_pickle = (
        content[:1] == pickle.PROTO and content[1] in _PICKLE_PROTOCOLS and content[-1:] == pickle.STOP
    )
    if len(content) > 2 and is_pickle:
        return "it is a bare pickle, not a file of torch.save, and not loaded: unpickling can run any code"
    return "it is neither a safetensors file nor one of torch.save"
