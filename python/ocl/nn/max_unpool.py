"""The inverses of max pooling, as far as there are any."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]

Sizes = int | tuple[int, ...]


def _each(name: str, what: str, given: Sizes, axes: int) -> tuple[int, ...]:
    """One number for each dimension of the window."""
    numbers = (given,) * axes if isinstance(given, int) else tuple(given)
    if len(numbers) != axes:
        raise _C.ArgumentValueError(f"{name}: expected {what} of {axes} numbers, got {numbers}")
    return numbers


def _output_sizes(
    name: str, usual: list[int], stride: tuple[int, ...], given: Sequence[int] | None
) -> tuple[int, ...]:
    """The sizes that were asked for, where a pool makes the input of them."""
    if given is None:
        return tuple(usual)
    sizes = tuple(given)
    axes = len(usual)
    if len(sizes) == axes + 2:
        sizes = sizes[2:]
    if len(sizes) != axes:
        raise ValueError(
            f"{name}: output_size should be a sequence of {axes} or {axes + 2} numbers, got {len(sizes)}"
        )
    for size, expected, step in zip(sizes, usual, stride, strict=True):
        if not expected - step < size < expected + step:
            raise ValueError(
                f"{name}: invalid output_size {sizes}, a size must be between {expected - step} and "
                f"{expected + step}, both excluded"
            )
    return sizes


def _unpooled(
    axes: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    output_size: Sequence[int] | None,
) -> Tensor:
    name = f"max_unpool{axes}d"
    kernel = _each(name, "kernel_size", kernel_size, axes)
    step = kernel if stride is None else _each(name, "stride", stride, axes)
    pad = _each(name, "padding", padding, axes)
    if input.ndim not in (axes + 1, axes + 2):
        raise _C.ArgumentValueError(
            f"{name}: expected an input of {axes + 1} or {axes + 2} dimensions, got {tuple(input.shape)}"
        )
    if indices.dtype != _C.int64:
        raise _C.ArgumentTypeError(f"{name}: expected int64 indices, got {indices.dtype}")
    if tuple(indices.shape) != tuple(input.shape):
        raise _C.ArgumentValueError(
            f"{name}: expected indices of the input's shape {tuple(input.shape)}, got {tuple(indices.shape)}"
        )
    if min(step) <= 0:
        raise _C.ArgumentValueError(f"{name}: strides must be greater than zero, got {step}")
    lead, planes = tuple(input.shape[:-axes]), input.shape[-axes:]
    usual = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(planes, step, pad, kernel, strict=True)]
    sizes = _output_sizes(name, usual, step, output_size)
    if min(sizes) < 0:
        raise _C.ArgumentValueError(f"{name}: the output would have the sizes {sizes}")
    whole = _C.zeros((*lead, math.prod(sizes)), dtype=input.dtype, device=input.device)
    if 0 in input.shape:
        return whole.reshape(*lead, *sizes)
    places, values = (x.reshape(*lead, -1) for x in (indices, input))
    return _C.scatter(whole, -1, places, values).reshape(*lead, *sizes)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros [N, C, L] or [C, L] with input at the places indices (int64) that max_pool1d returned.

    output_size has one number, or three with those of N and C; without it the length is the smallest. An
    index that is out of range raises IndexError at the next waiting point, sizes that do not fit ValueError.
    (torch.nn.functional.max_unpool1d)
    """
    return _unpooled(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros [N, C, H, W] or [C, H, W] with input where max_pool2d found it; as max_unpool1d.

    (torch.nn.functional.max_unpool2d)
    """
    return _unpooled(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros [N, C, D, H, W] or [C, D, H, W] with input where max_pool3d found it; as max_unpool1d.

    (torch.nn.functional.max_unpool3d)
    """
    return _unpooled(3, input, indices, kernel_size, stride, padding, output_size)


class _MaxUnpool(Module):
    """Takes what a max pool returned: its maxima and, from return_indices, their places."""

    axes = 0

    def _set_window(self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes) -> None:
        name = type(self).__name__
        self.kernel_size = _each(name, "kernel_size", kernel_size, self.axes)
        self.stride = _each(name, "stride", kernel_size if stride is None else stride, self.axes)
        self.padding = _each(name, "padding", padding, self.axes)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        options = self.kernel_size, self.stride, self.padding
        return _unpooled(self.axes, input, indices, *options, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Zeros with input at the places that MaxPool1d returned. (torch.nn.MaxUnpool1d)"""

    axes = 1

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding)


class MaxUnpool2d(_MaxUnpool):
    """Zeros with input at the places that MaxPool2d returned. (torch.nn.MaxUnpool2d)"""

    axes = 2

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding)


class MaxUnpool3d(_MaxUnpool):
    """Zeros with input at the places that MaxPool3d returned. (torch.nn.MaxUnpool3d)"""

    axes = 3

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self._set_window(kernel_size, stride, padding)
