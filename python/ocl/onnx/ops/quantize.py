"""Quantised numbers of 8 and 16 bits, and the products of them; sums are exact."""

import ocl
from ocl.onnx.ops.conv import convolved
from ocl.onnx.table import operator
from ocl.onnx.values import dtype_of


def _shaped(parameter, x, axis: int, block: int):
    """A scale or zero point in a shape that broadcasts against the input."""
    if parameter is None or parameter.ndim == 0 or parameter.shape[0] == 1 and parameter.ndim == 1:
        return parameter if parameter is None else parameter.reshape([])
    axis %= x.ndim
    if parameter.ndim == 1:
        return parameter.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return ocl.repeat_interleave(parameter, block, axis).narrow(axis, 0, x.shape[axis])


def _quantized(x, scale, zero, dtype):
    if dtype not in (ocl.uint8, ocl.int8, ocl.int16):
        raise ValueError(f"uint8, int8 or int16 expected for quantised numbers, got {dtype}")
    shifted = ocl.round(x / scale)
    shifted = shifted if zero is None else shifted + zero.to(shifted.dtype)
    limits = ocl.iinfo(dtype)
    return ocl.clamp(shifted, limits.min, limits.max).to(dtype)


@operator("QuantizeLinear", until=28)
def quantize_linear(call, x, scale, zero=None):
    axis, block = call.get("axis", 1), call.get("block_size", 0)
    dtype = zero.dtype if zero is not None else dtype_of(call.get("output_dtype", 0) or 2)
    return _quantized(x, _shaped(scale, x, axis, block), _shaped(zero, x, axis, block), dtype)


@operator("DequantizeLinear", until=28)
def dequantize_linear(call, x, scale, zero=None):
    axis, block = call.get("axis", 1), call.get("block_size", 0)
    dtype = dtype_of(call["output_dtype"]) if call.get("output_dtype") else scale.dtype
    y = x.to(ocl.int32)
    y = y if zero is None else y - _shaped(zero, x, axis, block).to(ocl.int32)
    return (y.to(ocl.float32) * _shaped(scale, x, axis, block).to(ocl.float32)).to(dtype)


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(call, x):
    low, high = ocl.clamp(ocl.amin(x), max=0.0), ocl.clamp(ocl.amax(x), min=0.0)
    scale = (high - low) / 255
    zero = ocl.clamp(ocl.round(-low / scale), 0, 255).to(ocl.uint8)
    return _quantized(x, scale, zero, ocl.uint8), scale, zero


def _centred(x, zero, rows: bool = False):
    """Whole numbers without their zero point, in float64, whose sums of products are exact."""
    x = x.to(ocl.float64)
    if zero is None:
        return x
    zero = zero.to(ocl.float64)
    return x - (zero.unsqueeze(-1) if rows and zero.ndim else zero)


@operator("MatMulInteger")
def matmul_integer(call, a, b, a_zero=None, b_zero=None):
    return ocl.matmul(_centred(a, a_zero, rows=True), _centred(b, b_zero)).to(ocl.int32)


@operator("QLinearMatMul")
def qlinear_matmul(call, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    products = ocl.matmul(_centred(a, a_zero, rows=True), _centred(b, b_zero))
    scale = a_scale.to(ocl.float64) * b_scale.to(ocl.float64) / y_scale.to(ocl.float64)
    return _quantized(products * scale, 1, y_zero, y_zero.dtype)


@operator("ConvInteger")
def conv_integer(call, x, w, x_zero=None, w_zero=None):
    return convolved(call, _centred(x, x_zero), _centred(w, _filters(w_zero, w))).to(ocl.int32)


@operator("QLinearConv")
def qlinear_conv(call, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b=None):
    bias = None if b is None else b.to(ocl.float64)
    sums = convolved(call, _centred(x, x_zero), _centred(w, _filters(w_zero, w)), bias)
    scale = x_scale.to(ocl.float64) * w_scale.to(ocl.float64) / y_scale.to(ocl.float64)
    if scale.ndim and scale.shape[0] > 1:
        scale = scale.reshape([-1] + [1] * (x.ndim - 2))
    return _quantized(sums * scale, 1, y_zero, y_zero.dtype)


def _filters(zero, w):
    """A zero point for each filter, along the filters."""
    return zero if zero is None or zero.ndim == 0 else zero.reshape([-1] + [1] * (w.ndim - 1))
