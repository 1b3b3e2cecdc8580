"""Sums and other results of many elements, sorting and choosing among them."""

import ocl
from ocl.export.aten.table import operator, operators

operators(
    "reduce",
    {
        "aten.amax.default": ocl.amax,
        "aten.amin.default": ocl.amin,
        "aten.max.default": ocl.max,
        "aten.max.dim": ocl.max,
        "aten.min.default": ocl.min,
        "aten.min.dim": ocl.min,
        "aten.all.default": ocl.all,
        "aten.all.dim": ocl.all,
        "aten.any.default": ocl.any,
        "aten.any.dim": ocl.any,
        "aten.argmax.default": ocl.argmax,
        "aten.argmin.default": ocl.argmin,
        "aten.logsumexp.default": ocl.logsumexp,
        "aten.logcumsumexp.default": ocl.logcumsumexp,
        "aten.cumsum.default": ocl.cumsum,
        "aten.cumprod.default": ocl.cumprod,
        "aten.cummax.default": ocl.cummax,
        "aten.cummin.default": ocl.cummin,
        "aten.topk.default": ocl.topk,
        "aten.kthvalue.default": ocl.kthvalue,
        "aten.median.default": ocl.median,
        "aten.median.dim": ocl.median,
        "aten.linalg_vector_norm.default": ocl.vector_norm,
        "aten.count_nonzero.dim_IntList": ocl.count_nonzero,
        "aten.count_nonzero.default": ocl.count_nonzero,
        "aten.var.default": ocl.var,
        "aten.mode.default": ocl.mode,
        "aten.histc.default": ocl.histc,
    },
)


def _dims(dim):
    """PyTorch's empty list means all dimensions."""
    return None if isinstance(dim, (tuple, list)) and len(dim) == 0 else dim


def _of_dtype(dtype) -> dict:
    return {} if dtype is None else {"dtype": dtype}


@operator("aten.sum.default aten.sum.dim_IntList")
def total(x, dim=None, keepdim=False, *, dtype=None):
    return ocl.sum(x, _dims(dim), keepdim, **_of_dtype(dtype))


@operator("aten.mean.default aten.mean.dim")
def mean(x, dim=None, keepdim=False, *, dtype=None):
    return ocl.mean(x, _dims(dim), keepdim, **_of_dtype(dtype))


@operator("aten.prod.default aten.prod.dim_int")
def prod(x, dim=None, keepdim=False, *, dtype=None):
    return ocl.prod(x, dim, keepdim, **_of_dtype(dtype))


@operator("aten.any.dims")
def any_of_dims(x, dim=None, keepdim=False):
    return x.to(ocl.bool_) if dim is not None and len(dim) == 0 else ocl.any(x, dim, keepdim)


@operator("aten.all.dims")
def all_of_dims(x, dim=None, keepdim=False):
    return x.to(ocl.bool_) if dim is not None and len(dim) == 0 else ocl.all(x, dim, keepdim)


@operator("aten.var.correction")
def var(x, dim=None, *, correction=None, keepdim=False):
    return ocl.var(x, _dims(dim), correction=1 if correction is None else correction, keepdim=keepdim)


@operator("aten.var.dim")
def var_of_dims(x, dim, unbiased=True, keepdim=False):
    return var(x, dim, correction=int(unbiased), keepdim=keepdim)


@operator("aten.std.correction")
def std(x, dim=None, *, correction=None, keepdim=False):
    return ocl.std(x, _dims(dim), correction=1 if correction is None else correction, keepdim=keepdim)


@operator("aten.std.dim")
def std_of_dims(x, dim, unbiased=True, keepdim=False):
    return std(x, dim, correction=int(unbiased), keepdim=keepdim)


@operator("aten.var_mean.correction")
def var_mean(x, dim=None, *, correction=None, keepdim=False):
    return ocl.var_mean(x, _dims(dim), correction=1 if correction is None else correction, keepdim=keepdim)


@operator("aten.aminmax.default")
def aminmax(x, *, dim=None, keepdim=False):
    return tuple(ocl.aminmax(x, dim=dim, keepdim=keepdim))


@operator("aten.sort.default")
def sort(x, dim=-1, descending=False):
    return ocl.sort(x, dim, descending)


@operator("aten.sort.stable")
def sort_stable(x, *, stable=False, dim=-1, descending=False):
    return ocl.sort(x, dim, descending, bool(stable))


@operator("aten.argsort.default")
def argsort(x, dim=-1, descending=False):
    return ocl.argsort(x, dim, descending)
