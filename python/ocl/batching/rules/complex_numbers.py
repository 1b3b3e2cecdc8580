"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl.batching.rules import Call, rule
from ocl.batching.rules.pointwise import lifted


@rule("conj", "imag", "real", "view_as_real")
def of_each(call: Call) -> Any:
    return call.again()


@rule("view_as_complex")
def view_as_complex(call: Call) -> Any:
    return _C.view_as_complex(call.batch("input").contiguous())


@rule("complex")
def complex_(call: Call) -> Any:
    return _C.complex(**lifted(call, "real", "imag"))


@rule("polar")
def polar(call: Call) -> Any:
    return _C.polar(**lifted(call, "abs", "angle"))


@rule("vdot")
def vdot(call: Call) -> Any:
    products = _C.conj(call.batch_of(call["input"])) * call.batch_of(call["other"])
    return products.sum(-1)
