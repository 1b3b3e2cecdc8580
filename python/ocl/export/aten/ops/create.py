"""New tensors, on the device of the module."""

import numpy as np

import ocl
from ocl.export.aten.table import operator


def _dtype(*numbers):
    """The dtype that PyTorch gives a tensor of numbers."""
    if any(isinstance(each, float) for each in numbers):
        return ocl.float32
    return ocl.bool_ if all(isinstance(each, bool) for each in numbers) else ocl.int64


@operator("aten.full.default", call=True)
def full(call, size, value, *, dtype=None):
    return ocl.full(size, value, dtype=dtype or _dtype(value), device=call.device)


@operator("aten.full_like.default")
def full_like(x, value, *, dtype=None):
    return ocl.full_like(x, value, dtype=dtype)


@operator("aten.fill.Scalar")
def fill(x, value):
    return ocl.full_like(x, value)


@operator("aten.fill.Tensor")
def fill_tensor(x, value):
    return value.to(x.dtype).expand(x.shape).clone()


@operator("aten.zeros.default", call=True)
def zeros(call, size, *, dtype=None):
    return ocl.zeros(size, dtype=dtype, device=call.device)


@operator("aten.ones.default", call=True)
def ones(call, size, *, dtype=None):
    return ocl.ones(size, dtype=dtype, device=call.device)


@operator("aten.empty.memory_format aten.empty_permuted.default aten.empty_strided.default", call=True)
def empty(call, size, layout=None, *, dtype=None):
    return ocl.empty(size, dtype=dtype, device=call.device)


@operator("aten.zeros_like.default")
def zeros_like(x, *, dtype=None):
    return ocl.zeros_like(x, dtype=dtype)


@operator("aten.ones_like.default")
def ones_like(x, *, dtype=None):
    return ocl.ones_like(x, dtype=dtype)


@operator("aten.empty_like.default")
def empty_like(x, *, dtype=None):
    return ocl.empty_like(x, dtype=dtype)


@operator("aten.new_zeros.default")
def new_zeros(x, size, *, dtype=None):
    return ocl.zeros(size, dtype=dtype or x.dtype, device=x.device)


@operator("aten.new_ones.default")
def new_ones(x, size, *, dtype=None):
    return ocl.ones(size, dtype=dtype or x.dtype, device=x.device)


@operator("aten.new_full.default")
def new_full(x, size, value, *, dtype=None):
    return ocl.full(size, value, dtype=dtype or x.dtype, device=x.device)


@operator("aten.new_empty.default aten.new_empty_strided.default")
def new_empty(x, size, stride=None, *, dtype=None):
    return ocl.empty(size, dtype=dtype or x.dtype, device=x.device)


@operator("aten.arange.start_step aten.arange.start", call=True)
def arange(call, start, end, step=1, *, dtype=None):
    return ocl.arange(start, end, step, dtype=dtype, device=call.device)


@operator("aten.arange.default", call=True)
def arange_from_zero(call, end, *, dtype=None):
    return ocl.arange(end, dtype=dtype, device=call.device)


@operator("aten.linspace.default", call=True)
def linspace(call, start, end, steps, *, dtype=None):
    return ocl.linspace(start, end, steps, dtype=dtype, device=call.device)


@operator("aten.eye.default aten.eye.m", call=True)
def eye(call, n, m=None, *, dtype=None):
    return ocl.eye(n, m, dtype=dtype, device=call.device)


@operator("aten.scalar_tensor.default", call=True)
def scalar_tensor(call, value, *, dtype=None):
    return ocl.full([], value, dtype=dtype or ocl.float32, device=call.device)


def _triangle(places):
    def indices(call, rows, columns, offset=0, *, dtype=None):
        found = np.stack(places(rows, offset, columns)).astype(np.int64)
        return ocl.tensor(found, device=call.device).to(dtype or ocl.int64)

    return indices


operator("aten.tril_indices.default", call=True)(_triangle(np.tril_indices))
operator("aten.triu_indices.default", call=True)(_triangle(np.triu_indices))
