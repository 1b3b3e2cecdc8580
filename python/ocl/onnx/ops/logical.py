"""Comparisons, truth and bits."""

import ocl
from ocl.onnx.table import operator

_BINARY = {
    "And": ocl.logical_and,
    "Or": ocl.logical_or,
    "Xor": ocl.logical_xor,
    "Equal": ocl.eq,
    "Greater": ocl.gt,
    "GreaterOrEqual": ocl.ge,
    "Less": ocl.lt,
    "LessOrEqual": ocl.le,
    "BitwiseAnd": ocl.bitwise_and,
    "BitwiseOr": ocl.bitwise_or,
    "BitwiseXor": ocl.bitwise_xor,
}


@operator(" ".join(_BINARY))
def binary(call, a, b):
    return _BINARY[call.name](a, b)


@operator("Not")
def logical_not(call, x):
    return ocl.logical_not(x)


@operator("BitwiseNot")
def bitwise_not(call, x):
    return ocl.bitwise_not(x)


@operator("BitShift", until=28)
def bit_shift(call, x, places):
    return (ocl.bitwise_left_shift if call["direction"] == "LEFT" else ocl.bitwise_right_shift)(x, places)


@operator("Where")
def where(call, condition, x, y):
    return ocl.where(condition, x, y)


@operator("IsNaN")
def is_nan(call, x):
    return ocl.isnan(x)


@operator("IsInf")
def is_inf(call, x):
    positive, negative = call.get("detect_positive", 1), call.get("detect_negative", 1)
    if positive and negative:
        return ocl.isinf(x)
    if not positive and not negative:
        return ocl.zeros_like(x, dtype=ocl.bool_)
    return ocl.isposinf(x) if positive else ocl.isneginf(x)
