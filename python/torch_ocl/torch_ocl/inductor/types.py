"""Dtypes in OpenCL C: how they lie in memory, and what they are computed in."""

from __future__ import annotations

import math

import torch

_COMPUTED = {
    torch.bool: "bool",
    torch.uint8: "uchar",
    torch.int8: "char",
    torch.uint16: "ushort",
    torch.int16: "short",
    torch.uint32: "uint",
    torch.int32: "int",
    torch.uint64: "ulong",
    torch.int64: "long",
    torch.float16: "float",
    torch.bfloat16: "float",
    torch.float32: "float",
    torch.float64: "double",
}
_STORED = {torch.bool: "uchar", torch.float16: "half", torch.bfloat16: "ushort"}
_RANGES = {
    "char": ("CHAR_MIN", "CHAR_MAX"),
    "uchar": ("0", "UCHAR_MAX"),
    "short": ("SHRT_MIN", "SHRT_MAX"),
    "ushort": ("0", "USHRT_MAX"),
    "int": ("INT_MIN", "INT_MAX"),
    "uint": ("0u", "UINT_MAX"),
    "long": ("LONG_MIN", "LONG_MAX"),
    "ulong": ("0ul", "ULONG_MAX"),
    "bool": ("0", "1"),
}


def computed_type(dtype: torch.dtype) -> str:
    """The type that values of a dtype have in a kernel. Throws for one that kernels do not take."""
    found = _COMPUTED.get(dtype)
    if found is None:
        raise NotImplementedError(f"torch.compile on ocl devices: kernels have no {dtype}")
    return found


def stored_type(dtype: torch.dtype) -> str:
    """The type of its elements in memory."""
    return _STORED.get(dtype) or computed_type(dtype)


def is_half(dtype: torch.dtype) -> bool:
    return dtype in (torch.float16, torch.bfloat16)


def is_floating(ctype: str) -> bool:
    return ctype in ("float", "double")


def range_of(ctype: str) -> tuple[str, str]:
    """The least and the largest value of an integer type."""
    return _RANGES[ctype]


def loaded(dtype: torch.dtype, pointer: str, index: str) -> str:
    """The expression of an element."""
    if dtype == torch.float16:
        return f"vload_half({index}, {pointer})"
    if dtype == torch.bfloat16:
        return f"as_float((uint)({pointer}[{index}]) << 16)"
    if dtype == torch.bool:
        return f"{pointer}[{index}] != 0"
    return f"{pointer}[{index}]"


def stored(dtype: torch.dtype, pointer: str, index: str, value: str) -> str:
    """The statement that sets an element."""
    if dtype == torch.float16:
        return f"vstore_half_rte((float)({value}), {index}, {pointer});"
    if dtype == torch.bfloat16:
        return f"{pointer}[{index}] = to_bfloat16((float)({value}));"
    return f"{pointer}[{index}] = {converted(value, None, computed_type(dtype))};"


def converted(value: str, source: str | None, target: str) -> str:
    """``value``, of the C type ``source`` (None: any) as one of ``target``."""
    if target == "bool":
        return value if source == "bool" else f"({value}) != 0"
    if source is not None and is_floating(source) and target in ("uchar", "char", "ushort", "short", "uint"):
        return f"({target})(long)({value})"  # negative numbers wrap around, as on PyTorch's CPU
    return f"({target})({value})"


def literal(value: bool | int | float, ctype: str) -> str:
    """A Python number as a constant of that type."""
    if ctype == "bool":
        return "1" if value else "0"
    if is_floating(ctype):
        number = float(value)
        if math.isnan(number):
            return f"({ctype})NAN"
        if math.isinf(number):
            return f"({ctype})INFINITY" if number > 0 else f"(-({ctype})INFINITY)"
        if ctype == "float" and abs(number) > 3.4028235677973366e38:
            return f"({'-' if number < 0 else ''}(float)INFINITY)"
        return f"({ctype})({number!r})"
    if isinstance(value, float) and not math.isfinite(value):
        value = 0
    whole = int(value)
    if whole == -(1 << 63):
        return "LONG_MIN"
    if ctype == "ulong":
        return f"{whole & ((1 << 64) - 1)}UL"
    return f"({ctype})({whole}L)"
