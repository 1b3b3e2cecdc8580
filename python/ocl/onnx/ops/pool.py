"""Pooling over 1, 2 and 3 dimensions."""

import math

import numpy as np

import ocl
from ocl.onnx.ops.windows import windows
from ocl.onnx.table import operator
from ocl.onnx.values import FLOATING, integers

F = ocl.nn.functional
_MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def _windows(call, x):
    """The windows with what is to be added behind (negative: cut), and the ends of what counts."""
    found = windows(call, x, call["kernel_shape"])
    ends = [
        size + before + after
        for size, before, after in zip(x.shape[2:], found.before, found.after, strict=True)
    ]
    after = []
    for i, extent in enumerate(found.extents()):
        room = ends[i] - extent
        stride = found.strides[i]
        if call.get("ceil_mode", 0):
            count = -(-room // stride) + 1
            if (count - 1) * stride >= x.shape[2 + i] + found.before[i]:
                count -= 1  # a window that begins in the padding behind
        else:
            count = room // stride + 1
        after.append((count - 1) * stride + extent - x.shape[2 + i] - found.before[i])
    found.after = after
    return found, ends


@operator("MaxPool")
def max_pool(call, x):
    rank, dtype = x.ndim - 2, x.dtype
    found, _ = _windows(call, x)
    x = x if dtype in FLOATING else x.to(ocl.float32)
    padded = F.pad(x, found.padding(), value=-float("inf")) if any(found.before + found.after) else x
    arguments = found.sizes, found.strides, [0] * rank, found.dilations
    if not call.wants(1):
        return _MAX[rank](padded, *arguments).to(dtype)
    y, places = _MAX[rank](padded, *arguments, return_indices=True)
    return y.to(dtype), _places(call, x, padded, found, places)


def _places(call, x, padded, found, places):
    """Indices into the input, counted over the whole of it, from indices into padded planes."""
    coordinates = []
    for size, before in zip(reversed(padded.shape[2:]), reversed(found.before), strict=True):
        coordinates.insert(0, ocl.remainder(places, size) - before)
        places = ocl.div_floor(places, size)
    order = list(zip(coordinates, x.shape[2:], strict=True))
    flat = 0
    for coordinate, size in reversed(order) if call.get("storage_order", 0) else order:
        flat = flat * size + coordinate
    planes = x.shape[0] * x.shape[1]
    first = (ocl.arange(planes, device=x.device) * math.prod(x.shape[2:])).reshape(
        [*x.shape[:2], *[1] * (x.ndim - 2)]
    )
    return flat + first


def _sums(x, found):
    """The sums over windows of a padded input."""
    rank = x.ndim - 2
    if all(step == 1 for step in found.dilations):
        return _AVERAGE[rank](x, found.sizes, found.strides) * math.prod(found.sizes)
    n, c = x.shape[:2]
    ones = ocl.ones([1, 1, *found.sizes], dtype=x.dtype, device=x.device)
    planes, none = x.reshape([n * c, 1, *x.shape[2:]]), [0] * rank
    y = ocl.convolution(planes, ones, None, found.strides, none, found.dilations, False, none, 1)
    return y.reshape([n, c, *y.shape[2:]])


@operator("AveragePool")
def average_pool(call, x):
    rank = x.ndim - 2
    found, ends = _windows(call, x)
    plain = found.symmetric and all(step == 1 for step in found.dilations)
    counted = bool(call.get("count_include_pad", 0))
    if plain and all(2 * before <= size for before, size in zip(found.before, found.sizes, strict=True)):
        return _AVERAGE[rank](x, found.sizes, found.strides, found.before, False, counted)
    padded = F.pad(x, found.padding()) if any(found.before + found.after) else x
    counts = np.ones((1,) * rank)
    for i in range(rank):
        low, high = (0, ends[i]) if counted else (found.before[i], found.before[i] + x.shape[2 + i])
        taps = np.arange(found.sizes[i]) * found.dilations[i]
        firsts = np.arange(0, padded.shape[2 + i] - found.extents()[i] + 1, found.strides[i])
        places = firsts[:, None] + taps
        valid = ((places >= low) & (places < high)).sum(1)
        counts = counts * valid.reshape([-1 if i == j else 1 for j in range(rank)])
    return _sums(padded, found) / call.tensor(counts.astype(np.float32)).to(x.dtype)


@operator("LpPool")
def lp_pool(call, x):
    p = call.get("p", 2)
    found, _ = _windows(call, x)
    padded = F.pad(x, found.padding()) if any(found.before + found.after) else x
    return _sums(ocl.abs(padded).pow(p), found).pow(1 / p)


def _spatial(x) -> list[int]:
    return list(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(call, x):
    return ocl.mean(x, _spatial(x), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(call, x):
    return ocl.amax(x, _spatial(x), keepdim=True)


@operator("GlobalLpPool")
def global_lp_pool(call, x):
    p = call.get("p", 2)
    return ocl.sum(ocl.abs(x).pow(p), _spatial(x), keepdim=True).pow(1 / p)


@operator("MaxUnpool", host=(2,))
def max_unpool(call, x, places, sizes=None):
    found = windows(call, x, call["kernel_shape"])
    least = [
        (size - 1) * stride - before - after + kernel
        for size, stride, before, after, kernel in zip(
            x.shape[2:], found.strides, found.before, found.after, found.sizes, strict=True
        )
    ]
    whole = [*x.shape[:2], *least]
    y = ocl.zeros(math.prod(whole), dtype=x.dtype, device=x.device)
    y = ocl.scatter(y, 0, places.reshape([-1]), x.reshape([-1])).reshape(whole)
    if sizes is None:
        return y
    cuts = [want - have for have, want in zip(whole, integers(sizes), strict=True)]
    return F.pad(y, [each for cut in reversed(cuts) for each in (0, cut)])
