"""
Files.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import ocl._C
import typing
__all__: list[str] = ['load_tensors', 'read_idx', 'save_tensors']
def load_tensors(path: str, device: device | str | int | None = None) -> tuple[list[tuple[str, ocl._C.Tensor]], dict[str, str]]:
    ...
def read_idx(path: str) -> numpy.typing.NDArray[numpy.uint8]:
    """
    A uint8 array from an IDX file, plain or gzip. Raises OSError that names a damaged file.
    """
def save_tensors(tensors: collections.abc.Mapping[str, ocl._C.Tensor], path: str, metadata: collections.abc.Mapping[str, str]) -> None:
    ...
