"""
Packing of sequences, in terms of its parts.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import typing
__all__: list[str] = ['invert_permutation', 'pack_padded_sequence', 'pack_sequence', 'pad_packed_sequence', 'pad_sequence', 'unpad_sequence']
def invert_permutation(arg0: ocl._C.Tensor | None) -> ocl._C.Tensor | None:
    ...
def pack_padded_sequence(arg0: ocl._C.Tensor, arg1: collections.abc.Sequence[typing.SupportsIndex], arg2: bool, arg3: bool) -> tuple[ocl._C.Tensor, list[int], ocl._C.Tensor | None, ocl._C.Tensor | None]:
    ...
def pack_sequence(arg0: collections.abc.Sequence[ocl._C.Tensor], arg1: bool) -> tuple[ocl._C.Tensor, list[int], ocl._C.Tensor | None, ocl._C.Tensor | None]:
    ...
def pad_packed_sequence(arg0: tuple[ocl._C.Tensor, collections.abc.Sequence[typing.SupportsIndex], ocl._C.Tensor | None, ocl._C.Tensor | None], arg1: bool, arg2: complex | float | int | bool, arg3: typing.SupportsIndex | None) -> tuple[ocl._C.Tensor, list[int]]:
    ...
def pad_sequence(arg0: collections.abc.Sequence[ocl._C.Tensor], arg1: bool, arg2: complex | float | int | bool, arg3: str) -> ocl._C.Tensor:
    ...
def unpad_sequence(arg0: ocl._C.Tensor, arg1: collections.abc.Sequence[typing.SupportsIndex], arg2: bool) -> list[ocl._C.Tensor]:
    ...
