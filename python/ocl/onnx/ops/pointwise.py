"""Arithmetic, element by element, with NumPy's broadcasting; results have the dtype of the first input."""

import functools

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import DTYPES, FLOATING, dtype_of, scalar

F = ocl.nn.functional

_UNARY = {
    "Abs": ocl.abs,
    "Acos": ocl.acos,
    "Acosh": ocl.acosh,
    "Asin": ocl.asin,
    "Asinh": ocl.asinh,
    "Atan": ocl.atan,
    "Atanh": ocl.atanh,
    "Ceil": ocl.ceil,
    "Cos": ocl.cos,
    "Cosh": ocl.cosh,
    "Erf": ocl.erf,
    "Exp": ocl.exp,
    "Floor": ocl.floor,
    "Log": ocl.log,
    "Neg": ocl.neg,
    "Reciprocal": ocl.reciprocal,
    "Round": ocl.round,
    "Sign": ocl.sign,
    "Sin": ocl.sin,
    "Sinh": ocl.sinh,
    "Sqrt": ocl.sqrt,
    "Tan": ocl.tan,
    "Tanh": ocl.tanh,
}


@operator(" ".join(_UNARY))
def unary(call, x):
    return _UNARY[call.name](x)


@operator("Add", numbers=(0, 1))
def add(call, a, b):
    return a + b


@operator("Sub", numbers=(0, 1))
def sub(call, a, b):
    return a - b


@operator("Mul", numbers=(0, 1))
def mul(call, a, b):
    return a * b


@operator("Div")
def div(call, a, b):
    return a / b if a.dtype in FLOATING else ocl.div_trunc(a, b)


@operator("Pow", numbers=(1,))
def power(call, x, exponent):
    if x.dtype not in FLOATING and getattr(exponent, "dtype", None) in FLOATING:
        return x.to(exponent.dtype).pow(exponent).to(x.dtype)
    return x.pow(exponent).to(x.dtype)


@operator("Mod", until=28)
def mod(call, a, b):
    return ocl.fmod(a, b) if call.get("fmod", 0) else ocl.remainder(a, b)


@operator("Min")
def minimum(call, *inputs):
    return functools.reduce(ocl.minimum, inputs)


@operator("Max")
def maximum(call, *inputs):
    return functools.reduce(ocl.maximum, inputs)


@operator("Sum")
def total(call, *inputs):
    return functools.reduce(lambda a, b: a + b, inputs)


@operator("Mean")
def mean(call, *inputs):
    return total(call, *inputs) / len(inputs)


@operator("Clip", host=(1, 2))
def clip(call, x, low=None, high=None):
    if call.version < 11:
        low, high = call.get("min"), call.get("max")
    low, high = scalar(low), scalar(high)
    if low is not None and high is not None and low > high:
        return ocl.full_like(x, high)
    if low is None and high is None:
        return x
    if not x.dtype.is_floating_point:  # a missing bound is infinite, which would promote them
        limits = ocl.iinfo(x.dtype)
        low, high = limits.min if low is None else low, limits.max if high is None else high
    return ocl.clamp(x, low, high)


def _foreign(attributes, version: int) -> str:
    return "" if attributes.get("to") in DTYPES else f"no tensors of ONNX's dtype {attributes.get('to')}"


@operator("Cast", until=28, refuses=_foreign)
def cast(call, x):
    return x.to(dtype_of(call["to"]))


@operator("BitCast", until=26, refuses=_foreign)
def bit_cast(call, x):
    to = dtype_of(call["to"])
    if to.itemsize != x.dtype.itemsize:
        raise ValueError(f"a dtype of {x.dtype.itemsize} bytes expected, got {to}")
    return x.contiguous().view(to)


@operator("CastLike", until=25)
def cast_like(call, x, like):
    return x.to(like.dtype)
