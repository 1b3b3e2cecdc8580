"""
Static int8 of exported programs, and its primitives (dlprim/ops/int8/int8.h).
"""
from __future__ import annotations
import collections.abc
import ocl._C
import ocl._C._export
import typing
__all__: list[str] = ['adaptive_avg_pool2d', 'add', 'conv2d', 'dequantize', 'linear', 'max_pool2d', 'observed', 'prepared', 'quantize', 'quantized']
def adaptive_avg_pool2d(x: ocl._C.Tensor, x_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], size: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], result: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def add(a: ocl._C.Tensor, a_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], b: ocl._C.Tensor | None, b_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], result: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def conv2d(x: ocl._C.Tensor, x_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], weight: ocl._C.Tensor, scales: ocl._C.Tensor, bias: ocl._C.Tensor | None, addend: ocl._C.Tensor | None, addend_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], stride: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], padding: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], dilation: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], groups: typing.SupportsIndex, result: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def dequantize(x: ocl._C.Tensor, format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def linear(x: ocl._C.Tensor, x_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], weight: ocl._C.Tensor, scales: ocl._C.Tensor, bias: ocl._C.Tensor | None, addend: ocl._C.Tensor | None, addend_format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex], result: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def max_pool2d(x: ocl._C.Tensor, kernel: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], stride: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], padding: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"], dilation: typing.Annotated[collections.abc.Sequence[typing.SupportsIndex], "FixedSize(2)"]) -> ocl._C.Tensor:
    ...
def observed(program: ocl._C._export.ExportedProgram) -> tuple[ocl._C._export.ExportedProgram, int]:
    """
    The program with two more results for each activation, its least and greatest number, and how many activations there are.
    """
def prepared(program: ocl._C._export.ExportedProgram) -> ocl._C._export.ExportedProgram:
    """
    The program with batch norms folded, and a call for each pointwise step, as the next two expect it.
    """
def quantize(x: ocl._C.Tensor, format: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsIndex]) -> ocl._C.Tensor:
    ...
def quantized(program: ocl._C._export.ExportedProgram, ranges: collections.abc.Sequence[tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]]) -> ocl._C._export.ExportedProgram:
    """
    The program in int8, by (least, greatest) of each activation.
    """
