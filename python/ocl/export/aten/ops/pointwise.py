"""Arithmetic, element by element, with broadcasting."""

import ocl
from ocl.export.aten.table import operator, operators

_UNARY = (
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "cos", "cosh",
    "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "frac", "lgamma", "log", "log10",
    "log1p", "log2", "logical_not", "neg", "reciprocal", "round", "rsqrt", "sgn", "sign", "signbit", "sin",
    "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
operators("pointwise", {f"aten.{name}.default": getattr(ocl, name) for name in _UNARY})

operators(
    "pointwise",
    {
        "aten.add.Tensor": ocl.add,
        "aten.sub.Tensor": ocl.sub,
        "aten.mul.Tensor": ocl.mul,
        "aten.mul.Scalar": ocl.mul,
        "aten.div.Tensor": ocl.div,
        "aten.div.Scalar": ocl.div,
        "aten.div.Tensor_mode": ocl.div,
        "aten.div.Scalar_mode": ocl.div,
        "aten.floor_divide.default": ocl.floor_divide,
        "aten.pow.Tensor_Scalar": ocl.pow,
        "aten.pow.Tensor_Tensor": ocl.pow,
        "aten.pow.Scalar": ocl.pow,
        "aten.fmod.Tensor": ocl.fmod,
        "aten.fmod.Scalar": ocl.fmod,
        "aten.remainder.Tensor": ocl.remainder,
        "aten.remainder.Scalar": ocl.remainder,
        "aten.remainder.Scalar_Tensor": ocl.remainder,
        "aten.maximum.default": ocl.maximum,
        "aten.minimum.default": ocl.minimum,
        "aten.fmax.default": ocl.fmax,
        "aten.fmin.default": ocl.fmin,
        "aten.atan2.default": ocl.atan2,
        "aten.hypot.default": ocl.hypot,
        "aten.copysign.Tensor": ocl.copysign,
        "aten.copysign.Scalar": ocl.copysign,
        "aten.logaddexp.default": ocl.logaddexp,
        "aten.logaddexp2.default": ocl.logaddexp2,
        "aten.xlogy.Tensor": ocl.xlogy,
        "aten.lerp.Scalar": ocl.lerp,
        "aten.lerp.Tensor": ocl.lerp,
        "aten.addcmul.default": ocl.addcmul,
        "aten.addcdiv.default": ocl.addcdiv,
        "aten.nan_to_num.default": ocl.nan_to_num,
        "aten.bitwise_and.Tensor": ocl.bitwise_and,
        "aten.bitwise_and.Scalar": ocl.bitwise_and,
        "aten.bitwise_or.Tensor": ocl.bitwise_or,
        "aten.bitwise_or.Scalar": ocl.bitwise_or,
        "aten.bitwise_xor.Tensor": ocl.bitwise_xor,
        "aten.bitwise_xor.Scalar": ocl.bitwise_xor,
        "aten.bitwise_left_shift.Tensor": ocl.bitwise_left_shift,
        "aten.bitwise_left_shift.Tensor_Scalar": ocl.bitwise_left_shift,
        "aten.bitwise_right_shift.Tensor": ocl.bitwise_right_shift,
        "aten.bitwise_right_shift.Tensor_Scalar": ocl.bitwise_right_shift,
    },
)


@operator("aten.add.Scalar")
def add_scalar(x, other, alpha=1):
    return ocl.add(x, other, alpha=alpha)


@operator("aten.sub.Scalar")
def sub_scalar(x, other, alpha=1):
    return ocl.sub(x, other, alpha=alpha)


@operator("aten.rsub.Scalar")
def rsub_scalar(x, other, alpha=1):
    return ocl.rsub(x, other, alpha=alpha)


@operator("aten.round.decimals")
def round_decimals(x, *, decimals):
    return ocl.round(x, decimals=decimals)


@operator("aten.clamp.default aten.clamp.Tensor")
def clamp(x, low=None, high=None):
    return ocl.clamp(x, low, high)


@operator("aten.clamp_min.default aten.clamp_min.Tensor")
def clamp_min(x, low):
    return ocl.clamp(x, low, None)


@operator("aten.clamp_max.default aten.clamp_max.Tensor")
def clamp_max(x, high):
    return ocl.clamp(x, None, high)
