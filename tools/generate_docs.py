#!/usr/bin/env python3
"""Writes docs/operators.md from the operator tables that the library is built from.

``--check`` writes nothing and fails when the page is not what the tables say.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ocl import _C

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"

HEAD = """# Operators

Made by `tools/generate_docs.py` from `dlprim/ops/pointwise/table.def`, `dlprim/ops/reduce/table.def` and
`autograd/operators.def`; do not edit. Semantics, names, broadcasting and type promotion are PyTorch's.
Each function is `ocl.NAME` in Python and `ocl::NAME` in C++, and a method of `Tensor` where PyTorch has
it as one.

## Pointwise

*Types*: **Float** promotes integers to float32; **Same** keeps the promoted type; **Number** too, but refuses
bool; **Power** too, but gives int64 for bool; **Bool** gives bool;
**Integral** takes integers and bool only; **Where** takes a condition first. `g` is the incoming gradient,
`y` the result.

| name | types | forward | gradients | |
|---|---|---|---|---|
"""

REDUCTIONS = """
## Reductions

`NAME(input, dim=None, keepdim=False)`, over any dimensions. `x`, `z`: partial results; `n`: the number of
elements.

| name | element | combine | result | gradient | |
|---|---|---|---|---|---|
"""


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else "none"


def pointwise_row(row: dict) -> str:
    inputs = ["a", "b", "c"][: row["inputs"]]
    arguments = inputs + [f"{name}={value:g}" for name, value in row["parameters"].items()]
    named = [(name, gradient) for name, gradient in zip(inputs, row["gradients"], strict=True) if gradient]
    gradients = "; ".join(f"{name}: {code(gradient)}" for name, gradient in named) or "none"
    signature = code(f"{row['name']}({', '.join(arguments)})")
    cells = [signature, row["types"], code(row["forward"]), gradients, row["documentation"]]
    return f"| {' | '.join(cells)} |\n"


def reduction_row(row: dict) -> str:
    cells = [code(row[key]) for key in ("map", "combine", "finish", "gradient")]
    return f"| {code(row['name'])} | {' | '.join(cells)} | {row['documentation']} |\n"


def family_section(family: str, rows: list[dict]) -> str:
    """The operators that are functions of their own, under their heading."""
    head = f"\n## {family}\n\n| name | dtypes | derivative | source | |\n|---|---|---|---|---|\n"
    cells = (
        (
            code(row["name"]),
            row["dtypes"],
            row["derivative"] or "none",
            code(row["source"]),
            row["documentation"],
        )
        for row in rows
    )
    return head + "".join(f"| {' | '.join(row)} |\n" for row in cells)


def other_families() -> str:
    in_tables = {row["name"] for row in _C.pointwise_table() + _C.reduction_table()}
    families: dict[str, list[dict]] = {}
    for row in _C.operator_table():
        if row["name"] not in in_tables:
            family = "Reductions of their own" if row["family"] == "Reductions" else row["family"]
            families.setdefault(family, []).append(row)
    return "".join(family_section(family, rows) for family, rows in families.items())


def page() -> str:
    pointwise = "".join(map(pointwise_row, _C.pointwise_table()))
    reductions = "".join(map(reduction_row, _C.reduction_table()))
    return HEAD + pointwise + REDUCTIONS + reductions + other_families()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when it is out of date")
    args = parser.parse_args()
    if not args.check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is out of date: run tools/generate_docs.py")


if __name__ == "__main__":
    main()
