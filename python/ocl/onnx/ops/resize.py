"""Resampling: Resize, Upsample, GridSample, AffineGrid."""

import math

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import integers

F = ocl.nn.functional


@operator("Upsample", host=(1,))
def upsample(call, x, scales=None):
    scales = call["scales"] if call.version < 9 else scales
    scales = [float(each) for each in np.asarray(scales).reshape(-1)]
    sizes = [math.floor(size * scale) for size, scale in zip(x.shape, scales, strict=True)]
    axes = [Axis(i, x.shape[i], sizes[i], scales[i], "asymmetric") for i in range(x.ndim)]
    return _resized(call, x, axes, call.get("mode", "nearest"), "floor")


@operator("Resize", host=(1, 2, 3))
def resize(call, x, roi=None, scales=None, sizes=None):
    if call.version < 11:  # Resize(X, scales)
        scales = [float(each) for each in np.asarray(roi).reshape(-1)]
        sizes = [math.floor(size * scale) for size, scale in zip(x.shape, scales, strict=True)]
        axes = [Axis(i, x.shape[i], sizes[i], scales[i], "asymmetric") for i in range(x.ndim)]
        return _resized(call, x, axes, call.get("mode", "nearest"), "floor")
    named = [axis % x.ndim for axis in call.get("axes", range(x.ndim))]
    given = [x.shape[axis] for axis in named]
    if scales is not None and np.size(scales):
        scales = [float(each) for each in np.asarray(scales).reshape(-1)]
        sizes = [math.floor(size * scale) for size, scale in zip(given, scales, strict=True)]
    else:
        sizes, scales = _sizes_and_scales(call, given, integers(sizes))
    regions = [(0.0, 1.0)] * len(named)
    how = call.get("coordinate_transformation_mode", "half_pixel")
    if how == "tf_crop_and_resize":
        ends = [float(each) for each in np.asarray(roi).reshape(-1)]
        regions = list(zip(ends[: len(named)], ends[len(named) :], strict=True))
    axes = [
        Axis(*each, how, region) for *each, region in zip(named, given, sizes, scales, regions, strict=True)
    ]
    return _resized(
        call, x, axes, call.get("mode", "nearest"), call.get("nearest_mode", "round_prefer_floor")
    )


def _sizes_and_scales(call, given, sizes):
    policy = call.get("keep_aspect_ratio_policy", "stretch")
    scales = [size / have for size, have in zip(sizes, given, strict=True)]
    if policy != "stretch":
        scale = (min if policy == "not_larger" else max)(scales)
        scales = [scale] * len(given)
        sizes = [math.floor(scale * have + 0.5) for have in given]
    return sizes, scales


class Axis:
    """One dimension: which places of the input its results come from."""

    def __init__(self, axis: int, size: int, result: int, scale: float, how: str, region=(0.0, 1.0)):
        self.axis, self.size, self.result, self.scale, self.how, self.region = (
            axis,
            size,
            result,
            scale,
            how,
            region,
        )

    @property
    def unchanged(self) -> bool:
        return self.size == self.result and self.scale == 1 and self.how != "tf_crop_and_resize"

    def places(self) -> np.ndarray:
        at, scale = np.arange(self.result, dtype=np.float64), self.scale
        whole = self.size * scale
        if self.how == "half_pixel":
            return (at + 0.5) / scale - 0.5
        if self.how == "pytorch_half_pixel":
            return (at + 0.5) / scale - 0.5 if self.result > 1 else np.zeros(1)
        if self.how == "half_pixel_symmetric":
            return (self.size / 2) * (1 - self.result / whole) + (at + 0.5) / scale - 0.5
        if self.how == "align_corners":
            return at * (self.size - 1) / (whole - 1) if whole != 1 else np.zeros(self.result)
        if self.how == "asymmetric":
            return at / scale
        if self.how == "tf_crop_and_resize":
            start, end = self.region
            if self.result == 1:
                return np.array([0.5 * (start + end) * (self.size - 1)])
            return start * (self.size - 1) + at * (end - start) * (self.size - 1) / (self.result - 1)
        raise ValueError(f"coordinate_transformation_mode {self.how!r} is not known")


