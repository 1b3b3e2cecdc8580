"""Functions of numbers that are a few operators, or that NumPy computes on the host."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np
from ocl.shapes import is_shapes_only
from ocl.special.bessel import i0
from ocl.special.composed import multigammaln
from ocl.special.gamma_functions import igamma, igammac

__all__ = [
    "deg2rad",
    "einsum",
    "fix",
    "float_power",
    "frexp",
    "gcd",
    "i0",
    "igamma",
    "igammac",
    "lcm",
    "ldexp",
    "mvlgamma",
    "nextafter",
    "positive",
    "rad2deg",
]

fix, mvlgamma = _C.trunc, multigammaln


def positive(input: Tensor) -> Tensor:
    """The tensor itself; bool is refused. (torch.positive)"""
    if input.dtype == _C.bool_:
        raise ArgumentTypeError("positive: the + operator, on a bool tensor, is not supported")
    return input


def einsum(equation: str | Tensor, *operands: Any) -> Tensor:
    """Sums of products by letters, as ``"bij,bjk->bik"``; the operands follow, or a list of them.
    (torch.einsum)

    Lists of numbers below 52 may name the dimensions, each behind its operand, and one the result's.
    TypeError and ValueError for what does not fit.
    """
    if isinstance(equation, Tensor):
        given = (equation, *operands)
        has_result = len(given) % 2 == 1
        tensors, lists = given[: len(given) // 2 * 2 : 2], given[1::2]
        equation = ",".join(map(_letters, lists)) + ("->" + _letters(given[-1]) if has_result else "")
        operands = tensors
    return _C.einsum(equation, *operands)


def _letters(dims: Sequence[Any]) -> str:
    """The letters that stand for a list of numbers of dimensions."""
    if isinstance(dims, Tensor) or not isinstance(dims, Sequence):
        kind = type(dims).__name__
        raise TypeError(f"einsum: expected a list of dimensions behind each operand, got {kind}")
    names = []
    for dim in dims:
        if dim is not ... and not 0 <= dim < 52:
            raise ArgumentValueError(f"einsum: subscript {dim} is not within the valid range [0, 52)")
        names.append("..." if dim is ... else string.ascii_uppercase[dim] if dim < 26 else chr(dim - 26 + 97))
    return "".join(names)


def deg2rad(input: Tensor) -> Tensor:
    """Degrees as radians; integers give float32. (torch.deg2rad)"""
    return input * (math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Radians as degrees; integers give float32. (torch.rad2deg)"""
    return input * (180 / math.pi)


def float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """input ** exponent in float64 or complex128, which the device needs for it. (torch.float_power)"""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        kinds = f"{type(input).__name__} and {type(exponent).__name__}"
        raise TypeError(f"float_power: expected a tensor for input or exponent, got {kinds}")
    is_complex = any(
        isinstance(x, complex) or (isinstance(x, Tensor) and x.is_complex()) for x in (input, exponent)
    )
    dtype, number = (_C.complex128, complex) if is_complex else (_C.float64, float)
    base, power = (x.to(dtype) if isinstance(x, Tensor) else number(x) for x in (input, exponent))
    return _C.pow(base, power)


def ldexp(input: Tensor, other: Tensor | int) -> Tensor:
    """input * 2 ** other; integers give float32. (torch.ldexp)"""
    if not isinstance(other, Tensor):
        return input * 2.0**other
    product = input * _C.pow(2.0, other)
    keeps_dtype = input.is_floating_point() and not other.is_floating_point()
    return product.to(input.dtype) if keeps_dtype else product


class FRExp(NamedTuple):
    """Mantissas, and exponents as int32."""

    mantissa: Tensor
    exponent: Tensor


def frexp(input: Tensor) -> FRExp:
    """input as mantissa * 2 ** exponent, with 0.5 <= |mantissa| < 1 and exponents in int32. (torch.frexp)

    Zeros, infinities and NaN are their own mantissas, with the exponent 0. The mantissa is differentiable.
    """
    if not input.is_floating_point():
        raise ArgumentTypeError(f"frexp: only supports floating-point dtypes, got {input.dtype}")
    x = input.detach()
    x = x if x.dtype == _C.float64 else x.to(_C.float32)
    magnitude = x.abs()
    is_plain = _C.isfinite(x) & (magnitude != 0)
    # Far down log2 may be of a number that the device takes for 0, so that small ones are scaled up first.
    lift = 64 if x.dtype == _C.float32 else 128
    is_small = magnitude < 2.0**-lift
    lifted = _C.where(is_plain, _C.where(is_small, magnitude * 2.0**lift, magnitude), _C.ones_like(magnitude))
    exponent = lifted.log2().floor() + 1
    halves = (exponent / 2).floor()
    mantissa = lifted * _C.exp2(-halves) * _C.exp2(halves - exponent)
    exponent = exponent + (mantissa >= 1) - (mantissa < 0.5).to(x.dtype)  # log2 is rounded
    exponent = exponent - is_small.to(x.dtype) * lift
    exponent = _C.where(is_plain, exponent, _C.zeros_like(exponent))
    # In three steps, each of which stays in range.
    step = (exponent / 3).trunc()
    scaled = input.to(x.dtype)
    for part in (step, step, exponent - 2 * step):
        scaled = scaled * _C.exp2(-part)
    return FRExp(scaled.to(input.dtype), exponent.to(_C.int32))


def _on_host(function: Callable, input: Tensor, other: Tensor, dtype: object) -> Tensor:
    """function(*arrays) of the two, which broadcast, in `dtype`; waits for the device."""
    shape = np.broadcast_shapes(input.shape, other.shape)
    if is_shapes_only():
        return _C.empty(shape, dtype=dtype, device=input.device)
    arrays = [x.detach().to(dtype).numpy(force=True) for x in (input, other)]
    return _C.tensor(np.asarray(function(*arrays)), device=input.device)


def _of_integers(name: str, function: Callable, input: Tensor, other: Tensor) -> Tensor:
    dtype = _C.result_type(input, other)
    if dtype == _C.bool_ or dtype.is_floating_point:
        raise ArgumentTypeError(f"{name}: expected tensors of integers, got {input.dtype} and {other.dtype}")
    return _on_host(function, input, other, dtype)


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisors of integers, which broadcast; computed on the host. (torch.gcd)"""
    return _of_integers("gcd", np.gcd, input, other)


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiples of integers, which broadcast; computed on the host. (torch.lcm)"""
    return _of_integers("lcm", np.lcm, input, other)


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next number after each of input in the direction of other; computed on the host. (torch.nextafter)

    Takes float32, float64 and float16, and no gradient flows.
    """
    dtype = _C.result_type(input, other)
    if not dtype.is_floating_point or dtype == _C.bfloat16:
        raise ArgumentTypeError(
            f"nextafter: expected tensors of float16, float32 or float64, got {input.dtype} and {other.dtype}"
        )
    return _on_host(np.nextafter, input, other, dtype)


Tensor.__pos__ = positive
Tensor.fix = Tensor.trunc
for _name in __all__:
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, globals()[_name])
