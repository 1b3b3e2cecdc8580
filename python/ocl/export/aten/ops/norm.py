"""Normalisation and softmax."""

import math

import ocl
from ocl.export.aten.table import operator

F = ocl.nn.functional


def _moments(x, dims, eps: float):
    """Mean and inverse deviation, as the second and third results of PyTorch's norms."""
    variance, mean = ocl.var_mean(x, dims, correction=0, keepdim=True)
    return mean, ocl.rsqrt(variance + eps)


@operator("aten.layer_norm.default")
def layer_norm(x, shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return F.layer_norm(x, shape, weight, bias, eps)


@operator("aten.native_layer_norm.default", call=True)
def native_layer_norm(call, x, shape, weight, bias, eps):
    y = F.layer_norm(x, shape, weight, bias, eps)
    if not (call.wants(1) or call.wants(2)):
        return y, None, None
    return y, *_moments(x, list(range(-len(shape), 0)), eps)


@operator("aten.rms_norm.default")
def rms_norm(x, shape, weight=None, eps=None):
    return F.rms_norm(x, shape, weight, eps)


@operator("aten._fused_rms_norm.default")
def fused_rms_norm(x, shape, weight, eps):
    eps = ocl.finfo(x.dtype).eps if eps is None else eps
    squares = ocl.mean(x * x, list(range(-len(shape), 0)), keepdim=True)
    return F.rms_norm(x, shape, weight, eps), ocl.rsqrt(squares + eps)


@operator("aten.group_norm.default")
def group_norm(x, groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    return F.group_norm(x, groups, weight, bias, eps)


@operator("aten.native_group_norm.default", call=True)
def native_group_norm(call, x, weight, bias, n, c, size, groups, eps):
    y = F.group_norm(x, groups, weight, bias, eps)
    if not (call.wants(1) or call.wants(2)):
        return y, None, None
    moments = _moments(x.reshape([n, groups, -1]), [2], eps)
    return y, *(each.reshape([n, groups]) for each in moments)


def _batch_norm(call, x, weight, bias, mean, var, training: bool, momentum: float, eps: float):
    """The result, and mean and inverse deviation of the batch where they are read; moves mean and var."""
    y = F.batch_norm(x, mean, var, weight, bias, training, momentum, eps)
    if not (call.wants(1) or call.wants(2)):
        return y, None, None
    if not training:
        none = ocl.zeros([0], dtype=x.dtype, device=x.device)
        return y, none, none
    moments = _moments(x, [i for i in range(x.ndim) if i != 1], eps)
    return y, *(each.reshape([-1]) for each in moments)


@operator("aten._native_batch_norm_legit_no_training.default", call=True)
def batch_norm_no_training(call, x, weight, bias, mean, var, momentum, eps):
    return _batch_norm(call, x, weight, bias, mean, var, call.trains(False), momentum, eps)


@operator("aten._native_batch_norm_legit_functional.default", call=True, flag=5)
def batch_norm_functional(call, x, weight, bias, mean, var, training, momentum, eps):
    training = call.trains(training)
    if training:
        mean, var = mean.clone(), var.clone()
    return *_batch_norm(call, x, weight, bias, mean, var, training, momentum, eps), mean, var


@operator("aten._native_batch_norm_legit.no_stats", call=True)
def batch_norm_no_stats(call, x, weight, bias, training, momentum, eps):
    return _batch_norm(call, x, weight, bias, None, None, True, momentum, eps)


def _softmax_of(function):
    def softmax(x, dim, half_to_float=False):
        return function(x, dim, ocl.float32) if half_to_float else function(x, dim)

    return softmax


def _softmax_int(function):
    def softmax(x, dim, dtype=None):
        return function(x, dim) if dtype is None else function(x, dim, dtype)

    return softmax


operator("aten._softmax.default")(_softmax_of(ocl.softmax))
operator("aten._log_softmax.default")(_softmax_of(ocl.log_softmax))
operator("aten.softmax.int")(_softmax_int(ocl.softmax))
operator("aten.log_softmax.int")(_softmax_int(ocl.log_softmax))


@operator("aten._safe_softmax.default")
def safe_softmax(x, dim, dtype=None):
    hidden = ocl.amax(x, [dim], keepdim=True) == -math.inf
    y = _softmax_int(ocl.softmax)(x.masked_fill(hidden, 0.0), dim, dtype)
    return y.masked_fill(hidden, 0.0)
