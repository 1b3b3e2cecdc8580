#!/usr/bin/env python3
"""Writes docs/operators.md from the operator tables that the library is built from.

``--check`` writes nothing and fails when the page is not what the tables say.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from pathlib import Path

import ocl
from ocl import _C

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"

HEAD = """# Operators

Made by `tools/generate_docs.py` from `dlprim/ops/pointwise/table.def`, `dlprim/ops/reduce/table.def`,
`autograd/ops/operators.def` and the signatures of the Python functions; do not edit. Semantics, names,
broadcasting and type promotion are PyTorch's. Each function is `ocl.NAME` or `ocl.nn.functional.NAME` in
Python and `ocl::NAME` in C++, and a method of `Tensor` where PyTorch has it as one.

The derivatives of pointwise operators and reductions are formulas: `a`, `b`, `c` are the inputs in order, `g`
the incoming gradient, `y` the result, `n` the number of elements reduced. The other rows name the inputs that
get a gradient.
"""

HOMES = (ocl, ocl.nn.functional, ocl.Tensor, ocl.linalg, ocl.nn.utils, ocl.ops)
FORMULAS = {row["name"]: row["forward"] for row in _C.pointwise_table()} | {
    row["name"]: f"{row['finish']} of {row['combine']} over {row['map']}" for row in _C.reduction_table()
}


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else "none"


def plain_signature(line: str, name: str) -> str:
    """A signature as pybind11 writes it, without its annotations."""
    function = ast.parse(f"def {line.replace('from:', 'from_:')}: ...").body[0]  # a keyword of Python
    given = function.args
    positional = given.posonlyargs + given.args
    defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults

    def parameter(argument: ast.arg, default: ast.expr | None) -> str:
        return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"

    parameters = [parameter(*pair) for pair in zip(positional, defaults, strict=True)]
    if given.vararg:
        parameters.append("*" + given.vararg.arg)
    elif given.kwonlyargs:
        parameters.append("*")
    parameters += [parameter(*pair) for pair in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return f"{name}({', '.join(parameters)})".replace("from_=", "from=")


def signatures(name: str) -> str:
    home = next((home for home in HOMES if hasattr(home, name)), None)
    if home is None:
        raise SystemExit(f"generate_docs.py: {name} has a row in operators.def, but is bound nowhere in ocl")
    function = inspect.unwrap(getattr(home, name))
    if inspect.isfunction(function):
        lines = [name + re.sub(r" -> .*", "", str(inspect.signature(function)))]
    else:
        lines = re.findall(rf"^(?:\d+\. )?({name}\(.*)$", function.__doc__, re.MULTILINE)
        lines = [line for line in lines if line != f"{name}(*args, **kwargs)"]
    return "<br>".join(dict.fromkeys(code(plain_signature(line, name)) for line in lines))


def section(family: str, rows: list[dict]) -> str:
    head = f"\n## {family}\n\n| signature | dtypes | derivative | source | |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(cells(row))} |\n" for row in rows)


def cells(row: dict) -> list[str]:
    formula = FORMULAS.get(row["name"])
    derivative = code(row["derivative"]) if formula else row["derivative"] or "none"
    description = row["documentation"].replace("|", "\\|") + (f" {code(formula)}" if formula else "")
    return [signatures(row["name"]), row["dtypes"], derivative, code(row["source"]), description]


def page() -> str:
    families: dict[str, list[dict]] = {}
    for row in _C.operator_table():
        families.setdefault(row["family"], []).append(row)
    return HEAD + "".join(section(family, rows) for family, rows in families.items())


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
