"""Maxima of windows whose places are drawn at random, so that a fraction of the size is left."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module

__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]

Sizes = int | Sequence[int]
Ratios = float | Sequence[float]


def _each(name: str, what: str, given: Sizes | Ratios, axes: int) -> tuple:
    each = (given,) * axes if isinstance(given, numbers.Real) else tuple(given)
    if len(each) != axes:
        raise _C.ArgumentValueError(f"{name}: expected {what} of {axes} numbers, got {each}")
    return each


def _starts(samples: Tensor, size: int, window: int, count: int) -> Tensor:
    """Where the windows begin along one axis [..., count], for a sample of [0, 1) each."""
    if count == 1:
        return _C.full((*samples.shape, 1), size - window, dtype=_C.int64, device=samples.device)
    step = (size - window) / (count - 1)
    places = _C.arange(count - 1, device=samples.device).to(samples.dtype)
    samples = samples.unsqueeze(-1)
    starts = ((places + samples) * step).floor() - (samples * step).floor()
    last = _C.full((*starts.shape[:-1], 1), size - window, dtype=_C.int64, device=samples.device)
    return _C.cat([starts.to(_C.int64), last], -1)


def _places(input: Tensor, window: tuple[int, ...], out: tuple[int, ...], samples: Tensor) -> Tensor:
    """The places in a plane of the elements of all windows, [N, C, windows, elements]."""
    axes, planes = len(window), input.shape[-len(window) :]
    flat = _C.zeros((1,), dtype=_C.int64, device=input.device)
    for d, (size, wide, count) in enumerate(zip(planes, window, out, strict=True)):
        # PyTorch draws the samples of images for the width first.
        sample = samples[..., d if axes == 3 else 1 - d]
        within = _C.arange(wide, device=input.device)
        along = _starts(sample, size, wide, count).unsqueeze(-1) + within
        shape = [1] * (2 * axes)
        shape[d], shape[axes + d] = count, wide
        flat = flat * size + along.reshape(*along.shape[:2], *shape)
    return flat.reshape(*flat.shape[:2], math.prod(out), math.prod(window))


def _pooled(
    axes: int,
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None,
    output_ratio: Ratios | None,
    samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{axes}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.ndim not in (axes + 1, axes + 2) or 0 in input.shape[-axes - 1 :]:
        raise _C.ArgumentValueError(
            f"{name}: expected {axes + 1}D or {axes + 2}D tensor with non-zero sizes, got "
            f"{tuple(input.shape)}"
        )
    window = _each(name, "kernel_size", kernel_size, axes)
    planes = input.shape[-axes:]
    if output_size is None:
        ratios = _each(name, "output_ratio", output_ratio, axes)
        out = tuple(int(size * ratio) for size, ratio in zip(planes, ratios, strict=True))
    else:
        out = _each(name, "output_size", output_size, axes)
    for size, wide, count in zip(planes, window, out, strict=True):
        if count < 1 or wide < 1 or count + wide - 1 > size:
            raise _C.ArgumentValueError(
                f"{name}: windows {window} and outputs {out} do not fit into the input {tuple(planes)}"
            )
    batched = input if input.ndim == axes + 2 else input.unsqueeze(0)
    if samples is None:
        dtype = _C.float64 if input.dtype == _C.float64 else _C.float32
        samples = _C.rand((*batched.shape[:2], axes), dtype=dtype, device=input.device)
    places = _places(batched, window, out, samples)
    lead = tuple(batched.shape[:2])
    held = _C.gather(batched.reshape(*lead, 1, -1).expand(*lead, places.shape[2], -1), 3, places)
    values, which = _C.max(held, 3)
    indices = _C.gather(places, 3, which.unsqueeze(-1))
    shape = (*input.shape[:-axes], *out)
    return values.reshape(shape), indices.reshape(shape)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d and the places of the maxima in their planes, int64.
    (torch.nn.functional.fractional_max_pool2d_with_indices)
    """
    return _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool3d and the places of the maxima in their volumes, int64.
    (torch.nn.functional.fractional_max_pool3d_with_indices)
    """
    return _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Maxima of output_size windows of an image [N, C, H, W] or [C, H, W], or of output_ratio of its size,
    which begin where random numbers say. (torch.nn.functional.fractional_max_pool2d)

    ValueError where neither is given, and where the windows do not fit.
    """
    pooled = _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """fractional_max_pool2d of volumes [N, C, D, H, W] or [C, D, H, W].
    (torch.nn.functional.fractional_max_pool3d)
    """
    pooled = _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


class _FractionalMaxPool(Module):
    _axes = 0

    def _set(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None,
        output_ratio: Ratios | None,
        return_indices: bool,
        samples: Tensor | None,
    ) -> None:
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: specify either output_size or output_ratio, and only one of them")
        self.kernel_size = _each(name, "kernel_size", kernel_size, self._axes)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", samples)
        self.output_size = (
            None if output_size is None else _each(name, "output_size", output_size, self._axes)
        )
        self.output_ratio = (
            None if output_ratio is None else _each(name, "output_ratio", output_ratio, self._axes)
        )
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        sizes = self.output_size, self.output_ratio
        pooled = _pooled(self._axes, input, self.kernel_size, *sizes, self._random_samples)
        return pooled if self.return_indices else pooled[0]


class FractionalMaxPool2d(_FractionalMaxPool):
    """fractional_max_pool2d as a module. (torch.nn.FractionalMaxPool2d)"""

    _axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Ratios | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set(kernel_size, output_size, output_ratio, return_indices, _random_samples)


class FractionalMaxPool3d(_FractionalMaxPool):
    """fractional_max_pool3d as a module. (torch.nn.FractionalMaxPool3d)"""

    _axes = 3

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Ratios | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self._set(kernel_size, output_size, output_ratio, return_indices, _random_samples)
