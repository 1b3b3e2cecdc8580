"""Numbers of Python: sizes, arithmetic of them, conditions on them, and elements that are read."""

import builtins
import math
import operator as python

import ocl
from ocl.export.aten.table import operator, operators

operators(
    "numbers",
    {
        f"operator.{name}": getattr(python, name)
        for name in (
            "abs", "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "inv", "le", "lshift", "lt", "mod",
            "mul", "ne", "neg", "not_", "or_", "pos", "pow", "rshift", "sub", "truediv", "xor",
        )  # fmt: skip
    },
)  # fmt: skip
operators(
    "numbers",
    {
        f"math.{name}": getattr(math, name)
        for name in ("ceil", "exp", "floor", "log", "log2", "sqrt", "trunc")
    },
)
operators(
    "numbers",
    {
        "builtins.abs": builtins.abs,
        "builtins.max": builtins.max,
        "builtins.min": builtins.min,
        "builtins.round": builtins.round,
        "torch.sym_float": float,
        "torch.sym_int": int,
        "torch.sym_max": builtins.max,
        "torch.sym_min": builtins.min,
        "torch.sym_not": python.not_,
        "torch.sym_sqrt": math.sqrt,
        "torch._sym_sqrt": math.sqrt,
        "aten.sym_numel.default": ocl.numel,
    },
)


@operator("torch.sym_ite")
def if_else(condition, yes, no):
    return yes if condition else no


@operator("torch.sym_sum")
def total(numbers):
    return sum(numbers)


@operator("aten.sym_size.int")
def size(x, dim):
    return x.shape[dim]


@operator("aten.item.default aten._local_scalar_dense.default")
def item(x):
    return x.item()


@operator("aten._assert_scalar.default")
def assert_scalar(condition, message):
    if not condition:
        raise ValueError(message)


@operator("aten.sym_constrain_range_for_size.default aten.sym_constrain_range.default")
def assert_range(number, *, min=None, max=None):  # noqa: A002  (PyTorch's names)
    low, high = -math.inf if min is None else min, math.inf if max is None else max
    if not low <= number <= high:
        raise ValueError(f"a number from {low} to {high} expected, got {number}")


@operator("aten._assert_async.msg")
def assert_async(condition, message):
    if not condition.item():
        raise ValueError(message)
