"""Activations."""

import ocl
from ocl.onnx.table import operator

F = ocl.nn.functional


@operator("Relu")
def relu(call, x):
    return ocl.relu(x)


@operator("Sigmoid")
def sigmoid(call, x):
    return ocl.sigmoid(x)


@operator("HardSigmoid")
def hard_sigmoid(call, x):
    return ocl.clamp(x * call.get("alpha", 0.2) + call.get("beta", 0.5), 0, 1)


@operator("HardSwish")
def hard_swish(call, x):
    return F.hardswish(x)


@operator("LeakyRelu")
def leaky_relu(call, x):
    return F.leaky_relu(x, call.get("alpha", 0.01))


@operator("PRelu")
def prelu(call, x, slope):
    return ocl.where(x < 0, slope * x, x)


@operator("Elu")
def elu(call, x):
    return F.elu(x, call.get("alpha", 1.0))


@operator("Selu")
def selu(call, x):
    return F.elu(x, call.get("alpha", 1.67326319217681884765625)) * call.get(
        "gamma", 1.05070102214813232421875
    )


@operator("Celu", until=28)
def celu(call, x):
    return F.celu(x, call.get("alpha", 1.0))


@operator("Gelu")
def gelu(call, x):
    return F.gelu(x, approximate=call.get("approximate", "none"))


@operator("Mish")
def mish(call, x):
    return F.mish(x)


@operator("Swish", until=24)
def swish(call, x):
    alpha = call.get("alpha", 1.0)
    return F.silu(x) if alpha == 1 else x * ocl.sigmoid(x * alpha)


@operator("SwiGLU", until=28)
def swiglu(call, a, b):
    return swish(call, a) * b


@operator("Softplus")
def softplus(call, x):
    return F.softplus(x, 1.0, 20.0)


@operator("Softsign")
def softsign(call, x):
    return F.softsign(x)


@operator("ThresholdedRelu")
def thresholded_relu(call, x):
    return F.threshold(x, call.get("alpha", 1.0), 0.0)


@operator("Shrink")
def shrink(call, x):
    bias, bound = call.get("bias", 0.0), call.get("lambd", 0.5)
    zero = ocl.zeros_like(x)
    return ocl.where(x < -bound, x + bias, ocl.where(x > bound, x - bias, zero)).to(x.dtype)
