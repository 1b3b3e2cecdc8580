"""The C expression of each of Inductor's operators."""

from __future__ import annotations

from collections.abc import Callable

import sympy
import torch
from torch._inductor.codegen.common import CSEVariable, IndentedBuffer, OpOverrides
from torch._inductor.utils import get_bounds_index_expr
from torch._inductor.virtualized import V

from torch_ocl.inductor.types import computed_type, converted, is_floating, literal

# Functions of the library's kernels (dlprim/ops/pointwise/functions.cl), in capitals, that vectorize; the
# others are OpenCL's.
_FUNCTIONS = {
    "acos": "ACOS",
    "acosh": "ACOSH",
    "asin": "ASIN",
    "asinh": "ASINH",
    "atan": "ATAN",
    "atan2": "ATAN2",
    "atanh": "ATANH",
    "copysign": "copysign",
    "cos": "COS",
    "cosh": "COSH",
    "digamma": "DIGAMMA",
    "erf": "ERF",
    "erfc": "ERFC",
    "erfinv": "ERFINV",
    "exp": "EXP",
    "exp2": "EXP2",
    "expm1": "EXPM1",
    "fma": "fma",
    "hypot": "HYPOT",
    "lgamma": "lgamma",
    "log": "LOG",
    "log10": "LOG10",
    "log1p": "LOG1P",
    "log2": "LOG2",
    "nextafter": "nextafter",
    "polygamma": "POLYGAMMA",
    "sigmoid": "SIGMOID",
    "sin": "SIN",
    "sinh": "SINH",
    "sqrt": "sqrt",
    "tan": "TAN",
    "tanh": "TANH",
}
_ROUNDINGS = {"ceil": "ceil", "floor": "floor", "round": "rint", "trunc": "trunc"}


def _type_of(*values: CSEVariable) -> str:
    """The C type that an operator on them computes in."""
    dtypes = [v.dtype for v in values if isinstance(v, CSEVariable) and v.dtype is not None]
    result = dtypes[0]
    for each in dtypes[1:]:
        result = torch.promote_types(result, each)
    return computed_type(result)


def _call(function: str) -> Callable[..., str]:
    def expression(*values: CSEVariable) -> str:
        ctype = _type_of(*values)
        real = ctype if is_floating(ctype) else "float"
        return f"{function}({', '.join(f'({real})({v})' for v in values)})"

    return expression


def _round(function: str) -> Callable[[CSEVariable], str]:
    return lambda x: f"{function}({x})" if is_floating(_type_of(x)) else f"{x}"


