"""Random numbers, by ocl's generators; a node's seed is not used."""

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import ONNX_DTYPES, dtype_of

_FLOAT = ONNX_DTYPES[ocl.float32]


@operator("RandomNormal RandomUniform", folds=False)
def random(call):
    return _drawn(call, call["shape"], dtype_of(call.get("dtype", _FLOAT)), call.device)


@operator("RandomNormalLike RandomUniformLike", folds=False)
def random_like(call, x):
    dtype = dtype_of(call["dtype"]) if call.get("dtype") else x.dtype
    return _drawn(call, list(x.shape), dtype, x.device)


def _drawn(call, shape, dtype, device):
    if "Normal" in call.name:
        return ocl.randn(shape, dtype=dtype, device=device) * call.get("scale", 1.0) + call.get("mean", 0.0)
    low, high = call.get("low", 0.0), call.get("high", 1.0)
    return ocl.rand(shape, dtype=dtype, device=device) * (high - low) + low


@operator("Bernoulli", folds=False)
def bernoulli(call, x):
    dtype = dtype_of(call["dtype"]) if call.get("dtype") else x.dtype
    return ocl.bernoulli(x).to(dtype)


@operator("Multinomial", folds=False)
def multinomial(call, x):
    dtype = dtype_of(call.get("dtype", ONNX_DTYPES[ocl.int32]))
    return ocl.multinomial(ocl.softmax(x, 1), call.get("sample_size", 1), True).to(dtype)
