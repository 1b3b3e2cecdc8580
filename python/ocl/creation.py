"""Tensors of given elements: indices, spaces, windows, and what other libraries hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.questions import is_storage

__all__ = [
    "asarray",
    "bartlett_window",
    "blackman_window",
    "empty_strided",
    "frombuffer",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "logspace",
    "scalar_tensor",
    "tril_indices",
    "triu_indices",
]


def _uploaded(values: np.ndarray, dtype: Any, device: Any, requires_grad: bool = False) -> Tensor:
    return _C.tensor(np.ascontiguousarray(values), dtype=dtype, device=device, requires_grad=requires_grad)


def _indices(name: str, places: Any, row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    for what, size in (("row", row), ("col", col)):
        if size < 0:
            raise ArgumentValueError(f"{name}: {what} must be non-negative, got {size}")
    return _uploaded(np.stack(places(row, offset, col)), dtype or _C.int64, device)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Rows and columns [2, count] of the lower triangle of a matrix, int64. (torch.tril_indices)"""
    return _indices("tril_indices", np.tril_indices, row, col, offset, dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Rows and columns [2, count] of the upper triangle of a matrix, int64. (torch.triu_indices)"""
    return _indices("triu_indices", np.triu_indices, row, col, offset, dtype, device)


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` powers of base, their exponents evenly spaced from start to end. (torch.logspace)

    They are computed in float64 on the host. Raises ValueError for a negative number of steps.
    """
    if steps < 0:
        raise ArgumentValueError(f"logspace: number of steps must be non-negative, got {steps}")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        start, end = int(start), int(end)
    number = complex if dtype is not None and dtype.is_complex else float
    with np.errstate(all="ignore"):  # Infinities and NaN are results, as on a device.
        powers = np.power(number(base), np.linspace(number(start), number(end), steps))
    return _uploaded(powers, dtype or _C.float32, device, requires_grad)


def scalar_tensor(s: float, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor without dimensions, float32 whatever the number is. (torch.scalar_tensor)"""
    return _C.tensor(s, dtype=dtype or _C.float32, device=device, requires_grad=requires_grad)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of that shape and those strides, its elements unset. (torch.empty_strided)"""
    if len(size) != len(stride):
        raise ArgumentValueError(
            f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    last = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    count = 0 if 0 in size else last + 1
    memory = _C.empty((count,), dtype=dtype or _C.float32, device=device)
    return memory.as_strided(tuple(size), tuple(stride)).requires_grad_(requires_grad)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor: tensors and storages share their memory unless `copy` or a conversion forbids it,
    arrays and numbers are uploaded. (torch.asarray)

    Raises ValueError where `copy` is False and there is no way without a copy.
    """
    if is_storage(obj):
        from ocl.storages import elements_of

        obj = elements_of(obj, dtype or _C.uint8)
    if not isinstance(obj, Tensor):
        if copy is False:
            raise ArgumentValueError(
                f"asarray: can't alias the memory of {type(obj).__name__}, it must be copied to a device"
            )
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    there = obj if device is None else obj.to(device)
    result = there if dtype is None else there.to(dtype)
    if result is not obj and copy is False:
        raise ArgumentValueError(
            f"asarray: can't alias a tensor of {obj.dtype} on {obj.device} as {dtype or obj.dtype} on "
            f"{device or obj.device}"
        )
    if result is obj and copy:
        result = obj.clone()
    if not requires_grad:
        return result.detach() if result.requires_grad else result
    return result if result.requires_grad else result.detach().requires_grad_()


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A vector of the bytes of `buffer` from `offset` on, copied to the default device. (torch.frombuffer)

    Raises ValueError where the buffer has too few bytes, or none, or no whole number of elements.
    """
    itemsize = _C.empty(0, dtype=dtype).element_size()
    size = memoryview(buffer).nbytes
    if size == 0 or count == 0:
        raise ArgumentValueError(f"frombuffer: both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ArgumentValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) - 1"
        )
    if count < 0 and (size - offset) % itemsize:
        raise ArgumentValueError(
            f"frombuffer: buffer size ({size - offset} bytes after the offset) must be a multiple of the "
            f"element size ({itemsize})"
        )
    count = (size - offset) // itemsize if count < 0 else count
    if offset + count * itemsize > size:
        raise ArgumentValueError(
            f"frombuffer: requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({size} bytes)"
        )
    if dtype == _C.bfloat16:
        words = np.frombuffer(buffer, np.uint16, count, offset).astype(np.uint32)
        return _uploaded((words << 16).view(np.float32), dtype, None, requires_grad)
    elements = np.frombuffer(buffer, str(dtype).removeprefix("ocl."), count, offset)
    return _uploaded(elements, dtype, None, requires_grad)


def _window(name: str, length: int, periodic: bool, options: dict[str, Any], weights: Any) -> Tensor:
    """`weights` of the parts 0 to 1 of the way through the window, which `periodic` ends one later."""
    unknown = options.keys() - {"dtype", "device", "requires_grad"}
    if unknown:
        raise TypeError(f"{name}: got an unexpected argument {min(unknown)!r}")
    dtype = options.get("dtype") or _C.float32
    if not dtype.is_floating_point:
        raise ArgumentTypeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise ArgumentValueError(f"{name} requires non-negative window_length, got window_length={length}")
    last = length - (0 if periodic else 1)
    values = weights(np.arange(length) / last) if length > 1 else np.ones(length)
    return _uploaded(values, dtype, options.get("device"), options.get("requires_grad", False))


def _cosines(*factors: float) -> Any:
    return lambda parts: sum(f * np.cos(2 * math.pi * k * parts) for k, f in enumerate(factors))


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle from 0 to 1 and back. (torch.bartlett_window)

    `options` are dtype, device and requires_grad.
    """
    return _window(
        "bartlett_window", window_length, periodic, options, lambda parts: 1 - np.abs(2 * parts - 1)
    )


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Blackman's window, a sum of two cosines. (torch.blackman_window)

    `options` are dtype, device and requires_grad.
    """
    return _window("blackman_window", window_length, periodic, options, _cosines(0.42, -0.5, 0.08))


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """The window alpha - beta cos(2 pi part). (torch.hamming_window)

    `options` are dtype, device and requires_grad.
    """
    return _window("hamming_window", window_length, periodic, options, _cosines(alpha, -beta))


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The window sin(pi part)^2. (torch.hann_window)

    `options` are dtype, device and requires_grad.
    """
    return _window("hann_window", window_length, periodic, options, _cosines(0.5, -0.5))


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Kaiser's window of that beta. (torch.kaiser_window)

    `options` are dtype, device and requires_grad.
    """

    def weights(parts):
        return np.i0(beta * np.sqrt(np.clip(1 - (2 * parts - 1) ** 2, 0, None))) / np.i0(beta)

    return _window("kaiser_window", window_length, periodic, options, weights)