def _nearest(places: np.ndarray, rounding: str) -> np.ndarray:
    if rounding == "round_prefer_floor":
        return np.ceil(places - 0.5)
    if rounding == "round_prefer_ceil":
        return np.floor(places + 0.5)
    return np.floor(places) if rounding == "floor" else np.ceil(places)


def _linear(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(a: float):
    def weight(distance: np.ndarray) -> np.ndarray:
        d = np.abs(distance)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0))

    return weight


def _weights(call, axis: Axis, mode: str) -> np.ndarray:
    """The part [result, size] that each element of the input has in each result."""
    weight, reach = (_linear, 1) if mode == "linear" else (_cubic(call.get("cubic_coeff_a", -0.75)), 2)
    shrink = min(axis.scale, 1.0) if call.get("antialias", 0) else 1.0
    places = axis.places()
    reach = math.ceil(reach / shrink)
    first = np.floor(places).astype(np.int64) - reach + 1
    taps = first[:, None] + np.arange(2 * reach)
    parts = weight((taps - places[:, None]) * shrink)
    if call.get("exclude_outside", 0):
        parts = np.where((taps >= 0) & (taps < axis.size), parts, 0)
    parts = parts / parts.sum(1, keepdims=True)
    matrix = np.zeros((axis.result, axis.size))
    rows = np.broadcast_to(np.arange(axis.result)[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, axis.size - 1)), parts)
    return matrix


def _outside(call, x, axis: Axis):
    """Results from beyond the input take the extrapolation value."""
    places = axis.places()
    beyond = (places < 0) | (places > axis.size - 1)
    if axis.how != "tf_crop_and_resize" or not beyond.any():
        return x
    mask = beyond.reshape([-1 if i == axis.axis else 1 for i in range(x.ndim)])
    return x.masked_fill(call.tensor(mask), call.get("extrapolation_value", 0.0))


def _as_bilinear(call, x, axes: list[Axis], mode: str) -> bool:
    """Whether the pictures' last two dimensions change as `interpolate` changes them."""
    if x.ndim != 4 or [axis.axis for axis in axes] != [2, 3] or not x.is_floating_point():
        return False
    if mode != "linear" or call.get("antialias", 0) or call.get("exclude_outside", 0):
        return False
    whole = all(abs(axis.size * axis.scale - axis.result) < 1e-4 and axis.result > 1 for axis in axes)
    return whole and all(axis.how in ("half_pixel", "pytorch_half_pixel", "align_corners") for axis in axes)


def _resized(call, x, axes: list[Axis], mode: str, rounding: str):
    axes = [axis for axis in axes if not axis.unchanged]
    if mode == "nearest":
        for axis in axes:
            places = np.clip(_nearest(axis.places(), rounding), 0, axis.size - 1).astype(np.int64)
            x = _outside(call, ocl.index_select(x, axis.axis, call.tensor(places)), axis)
        return x
    if mode not in ("linear", "cubic"):
        raise ValueError(f"mode {mode!r} is not known")
    if _as_bilinear(call, x, axes, mode):
        corners = axes[0].how == "align_corners"
        return F.interpolate(x, [axis.result for axis in axes], mode="bilinear", align_corners=corners)
    for axis in axes:
        matrix = call.tensor(_weights(call, axis, mode).astype(np.float32)).to(x.dtype)
        x = ocl.matmul(x.transpose(axis.axis, -1), matrix.t()).transpose(axis.axis, -1)
        x = _outside(call, x, axis)
    return x


@operator("GridSample")
def grid_sample(call, x, grid):
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(
        call.get("mode", "linear"), call.get("mode", "linear")
    )
    return F.grid_sample(x, grid, mode, call.get("padding_mode", "zeros"), bool(call.get("align_corners", 0)))


@operator("AffineGrid", host=(1,))
def affine_grid(call, theta, size):
    return F.affine_grid(theta, integers(size), bool(call.get("align_corners", 0)))
