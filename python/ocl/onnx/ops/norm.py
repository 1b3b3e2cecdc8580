"""Normalisation and dropout."""

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import ONNX_DTYPES, dtype_of, scalar

F = ocl.nn.functional


@operator("BatchNormalization")
def batch_norm(call, x, scale, bias, mean, var):
    epsilon, momentum = call.get("epsilon", 1e-5), call.get("momentum", 0.9)
    if call.version >= 14 and call.get("training_mode", 0):
        return _trained(x, scale, bias, mean, var, epsilon, momentum)
    return F.batch_norm(x, mean, var, scale, bias, call.training, 1 - momentum, epsilon)


def _trained(x, scale, bias, mean, var, epsilon: float, momentum: float):
    """Normalised by the batch, and the statistics as results."""
    dims = [i for i in range(x.ndim) if i != 1]
    y = F.batch_norm(x, None, None, scale, bias, True, 0.0, epsilon)
    now_var, now_mean = ocl.var(x, dims, unbiased=False), ocl.mean(x, dims)
    return (
        y,
        (mean * momentum + now_mean * (1 - momentum)).to(mean.dtype),
        (var * momentum + now_var * (1 - momentum)).to(var.dtype),
    )


@operator("InstanceNormalization")
def instance_norm(call, x, scale, bias):
    return F.instance_norm(x, None, None, scale, bias, True, 0.1, call.get("epsilon", 1e-5))


def _computed(call, x):
    """The input in the dtype that the node computes in."""
    dtype = dtype_of(call.get("stash_type", ONNX_DTYPES[ocl.float32]))
    return x.to(dtype) if x.dtype in (ocl.float16, ocl.bfloat16) else x


@operator("LayerNormalization")
def layer_norm(call, x, scale, bias=None):
    axis = call.get("axis", -1) % x.ndim
    sizes, epsilon = list(x.shape[axis:]), call.get("epsilon", 1e-5)
    plain = list(scale.shape) == sizes and (bias is None or list(bias.shape) == sizes)
    if plain:
        y = F.layer_norm(x, sizes, scale, bias, epsilon)
    else:
        y = F.layer_norm(x, sizes, None, None, epsilon) * scale
        y = y if bias is None else y + bias
    if not call.wants(1) and not call.wants(2):
        return y
    dims, x = list(range(axis, x.ndim)), _computed(call, x)
    spread = ocl.var(x, dims, unbiased=False, keepdim=True)
    return y, ocl.mean(x, dims, keepdim=True), ocl.rsqrt(spread + epsilon)


@operator("RMSNormalization")
def rms_norm(call, x, scale):
    axis = call.get("axis", -1) % x.ndim
    sizes, epsilon = list(x.shape[axis:]), call.get("epsilon", 1e-5)
    if list(scale.shape) == sizes:
        return F.rms_norm(x, sizes, scale, epsilon)
    return (F.rms_norm(x, sizes, None, epsilon) * scale).to(x.dtype)


@operator("GroupNormalization")
def group_norm(call, x, scale, bias):
    groups = call["num_groups"]
    if call.version < 21:  # one number for each group
        count = x.shape[1] // groups
        scale, bias = ocl.repeat_interleave(scale, count), ocl.repeat_interleave(bias, count)
    return F.group_norm(x, groups, scale, bias, call.get("epsilon", 1e-5))


def _even(attributes, version: int) -> str:
    size = attributes.get("size", 1)
    return "" if size % 2 else f"windows of an odd size expected, got {size}"


@operator("LRN", refuses=_even)
def local_response_norm(call, x):
    size = call["size"]
    alpha, beta = call.get("alpha", 1e-4), call.get("beta", 0.75)
    return F.local_response_norm(x, size, alpha, beta, call.get("bias", 1.0))


@operator("LpNormalization")
def lp_normalization(call, x):
    p, axis = call.get("p", 2), call.get("axis", -1)
    norm = (
        ocl.sum(ocl.abs(x), [axis], keepdim=True)
        if p == 1
        else ocl.sqrt(ocl.sum(x * x, [axis], keepdim=True))
    )
    return ocl.where(norm == 0, ocl.zeros_like(x), x / norm)


@operator("MeanVarianceNormalization")
def mean_variance_norm(call, x):
    dims = call.get("axes", [0, 2, 3])
    centred = x - ocl.mean(x, dims, keepdim=True)
    return centred / (ocl.sqrt(ocl.mean(centred * centred, dims, keepdim=True)) + 1e-9)


@operator("Dropout", host=(1, 2), folds=False)
def dropout(call, x, ratio=None, training=None):
    ratio = scalar(ratio, 0.5) if call.version >= 12 else call.get("ratio", 0.5)
    drops = (bool(scalar(training, False)) or call.training) and ratio > 0
    if not drops:
        return x, ocl.ones(x.shape, dtype=ocl.bool_, device=x.device) if call.wants(1) else None
    kept = ocl.rand(x.shape, device=x.device) >= ratio
    return ocl.where(kept, x / (1 - ratio), ocl.zeros_like(x)), kept
