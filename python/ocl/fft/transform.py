"""The three transforms that all others are made of, and the checks that they share."""

from __future__ import annotations

from collections.abc import Sequence

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor

_NORMS = ("backward", "ortho", "forward")


def normalization_of(name: str, norm: str | None, forward: bool) -> int:
    """0, 1 or 2: a transform of n elements is divided by nothing, by the root of n, or by n."""
    if norm is not None and norm not in _NORMS:
        raise ArgumentValueError(f'{name}: Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1
    return 2 if forward == (norm == "forward") else 0


def numbers_of(name: str, input: Tensor, complex_wanted: bool = False) -> Tensor:
    """`input` in a dtype that is transformed: whole numbers as float32; complex where that is wanted."""
    if not (input.is_floating_point() or input.is_complex()):
        input = input.float()
    if input.dtype in (_C.float16, _C.bfloat16):
        raise ArgumentTypeError(f"{name}: Unsupported dtype {input.dtype}; expected float32 or float64")
    return input.to(input.dtype.to_complex()) if complex_wanted and not input.is_complex() else input


def require_real(name: str, input: Tensor) -> None:
    if input.is_complex():
        raise ArgumentTypeError(f"{name} expects a floating point input tensor, but got {input.dtype}")


def place_of(name: str, input: Tensor, dim: int) -> int:
    if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
        raise IndexError(
            f"{name}: Dimension out of range (expected to be in range of [{-max(input.ndim, 1)}, "
            f"{max(input.ndim, 1) - 1}], but got {dim})"
        )
    if input.ndim == 0:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    return dim % input.ndim


def resized(name: str, input: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """`input` cut off at the ends of `dims`, or filled up with zeros; a size of -1 changes nothing."""
    amounts = [0] * (2 * input.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        if size == -1:
            continue
        if size < 1:
            raise ArgumentValueError(f"{name}: Invalid number of data points ({size}) specified")
        if size < input.shape[dim]:
            input = input.narrow(dim, 0, size)
        amounts[2 * (input.ndim - 1 - dim) + 1] = size - input.shape[dim]
    return _C.pad(input, amounts) if any(amounts) else input


def c2c(z: Tensor, dims: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Complex to complex numbers."""
    if not dims:
        return z.clone()
    return _C.view_as_complex(_C._fft_c2c(_C.view_as_real(z), list(dims), normalization, forward))


def r2c(x: Tensor, dims: Sequence[int], normalization: int) -> Tensor:
    """Real numbers to the half of their spectrum that decides the other, along the last of `dims`."""
    return _C.view_as_complex(_C._fft_r2c(x, list(dims), normalization, True))


def c2r(z: Tensor, dims: Sequence[int], normalization: int, size: int) -> Tensor:
    """Half a spectrum to real numbers, `size` of them along the last of `dims`, by the inverse transform."""
    return _C._fft_c2r(_C.view_as_real(z), list(dims), normalization, size)
