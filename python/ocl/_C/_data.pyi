"""
Files.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import ocl._C
import os
import typing
__all__: list[str] = ['load_tensors', 'read_idx', 'read_idx_shape', 'save_tensors', 'write_file']
def load_tensors(path: os.PathLike | str | bytes, device: ocl._C.device | str | int | None = None) -> tuple[list[tuple[str, ocl._C.Tensor]], dict[str, str]]:
    ...
def read_idx(path: os.PathLike | str | bytes) -> numpy.typing.NDArray[numpy.uint8]:
    """
    A uint8 array from an IDX file, plain or gzip. Raises OSError that names a damaged file.
    """
def read_idx_shape(path: os.PathLike | str | bytes) -> tuple:
    """
    The shape of an IDX file's array from its header alone.
    """
def save_tensors(tensors: dict, path: os.PathLike | str | bytes, metadata: collections.abc.Mapping[str, str]) -> None:
    ...
def write_file(path: os.PathLike | str | bytes, content: str) -> None:
    """
    Writes bytes to a file that is either whole or, as it was before, there or not.
    """
