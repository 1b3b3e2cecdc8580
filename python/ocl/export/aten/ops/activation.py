"""Activation functions."""

import ocl
from ocl.export.aten.table import operator, operators

F = ocl.nn.functional

operators(
    "activation",
    {
        f"aten.{name}.default": getattr(ocl, name)
        for name in (
            "relu", "relu6", "sigmoid", "silu", "hardswish", "hardsigmoid", "mish", "selu", "celu", "glu",
            "leaky_relu", "softplus", "softshrink", "hardshrink", "threshold", "gelu", "logit",
        )  # fmt: skip
    },
)  # fmt: skip


@operator("aten.prelu.default aten._prelu_kernel.default")
def prelu(x, weight):
    return ocl.where(x > 0, x, weight * x) if weight.ndim > 1 else F.prelu(x, weight)


@operator("aten.hardtanh.default")
def hardtanh(x, low=-1.0, high=1.0):
    return ocl.hardtanh(x, low, high)


@operator("aten.elu.default")
def elu(x, alpha=1, scale=1, input_scale=1):
    if input_scale == 1:
        y = ocl.elu(x, alpha)
    else:
        y = ocl.where(x > 0, x, alpha * ocl.expm1(ocl.clamp(x, None, 0) * input_scale))
    return y if scale == 1 else y * scale


@operator("aten.log_sigmoid.default")
def log_sigmoid(x):
    return ocl.logsigmoid(x)


@operator("aten.log_sigmoid_forward.default")
def log_sigmoid_forward(x):
    return ocl.logsigmoid(x), ocl.exp(-ocl.abs(x))
