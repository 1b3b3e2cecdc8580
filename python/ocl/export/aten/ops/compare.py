"""Comparisons, logic and choices."""

import ocl
from ocl.export.aten.table import operators

operators(
    "compare",
    {
        f"aten.{name}.{overload}": getattr(ocl, name)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
        for overload in ("Tensor", "Scalar")
    },
)
operators(
    "compare",
    {
        f"aten.{name}.default": getattr(ocl, name)
        for name in (
            "logical_and",
            "logical_or",
            "logical_xor",
            "isnan",
            "isinf",
            "isfinite",
            "isposinf",
            "isneginf",
        )  # fmt: skip
    },
)
operators(
    "compare",
    {f"aten.where.{overload}": ocl.where for overload in ("self", "Scalar", "ScalarSelf", "ScalarOther")},
)
