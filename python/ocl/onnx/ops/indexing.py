"""Elements by their indices; negative indices count from the end."""

import math

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import scalar

F = ocl.nn.functional


def _wrapped(index, size: int):
    """Indices without negative ones."""
    if isinstance(index, np.ndarray):
        return np.where(index < 0, index + size, index).astype(np.int64)
    return ocl.where(index < 0, index + size, index)


@operator("Gather", either=(1,))
def gather(call, x, index):
    axis = call.get("axis", 0) % x.ndim
    index = _wrapped(index, x.shape[axis])
    if isinstance(index, np.ndarray) and index.ndim == 0:
        return x.select(axis, int(index))
    index = call.tensor(index)
    if axis == 0 and x.ndim == 2 and x.is_floating_point():
        return F.embedding(index, x)
    y = ocl.index_select(x, axis, index.reshape([-1]))
    return y.reshape([*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]])


@operator("GatherElements")
def gather_elements(call, x, index):
    axis = call.get("axis", 0) % x.ndim
    return ocl.gather(x, axis, _wrapped(index, x.shape[axis]))


def _flat_places(index, sizes) -> ocl.Tensor:
    """Positions in the flattened dimensions of these sizes; index is [..., len(sizes)]."""
    places = 0
    for i, size in enumerate(sizes):
        places = places * size + _wrapped(index.select(-1, i), size)
    return places


@operator("GatherND")
def gather_nd(call, x, index):
    batch = call.get("batch_dims", 0)
    depth = index.shape[-1]
    sizes, rest = x.shape[batch : batch + depth], x.shape[batch + depth :]
    places = _flat_places(index, sizes)
    leading = math.prod(x.shape[:batch])
    places = places.reshape([leading, -1])
    if batch:
        places = places + ocl.arange(leading, device=x.device).to(places.dtype).unsqueeze(1) * math.prod(
            sizes
        )
    rows = x.reshape([leading * math.prod(sizes), *rest])
    return ocl.index_select(rows, 0, places.reshape([-1])).reshape([*index.shape[:-1], *rest])


_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _scattered(x, axis: int, index, updates, reduction: str):
    if reduction == "none":
        return ocl.scatter(x, axis, index, updates)
    if reduction == "add":
        return ocl.scatter_add(x, axis, index, updates)
    return ocl.scatter_reduce(x, axis, index, updates, _REDUCTIONS[reduction])


@operator("ScatterElements Scatter")
def scatter_elements(call, x, index, updates):
    axis = call.get("axis", 0) % x.ndim
    return _scattered(x, axis, _wrapped(index, x.shape[axis]), updates, call.get("reduction", "none"))


@operator("ScatterND")
def scatter_nd(call, x, index, updates):
    depth = index.shape[-1]
    sizes, rest = x.shape[:depth], math.prod(x.shape[depth:])
    places = _flat_places(index, sizes).reshape([-1, 1]).expand([-1, rest])
    flat, updates = x.reshape([math.prod(sizes), rest]), updates.reshape([-1, rest])
    return _scattered(flat, 0, places, updates, call.get("reduction", "none")).reshape(x.shape)


@operator("TensorScatter", until=24, host=(2,))
def tensor_scatter(call, cache, update, starts=None):
    axis = call.get("axis", -2) % cache.ndim
    size, length = cache.shape[axis], update.shape[axis]
    starts = np.zeros(cache.shape[0], np.int64) if starts is None else starts
    places = starts.reshape(-1, 1) + np.arange(length)
    if call.get("mode", "linear") == "circular":
        places = places % size
    sizes = [cache.shape[0] if i == 0 else length if i == axis else 1 for i in range(cache.ndim)]
    return ocl.scatter(cache, axis, call.tensor(places.reshape(sizes)).expand(update.shape), update)


@operator("NonZero")
def non_zero(call, x):
    return ocl.nonzero(x).t()


@operator("Compress", until=28, host=(1,))
def compress(call, x, condition):
    axis = call.get("axis")
    places = call.tensor(np.flatnonzero(condition).astype(np.int64))
    return ocl.index_select(x.reshape([-1]) if axis is None else x, axis or 0, places)


@operator("OneHot", until=28, host=(1,))
def one_hot(call, index, depth, values):
    depth, rank = int(scalar(depth)), index.ndim + 1
    axis = call.get("axis", -1) % rank
    sizes = [depth if i == axis else 1 for i in range(rank)]
    classes = ocl.arange(depth, device=index.device).reshape(sizes)
    hot = _wrapped(index, depth).unsqueeze(axis) == classes
    return ocl.where(hot, values.select(0, 1), values.select(0, 0))


@operator("Unique", until=28)
def unique(call, x):
    axis = call.get("axis")
    values, inverse, counts = ocl.unique(x, True, True, True, dim=axis)
    inverse = inverse.reshape([-1])
    order = ocl.arange(inverse.shape[0], device=x.device)
    first = ocl.full([counts.shape[0]], inverse.shape[0], dtype=ocl.int64, device=x.device)
    first = ocl.scatter_reduce(first, 0, inverse, order, "amin")
    if not call.get("sorted", 1):
        by_first = ocl.argsort(first)
        values = ocl.index_select(values, axis or 0, by_first)
        first, counts = ocl.index_select(first, 0, by_first), ocl.index_select(counts, 0, by_first)
        inverse = ocl.index_select(ocl.argsort(by_first), 0, inverse)
    return values, first, inverse, counts
