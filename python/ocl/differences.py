"""The numeric gradient of samples, by central differences."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

from ocl import _C
from ocl._C import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tensor

__all__ = ["gradient"]


def _evenly(x: Tensor, dim: int, step: float, edge_order: int) -> Tensor:
    def at(i):
        return x.narrow(dim, i if i >= 0 else x.shape[dim] + i, 1)

    count = x.shape[dim]
    centre = (x.narrow(dim, 2, count - 2) - x.narrow(dim, 0, count - 2)) / (2 * step)
    if edge_order == 1:
        first, last = (at(1) - at(0)) / step, (at(-1) - at(-2)) / step
    else:
        first = (-1.5 * at(0) + 2 * at(1) - 0.5 * at(2)) / step
        last = (0.5 * at(-3) - 2 * at(-2) + 1.5 * at(-1)) / step
    return _C.cat([first, centre, last], dim)


def _unevenly(x: Tensor, dim: int, points: Tensor, edge_order: int) -> Tensor:
    count = x.shape[dim]
    gaps = (points[1:] - points[:-1]).reshape(-1, *[1] * (x.ndim - 1 - dim))

    def part(start, length):
        return x.narrow(dim, start, length)

    before, after = gaps[:-1], gaps[1:]
    both = before + after
    centre = (
        -after / (before * both) * part(0, count - 2)
        + (after - before) / (before * after) * part(1, count - 2)
        + before / (after * both) * part(2, count - 2)
    )
    if edge_order == 1:
        first = (part(1, 1) - part(0, 1)) / gaps[:1]
        last = (part(count - 1, 1) - part(count - 2, 1)) / gaps[-1:]
        return _C.cat([first, centre, last], dim)
    a, b = gaps[:1], gaps[1:2]
    first = (
        -(2 * a + b) / (a * (a + b)) * part(0, 1)
        + (a + b) / (a * b) * part(1, 1)
        - a / (b * (a + b)) * part(2, 1)
    )
    a, b = gaps[-2:-1], gaps[-1:]
    last = (
        b / (a * (a + b)) * part(count - 3, 1)
        - (a + b) / (a * b) * part(count - 2, 1)
        + (a + 2 * b) / (b * (a + b)) * part(count - 1, 1)
    )
    return _C.cat([first, centre, last], dim)


def _dimensions(input: Tensor, dim: int | Sequence[int] | None, edge_order: int) -> list[int]:
    given = range(input.ndim) if dim is None else [dim] if isinstance(dim, numbers.Integral) else dim
    found = []
    for d in given:
        if not -input.ndim <= d < input.ndim:
            raise ArgumentIndexError(
                f"gradient: dimension out of range (expected to be in range of [{-input.ndim}, "
                f"{input.ndim - 1}], but got {d})"
            )
        found.append(d % input.ndim)
        if input.shape[d] < edge_order + 1:
            raise ArgumentValueError(
                f"gradient: expected each dimension size to be at least {edge_order + 1}, got "
                f"{tuple(input.shape)}"
            )
    if len(set(found)) != len(found):
        raise ArgumentValueError(f"gradient: dim {tuple(given)} appears multiple times in the list of dims")
    return found


def _spacings(spacing: float | Tensor | Sequence, count: int) -> list[float] | list[Tensor]:
    """One spacing for each dimension, a number or the coordinates of the samples."""
    if isinstance(spacing, numbers.Real):
        return [spacing] * count
    spacings = [spacing] if isinstance(spacing, Tensor) else list(spacing)
    if len(spacings) != count:
        raise ArgumentValueError(
            "gradient: expected spacing to be unspecified, a scalar, or a sequence of one value or tensor "
            f"for each of the {count} dimensions, got {len(spacings)}"
        )
    return spacings


def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence | None = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The slopes of samples along each of `dim` (all), by central differences. (torch.gradient)

    `spacing` is the distance of samples, one number or one for each dimension, or a list of their
    coordinates. At both ends polynomials of `edge_order` (1 or 2) give the slope.
    """
    if input.dtype in (_C.uint8, _C.bool_):
        raise ArgumentTypeError(f"gradient: does not support input of {input.dtype}")
    if edge_order not in (1, 2):
        raise ArgumentValueError(f"gradient: only supports edge_order=1 and edge_order=2, got {edge_order}")
    dimensions = _dimensions(input, dim, edge_order)
    results = []
    for d, given in zip(
        dimensions, _spacings(1 if spacing is None else spacing, len(dimensions)), strict=True
    ):
        if not isinstance(given, Tensor):
            results.append(_evenly(input, d, given, edge_order))
            continue
        if given.ndim != 1 or given.shape[0] != input.shape[d]:
            raise ArgumentValueError(
                f"gradient: expected a vector of {input.shape[d]} coordinates for dimension {d}, got shape "
                f"{tuple(given.shape)}"
            )
        results.append(_unevenly(input, d, given, edge_order))
    return tuple(results)
