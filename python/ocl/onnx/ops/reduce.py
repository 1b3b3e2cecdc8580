"""Reductions, running sums and places of extremes; results have the dtype of the input."""

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import FLOATING, integers, scalar


def _floating(x):
    return x if x.dtype in FLOATING else x.to(ocl.float32)


def _product(x, dims):
    for dim in sorted(dims, reverse=True):
        x = ocl.prod(x, dim, dtype=x.dtype)
    return x


def _extreme(function):
    def reduce(x, dims):
        return function(x, dims) if x.dtype != ocl.bool_ else function(x.to(ocl.uint8), dims)

    return reduce


_REDUCTIONS = {
    "ReduceSum": lambda x, dims: ocl.sum(x, dims, dtype=x.dtype),
    "ReduceMean": lambda x, dims: ocl.mean(_floating(x), dims),
    "ReduceMax": _extreme(ocl.amax),
    "ReduceMin": _extreme(ocl.amin),
    "ReduceProd": _product,
    "ReduceL1": lambda x, dims: ocl.sum(ocl.abs(x), dims, dtype=x.dtype),
    "ReduceL2": lambda x, dims: ocl.sqrt(ocl.sum(ocl.square(_floating(x)), dims)),
    "ReduceSumSquare": lambda x, dims: ocl.sum(ocl.square(x), dims, dtype=x.dtype),
    "ReduceLogSum": lambda x, dims: ocl.log(ocl.sum(_floating(x), dims)),
    "ReduceLogSumExp": lambda x, dims: ocl.logsumexp(_floating(x), dims),
}

# Results over no elements, where the function has none.
_OF_NOTHING = {
    "ReduceMax": (-float("inf"), 0),
    "ReduceMin": (float("inf"), 1),
    "ReduceLogSumExp": (-float("inf"), 0),
}


@operator(" ".join(_REDUCTIONS), until=28, host=(1,))
def reduce(call, x, axes=None):
    from_input = call.version >= (13 if call.name == "ReduceSum" else 18)
    axes = axes if from_input else call.get("axes")
    dims = [] if axes is None else sorted({axis % x.ndim for axis in integers(axes)})
    keep = call.get("keepdims", 1)
    if not dims and call.get("noop_with_empty_axes", 0) or x.ndim == 0:
        return _REDUCTIONS[call.name](x.unsqueeze(0), [0]).to(x.dtype)
    dims = dims or list(range(x.ndim))
    kept = [1 if i in dims else size for i, size in enumerate(x.shape) if keep or i not in dims]
    if call.name in _OF_NOTHING and any(x.shape[i] == 0 for i in dims):
        return _filled(call, x, kept)
    return _REDUCTIONS[call.name](x, dims).to(x.dtype).reshape(kept)


def _filled(call, x, shape):
    floating, truth = _OF_NOTHING[call.name]
    if x.dtype in FLOATING:
        return ocl.full(shape, floating, dtype=x.dtype, device=x.device)
    bounds = (0, 1) if x.dtype == ocl.bool_ else (ocl.iinfo(x.dtype).min, ocl.iinfo(x.dtype).max)
    return ocl.full(shape, bounds[truth], dtype=x.dtype, device=x.device)


@operator("ArgMax ArgMin")
def arg_extreme(call, x):
    function = ocl.argmax if call.name == "ArgMax" else ocl.argmin
    axis = call.get("axis", 0) % max(x.ndim, 1)
    keep = bool(call.get("keepdims", 1))
    if call.get("select_last_index", 0):
        return x.shape[axis] - 1 - function(ocl.flip(x, [axis]), axis, keep)
    return function(x, axis, keep)


@operator("CumSum CumProd", until=26, host=(1,))
def cumulate(call, x, axis):
    function = ocl.cumsum if call.name == "CumSum" else ocl.cumprod
    axis = scalar(axis) % x.ndim
    if call.get("reverse", 0):
        x = ocl.flip(x, [axis])
    if call.get("exclusive", 0):
        first = ocl.full_like(x.narrow(axis, 0, 1), 0 if call.name == "CumSum" else 1)
        x = ocl.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    y = function(x, axis, dtype=x.dtype)
    return ocl.flip(y, [axis]) if call.get("reverse", 0) else y


@operator("TopK", until=24, host=(1,))
def top_k(call, x, k):
    largest, ordered = bool(call.get("largest", 1)), bool(call.get("sorted", 1))
    return tuple(ocl.topk(x, scalar(k), call.get("axis", -1), largest, ordered))
