"""Softmax, its relatives, and the losses over it."""

import math

import ocl
from ocl.onnx.table import operator

F = ocl.nn.functional


def _along(call, x, function):
    """Applied along one axis; before version 13 along all dimensions from the axis on."""
    if call.version >= 13:
        return function(x, call.get("axis", -1))
    axis = call.get("axis", 1) % max(x.ndim, 1)
    flat = x.reshape([math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])
    return function(flat, 1).reshape(x.shape)


@operator("Softmax")
def softmax(call, x):
    return _along(call, x, ocl.softmax)


@operator("LogSoftmax")
def log_softmax(call, x):
    return _along(call, x, ocl.log_softmax)


@operator("Hardmax")
def hardmax(call, x):
    def hot(x, axis):
        sizes = [x.shape[axis] if i == axis % x.ndim else 1 for i in range(x.ndim)]
        places = ocl.arange(x.shape[axis], device=x.device).reshape(sizes)
        return (ocl.argmax(x, axis, True) == places).to(x.dtype)

    return _along(call, x, hot)


@operator("NegativeLogLikelihoodLoss")
def nll_loss(call, x, target, weight=None):
    target = target if target.dtype == ocl.int64 else target.to(ocl.int64)
    ignored = call.get("ignore_index", -(2**31))
    return F.nll_loss(x, target, weight, ignored, call.get("reduction", "mean"))


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(call, x, target, weight=None):
    log_probabilities = ocl.log_softmax(x, 1)
    return nll_loss(call, log_probabilities, target, weight), log_probabilities
