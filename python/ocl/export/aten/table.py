"""The table from the names of PyTorch's operators, with their overloads, to functions on tensors.

A function takes the operator's arguments as PyTorch's schema orders them, without device, layout, memory
format and ``pin_memory``. Where its row says ``call`` it takes a `Call` before them, which knows the device
and the mode.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FAMILIES = (
    "pointwise",
    "compare",
    "activation",
    "reduce",
    "shape",
    "indexing",
    "create",
    "random",
    "matrix",
    "linalg",
    "conv",
    "pool",
    "resize",
    "norm",
    "recurrent",
    "numbers",
    "control",
)


@dataclass(frozen=True)
class Row:
    """One operator: its function, and how a node of it is called. Files name the row."""

    name: str  # the first of its names
    function: Callable
    call: bool  # whether the function takes a `Call` first
    flag: int | None  # the position of the argument that is true where the operator trains
    refuses: Callable | None  # of a node of torch.fx: why it is not supported, or ""
    family: str

    def __reduce__(self) -> tuple:
        return _row_of, (self.name,)


def _row_of(name: str) -> Row:
    return table()[name]


_table: dict[str, Row] = {}


def _put(name: str, row: Row) -> None:
    if _table.setdefault(name, row) is not row:
        raise ValueError(f"operator {name!r} is in the table twice")


def operator(name: str, *, call: bool = False, flag: int | None = None, refuses=None):
    """Puts a function into the table under one name, or several that are separated by spaces."""

    def keep(function):
        row = Row(name.split()[0], function, call, flag, refuses, function.__module__.rpartition(".")[2])
        for each in name.split():
            _put(each, row)
        return function

    return keep


def operators(family: str, functions: Mapping[str, Callable]) -> None:
    """Puts functions into the table that take an operator's arguments as they are."""
    for name, function in functions.items():
        _put(name, Row(name, function, False, None, None, family))


def first_alone(node) -> str:
    """For ``refuses``: the function gives the first of several results only."""
    read = {each.args[1] for each in node.users if each.users}
    return "" if read <= {0} else "results beyond the first"


def table() -> dict[str, Row]:
    """All rows by name, as "aten.add.Tensor"."""
    for family in FAMILIES:
        importlib.import_module(f"ocl.export.aten.ops.{family}")
    return _table
