"""Sizes and indices, which Inductor has as expressions of sympy, in OpenCL C."""

from __future__ import annotations

import sympy
from torch.utils._sympy.printers import ExprPrinter


class IndexPrinter(ExprPrinter):
    """Prints whole numbers; those that are none appear in sizes of resampling alone."""

    def _print_Integer(self, expr: sympy.Expr) -> str:
        value = int(expr)
        return str(value) if -(1 << 31) < value < 1 << 31 else f"{value}L"

    def _print_FloorDiv(self, expr: sympy.Expr) -> str:
        a, b = expr.args
        return self._floored("/", "floored_quotient", a, b)

    def _print_ModularIndexing(self, expr: sympy.Expr) -> str:
        a, divisor, modulus = expr.args
        quotient = self._print(a) if divisor == 1 else self._floored("/", "floored_quotient", a, divisor)
        if a.is_nonnegative:
            return f"(({quotient}) % ({self._print(modulus)}))"
        return f"floored_remainder({quotient}, {self._print(modulus)})"

    def _print_PythonMod(self, expr: sympy.Expr) -> str:
        a, b = expr.args
        return self._floored("%", "floored_remainder", a, b)

    def _floored(self, operator: str, function: str, a: sympy.Expr, b: sympy.Expr) -> str:
        left, right = self._print(a), self._print(b)
        if a.is_nonnegative and b.is_positive:
            return f"(({left}) {operator} ({right}))"
        return f"{function}({left}, {right})"

    def _extreme(self, expr: sympy.Expr, sign: str) -> str:
        result, *others = (f"({self._print(each)})" for each in expr.args)
        for other in others:
            result = f"({result} {sign} {other} ? {result} : {other})"
        return result

    def _print_Min(self, expr: sympy.Expr) -> str:
        return self._extreme(expr, "<")

    def _print_Max(self, expr: sympy.Expr) -> str:
        return self._extreme(expr, ">")

    def _print_Abs(self, expr: sympy.Expr) -> str:
        inner = self._print(expr.args[0])
        return f"(({inner}) < 0 ? -({inner}) : ({inner}))"

    def _print_Where(self, expr: sympy.Expr) -> str:
        condition, first, second = (f"({self._print(each)})" for each in expr.args)
        return f"({condition} ? {first} : {second})"

    def _print_Piecewise(self, expr: sympy.Expr) -> str:
        result = "0"
        for value, condition in reversed(expr.args):
            result = f"({self._print(condition)} ? ({self._print(value)}) : {result})"
        return result

    def _print_BooleanTrue(self, expr: sympy.Expr) -> str:
        return "1"

    def _print_BooleanFalse(self, expr: sympy.Expr) -> str:
        return "0"

    def _print_And(self, expr: sympy.Expr) -> str:
        return "(" + " && ".join(f"({self._print(each)})" for each in expr.args) + ")"

    def _print_Or(self, expr: sympy.Expr) -> str:
        return "(" + " || ".join(f"({self._print(each)})" for each in expr.args) + ")"

    def _print_Not(self, expr: sympy.Expr) -> str:
        return f"(!({self._print(expr.args[0])}))"

    def _print_Eq(self, expr: sympy.Expr) -> str:
        return f"(({self._print(expr.args[0])}) == ({self._print(expr.args[1])}))"

    def _print_Ne(self, expr: sympy.Expr) -> str:
        return f"(({self._print(expr.args[0])}) != ({self._print(expr.args[1])}))"

    def _print_PowByNatural(self, expr: sympy.Expr) -> str:
        return f"integer_power({self._print(expr.args[0])}, {self._print(expr.args[1])})"

    def _print_LShift(self, expr: sympy.Expr) -> str:
        return f"((long)({self._print(expr.args[0])}) << ({self._print(expr.args[1])}))"

    def _print_RShift(self, expr: sympy.Expr) -> str:
        return f"((long)({self._print(expr.args[0])}) >> ({self._print(expr.args[1])}))"

    # Numbers with a fraction.

    def _print_Float(self, expr: sympy.Expr) -> str:
        return str(int(expr)) if expr.is_integer else f"(REAL_NUMBER)({float(expr)!r})"

    def _print_ToFloat(self, expr: sympy.Expr) -> str:
        return f"(REAL_NUMBER)({self._print(expr.args[0])})"

    def _print_IntTrueDiv(self, expr: sympy.Expr) -> str:
        a, b = expr.args
        return f"((REAL_NUMBER)({self._print(a)}) / (REAL_NUMBER)({self._print(b)}))"

    def _print_FloatTrueDiv(self, expr: sympy.Expr) -> str:
        return self._print_IntTrueDiv(expr)

    def _print_FloatPow(self, expr: sympy.Expr) -> str:
        a, b = expr.args
        return f"pow((REAL_NUMBER)({self._print(a)}), (REAL_NUMBER)({self._print(b)}))"

    def _called(self, function: str, expr: sympy.Expr) -> str:
        return f"(long){function}((REAL_NUMBER)({self._print(expr.args[0])}))"

    def _print_FloorToInt(self, expr: sympy.Expr) -> str:
        return self._called("floor", expr)

    _print_floor = _print_FloorToInt

    def _print_CeilToInt(self, expr: sympy.Expr) -> str:
        return self._called("ceil", expr)

    _print_ceiling = _print_CeilToInt

    def _print_TruncToInt(self, expr: sympy.Expr) -> str:
        return self._called("trunc", expr)

    def _print_RoundToInt(self, expr: sympy.Expr) -> str:
        return self._called("rint", expr)

    def _print_OpaqueUnaryFn_sqrt(self, expr: sympy.Expr) -> str:
        return f"sqrt((REAL_NUMBER)({self._print(expr.args[0])}))"
