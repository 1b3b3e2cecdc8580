"""Covariances, distances and histograms, made of other operators."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor

__all__ = ["corrcoef", "cov", "dist", "histogram", "histogramdd"]


class Histogram(NamedTuple):
    """The counts of bins, and the bounds of the bins."""

    hist: Tensor
    bin_edges: Tensor


class HistogramDD(NamedTuple):
    """The counts of bins, and the bounds of the bins of each dimension."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


def _weights_of_observations(what: str, weights: Tensor, count: int) -> Tensor:
    if weights.ndim > 1:
        raise ArgumentValueError(f"cov: expected {what} to have one or fewer dimensions, got {weights.ndim}")
    if weights.numel() != count:
        raise ArgumentValueError(
            f"cov: expected {what} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )
    if count and (weights < 0).any().item():
        raise ArgumentValueError(f"cov: {what} cannot be negative")
    return weights


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariances [N, N] of N variables with observations [N, count]; a scalar for a vector. (torch.cov)

    fweights says how often each observation counts, and aweights how much. Checks of weights wait.
    """
    if input.ndim > 2:
        raise ArgumentValueError(f"cov: expected input to have two or fewer dimensions, got {input.ndim}")
    if input.dtype == _C.bool_:
        raise ArgumentTypeError("cov: bool dtype is not supported for input")
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    count = rows.shape[1]
    weights = None
    if fweights is not None:
        if fweights.dtype == _C.bool_ or fweights.is_floating_point():
            raise ArgumentTypeError(f"cov: expected fweights of an integral dtype, got {fweights.dtype}")
        weights = _weights_of_observations("fweights", fweights, count)
    if aweights is not None:
        if not aweights.is_floating_point():
            raise ArgumentTypeError(f"cov: expected aweights of a floating dtype, got {aweights.dtype}")
        important = _weights_of_observations("aweights", aweights, count)
        weights = important if weights is None else weights * important
    weighted = rows if weights is None else rows * weights
    total = count if weights is None else weights.sum()
    if weights is not None and total.item() == 0:
        raise ArgumentValueError("cov: weights sum to zero, can't be normalized")
    divisor = total - correction
    if aweights is not None and correction != 0:
        divisor = total - correction * (weights * aweights).sum() / total
    if divisor <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
            "observations.",
            UserWarning,
            stacklevel=2,
        )
        divisor = 0
    centred = rows - (weighted.sum(1) / _C.as_tensor(total, device=input.device)).unsqueeze(1)
    products = centred @ (centred if weights is None else centred * weights).t().conj()
    return (products / _C.as_tensor(divisor, device=input.device)).squeeze()


def corrcoef(input: Tensor) -> Tensor:
    """The correlations [N, N] of N variables with observations [N, count]. (torch.corrcoef)"""
    if input.ndim > 2:
        raise ArgumentValueError(
            f"corrcoef: expected input to have two or fewer dimensions, got {input.ndim}"
        )
    covariances = cov(input)
    if covariances.ndim == 0:
        return covariances / covariances
    deviations = covariances.diagonal().sqrt()
    return (covariances / deviations.unsqueeze(1) / deviations).clamp(-1, 1)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other, which broadcast. (torch.dist)"""
    difference = input - other
    if difference.numel() == 0 and p > 0:
        return difference.sum()
    return _C.norm(difference, p)


def _finite_range(name: str, low: float, high: float) -> tuple[float, float]:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ArgumentValueError(f"{name}: dimension 0's range [{low}, {high}] is not finite")
    if low > high:
        raise ArgumentValueError(f"{name}: min should not exceed max, but got min {low} max {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(name: str, column: Tensor, bins: int | Tensor, bounds: Sequence[float] | None) -> Tensor:
    """The ascending bounds of the bins that one coordinate falls into."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins.numel() < 2:
            raise ArgumentValueError(
                f"{name}: bins tensor should have one dimension and two elements, got {tuple(bins.shape)}"
            )
        if bins.dtype != column.dtype:
            raise ArgumentTypeError(
                f"{name}: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{column.dtype} and bins with dtype {bins.dtype}"
            )
        return bins
    if bins <= 0:
        raise ArgumentValueError(f"{name}: bins must be > 0, but got {bins}")
    if bounds is None:
        bounds = (0.0, 1.0) if column.numel() == 0 else (column.min().item(), column.max().item())
    low, high = _finite_range(name, *map(float, bounds))
    return _C.linspace(low, high, bins + 1, dtype=column.dtype, device=column.device)


def _counted(
    name: str, points: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool
) -> Tensor:
    """The sums of the weights of `points` [count, D] that fall between edges. The last bins are closed."""
    sizes = [edge.numel() - 1 for edge in edges]
    flat = _C.zeros((points.shape[0],), dtype=_C.int64, device=points.device)
    inside = _C.ones((points.shape[0],), dtype=_C.bool_, device=points.device)
    for d, (edge, size) in enumerate(zip(edges, sizes, strict=True)):
        column = points[:, d].contiguous()
        if size:
            inside = inside & (column >= edge[0]) & (column <= edge[-1])
        place = _C.searchsorted(edge.contiguous(), column, right=True) - 1
        flat = flat * size + place.clamp(0, max(size - 1, 0))
    if weight is None:
        amounts = inside.to(points.dtype)
    else:
        amounts = _C.where(inside, weight, _C.zeros_like(weight))
    hist = _C.zeros((math.prod(sizes),), dtype=points.dtype, device=points.device)
    if hist.numel():
        hist = _C.index_add(hist, 0, flat, amounts)
    hist = hist.reshape(sizes)
    if density:
        hist = hist / hist.sum()
        for d, edge in enumerate(edges):
            hist = hist / (edge[1:] - edge[:-1]).reshape(-1, *[1] * (len(edges) - 1 - d))
    return hist


def _checked_weight(name: str, input: Tensor, shape: tuple[int, ...], weight: Tensor | None) -> Tensor | None:
    if not input.is_floating_point():
        raise ArgumentTypeError(f"{name}: expected a tensor of floating dtype, got {input.dtype}")
    if weight is None:
        return None
    if tuple(weight.shape) != shape:
        raise ArgumentValueError(
            f"{name}: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, {shape}, but got weight with shape {tuple(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        raise ArgumentTypeError(
            f"{name}: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got {input.dtype} and {weight.dtype}"
        )
    return weight.detach().reshape(-1)


def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """How many elements, or how much `weight`, fall into each bin, and their bounds. (torch.histogram)

    `bins` equal bins of `range`, or of the elements' own range (which waits), or those between the ascending
    elements of a tensor. Bins are open above, the last is closed. `density` makes the integral 1.
    """
    weight = _checked_weight("histogram", input, tuple(input.shape), weight)
    if range is not None and (len(range) != 2 or isinstance(bins, Tensor)):
        raise ArgumentValueError(
            f"histogram: expected a range of 2 numbers beside a number of bins, got {range}"
        )
    column = input.detach().reshape(-1)
    edges = _edges("histogram", column, bins, range)
    return Histogram(_counted("histogram", column.unsqueeze(1), [edges], weight, density), edges)


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> HistogramDD:
    """How many points [..., D] fall into each cell of a grid, and the bounds of each dimension's bins, as
    histogram. `range` has D pairs of numbers. (torch.histogramdd)
    """
    if input.ndim < 2:
        raise ArgumentValueError(
            f"histogramdd: input tensor should have at least 2 dimensions, got {input.ndim}"
        )
    dimensions = input.shape[-1]
    weight = _checked_weight("histogramdd", input, tuple(input.shape[:-1]), weight)
    each = [bins] * dimensions if isinstance(bins, numbers.Integral) else list(bins)
    if len(each) != dimensions:
        raise ArgumentValueError(
            f"histogramdd: expected {dimensions} sequences of bin edges for a {dimensions}-dimensional "
            f"histogram but got {len(each)}"
        )
    if range is not None and len(range) != 2 * dimensions:
        raise ArgumentValueError(
            f"histogramdd: for a {dimensions}-dimensional histogram range should have {2 * dimensions} "
            f"elements, but got {len(range)}"
        )
    points = input.detach().reshape(-1, dimensions)
    edges = [
        _edges("histogramdd", points[:, d], given, None if range is None else range[2 * d : 2 * d + 2])
        for d, given in enumerate(each)
    ]
    return HistogramDD(_counted("histogramdd", points, edges, weight, density), tuple(edges))


Tensor.cov = cov
Tensor.corrcoef = corrcoef
Tensor.dist = dist
Tensor.histogram = histogram