class OclOverrides(OpOverrides):
    """Every operator as text; PyTorch's semantics where C's differ."""

    @staticmethod
    def constant(value: bool | int | float, dtype: torch.dtype) -> str:
        return literal(value, computed_type(dtype))

    @staticmethod
    def index_expr(expr: sympy.Expr, dtype: torch.dtype) -> CSEVariable:
        index = dtype in (torch.int32, torch.int64)
        target = V.kernel.get_index_dtype_as_torch_dtype() if index else dtype
        return OclOverrides.value_expr(expr, target)

    @staticmethod
    def value_expr(expr: sympy.Expr, dtype: torch.dtype) -> CSEVariable:
        ctype = computed_type(dtype)
        text = V.kernel.index_to_str(V.kernel.prepare_indexing(expr))
        return V.kernel.cse.generate(
            V.kernel.compute, converted(text, None, ctype), bounds=get_bounds_index_expr(expr), dtype=dtype
        )

    @staticmethod
    def to_dtype(
        x: CSEVariable,
        dtype: torch.dtype,
        src_dtype: torch.dtype | None = None,
        use_compute_types: bool = True,
    ) -> str:
        return converted(str(x), _type_of(x), computed_type(dtype))

    @staticmethod
    def to_dtype_bitcast(x: CSEVariable, dtype: torch.dtype, src_dtype: torch.dtype) -> str:
        bits = f"({computed_type(src_dtype)})({x})"
        if src_dtype == torch.float16:
            bits = f"float16_bits({x})"
        elif src_dtype == torch.bfloat16:
            bits = f"to_bfloat16({x})"
        if dtype == torch.float16:
            return f"float16_of_bits(as_ushort({bits}))"
        if dtype == torch.bfloat16:
            return f"as_float((uint)as_ushort({bits}) << 16)"
        if torch.bool in (dtype, src_dtype):
            return f"({x}) != 0"
        return f"as_{computed_type(dtype)}({bits})"

    @staticmethod
    def masked(mask: CSEVariable, body: Callable[[], CSEVariable], other: bool | int | float) -> CSEVariable:
        kernel, scope = V.kernel, IndentedBuffer()
        with kernel.swap_buffers(scope), scope.indent():
            result = body()
        var = kernel.cse.newvar(dtype=result.dtype, shape=result.shape)
        ctype = computed_type(result.dtype)
        kernel.compute.writeline(f"{ctype} {var} = {literal(other, ctype)};")
        kernel.compute.writeline(f"if ({mask}) {{")
        kernel.compute.splice(scope)
        kernel.compute.writeline(f"  {var} = {result};")
        kernel.compute.writeline("}")
        return var

    @staticmethod
    def where(condition: CSEVariable, x: CSEVariable, y: CSEVariable) -> str:
        return f"{condition} ? {x} : {y}"

    # ---- arithmetic

    @staticmethod
    def truediv(a: CSEVariable, b: CSEVariable) -> str:
        return f"{a} / {b}"

    @staticmethod
    def int_truediv(a: CSEVariable, b: CSEVariable) -> str:
        return f"(float)({a}) / (float)({b})"

    @staticmethod
    def truncdiv(a: CSEVariable, b: CSEVariable) -> str:
        return f"trunc({a} / {b})" if is_floating(_type_of(a, b)) else f"whole_quotient({a}, {b})"

    @staticmethod
    def floordiv(a: CSEVariable, b: CSEVariable) -> str:
        return f"FLOOR_DIVIDE({a}, {b})" if is_floating(_type_of(a, b)) else f"floored_quotient({a}, {b})"

    @staticmethod
    def fmod(a: CSEVariable, b: CSEVariable) -> str:
        return f"FMOD({a}, {b})" if is_floating(_type_of(a, b)) else f"whole_remainder({a}, {b})"

    mod = fmod

    @staticmethod
    def remainder(a: CSEVariable, b: CSEVariable) -> str:
        return f"REMAINDER({a}, {b})" if is_floating(_type_of(a, b)) else f"floored_remainder({a}, {b})"

    @staticmethod
    def pow(a: CSEVariable, b: CSEVariable) -> str:
        return f"POW({a}, {b})" if is_floating(_type_of(a, b)) else f"integer_power({a}, {b})"

    @staticmethod
    def reciprocal(x: CSEVariable) -> str:
        return f"1 / {x}"

    @staticmethod
    def rsqrt(x: CSEVariable) -> str:
        return f"1 / sqrt({x})"

    @staticmethod
    def neg(x: CSEVariable) -> str:
        return f"-{x}"

    @staticmethod
    def abs(x: CSEVariable) -> str:
        ctype = _type_of(x)
        if is_floating(ctype):
            return f"fabs({x})"
        return f"{x}" if ctype.startswith("u") or ctype == "bool" else f"{x} < 0 ? -{x} : {x}"

    @staticmethod
    def sign(x: CSEVariable) -> str:
        return f"({_type_of(x)})(({x} > 0) - ({x} < 0))"

    @staticmethod
    def relu(x: CSEVariable) -> str:
        return f"{x} < 0 ? ({_type_of(x)})0 : {x}"

    @staticmethod
    def maximum(a: CSEVariable, b: CSEVariable) -> str:
        return f"MAXIMUM({a}, {b})" if is_floating(_type_of(a, b)) else f"{a} < {b} ? {b} : {a}"

    @staticmethod
    def minimum(a: CSEVariable, b: CSEVariable) -> str:
        return f"MINIMUM({a}, {b})" if is_floating(_type_of(a, b)) else f"{b} < {a} ? {b} : {a}"

    @staticmethod
    def ldexp(x: CSEVariable, n: CSEVariable) -> str:
        return f"ldexp({x}, (int)({n}))"

    @staticmethod
    def frexp(x: CSEVariable) -> tuple[CSEVariable, CSEVariable]:
        cse = V.kernel.cse
        key = f"frexp({x})"
        if cse.contains(key):
            return cse.get(key)
        mantissa = cse.newvar(dtype=x.dtype, shape=x.shape)
        exponent = cse.newvar(dtype=torch.int32, shape=x.shape)
        V.kernel.compute.writeline(f"int {exponent} = 0;")
        V.kernel.compute.writeline(
            f"{_type_of(x)} {mantissa} = isfinite({x}) ? frexp({x}, &{exponent}) : {x};"
        )
        cse.put(key, (mantissa, exponent))
        return mantissa, exponent

    # ---- questions

    @staticmethod
    def eq(a: CSEVariable, b: CSEVariable) -> str:
        return f"float_equal({a}, {b})" if _type_of(a, b) == "float" else f"{a} == {b}"

    @staticmethod
    def ne(a: CSEVariable, b: CSEVariable) -> str:
        return f"!float_equal({a}, {b})" if _type_of(a, b) == "float" else f"{a} != {b}"

    @staticmethod
    def isnan(x: CSEVariable) -> str:
        return f"isnan({x}) != 0" if is_floating(_type_of(x)) else "0"

    @staticmethod
    def isinf(x: CSEVariable) -> str:
        return f"isinf({x}) != 0" if is_floating(_type_of(x)) else "0"

    @staticmethod
    def signbit(x: CSEVariable) -> str:
        ctype = _type_of(x)
        bits = {"float": f"as_int({x})", "double": f"as_long({x})"}.get(ctype, f"{x}")
        return f"{bits} < 0"

    @staticmethod
    def logical_and(a: CSEVariable, b: CSEVariable) -> str:
        return f"({a} != 0) & ({b} != 0)"

    @staticmethod
    def logical_or(a: CSEVariable, b: CSEVariable) -> str:
        return f"({a} != 0) | ({b} != 0)"

    @staticmethod
    def logical_xor(a: CSEVariable, b: CSEVariable) -> str:
        return f"({a} != 0) != ({b} != 0)"

    @staticmethod
    def logical_not(a: CSEVariable) -> str:
        return f"{a} == 0"

    @staticmethod
    def bitwise_not(x: CSEVariable) -> str:
        return f"!{x}" if _type_of(x) == "bool" else f"~{x}"

    @staticmethod
    def bitwise_left_shift(a: CSEVariable, b: CSEVariable) -> str:
        bits = 8 * a.dtype.itemsize
        return f"(ulong)({b}) >= {bits} ? 0 : {a} << {b}"

    @staticmethod
    def bitwise_right_shift(a: CSEVariable, b: CSEVariable) -> str:
        bits = 8 * a.dtype.itemsize
        return f"{a} >> ((ulong)({b}) >= {bits} ? {bits - 1} : (int)({b}))"

    # ---- random numbers: words of Philox, as PyTorch's Triton kernels draw them

    @staticmethod
    def rand(seed: CSEVariable, offset: CSEVariable) -> str:
        return f"philox_uniform({seed}, {offset})"

    @staticmethod
    def randn(seed: CSEVariable, offset: CSEVariable) -> str:
        return f"philox_normal({seed}, {offset})"

    @staticmethod
    def randint64(seed: CSEVariable, offset: CSEVariable, low: CSEVariable, high: CSEVariable) -> str:
        return f"philox_integer({seed}, {offset}, {low}, {high})"


for _name, _function in _FUNCTIONS.items():
    setattr(OclOverrides, _name, staticmethod(_call(_function)))
for _name, _function in _ROUNDINGS.items():
    setattr(OclOverrides, _name, staticmethod(_round(_function)))
