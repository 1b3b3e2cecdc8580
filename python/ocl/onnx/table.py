"""The table from the names of ONNX's operators to functions on tensors.

A function takes a `Call` and the node's inputs, and returns its result, or a tuple of several. Inputs are
tensors but for those at the positions ``host``, which are NumPy arrays, and ``either``, which are either;
absent inputs are None.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

FAMILIES = (
    "pointwise",
    "logical",
    "activation",
    "reduce",
    "shape",
    "indexing",
    "constant",
    "matrix",
    "conv",
    "pool",
    "resize",
    "norm",
    "softmax",
    "attention",
    "recurrent",
    "random",
    "quantize",
    "signal",
    "detection",
    "control",
    "sequence",
)


@dataclass(frozen=True)
class Operator:
    """One row: the function, and how its node is called."""

    function: Callable
    until: int  # the newest version of the definition that the function knows
    host: tuple[int, ...] | range  # inputs that are wanted on the host
    either: tuple[int, ...] | range  # inputs that are taken wherever they are
    numbers: tuple[int, ...]  # inputs that are numbers of Python where they are scalars on the host
    refuses: Callable | None  # of attributes and version: why a node is not supported, or None
    folds: bool  # computed on the host where all inputs are there
    family: str


_table: dict[tuple[str, str], Operator] = {}


def operator(
    name: str, *, until: int = 23, host=(), either=(), numbers=(), refuses=None, folds=True, domain: str = ""
):
    """Puts a function into the table under one name, or several that are separated by spaces."""

    def keep(function):
        family = function.__module__.rpartition(".")[2]
        for each in name.split():
            row = Operator(function, until, host, either, numbers, refuses, folds, family)
            if _table.setdefault((domain, each), row) is not row:
                raise ValueError(f"operator {each!r} is in the table twice")
        return function

    return keep


def table() -> dict[tuple[str, str], Operator]:
    """All rows by domain ("" is ai.onnx) and name."""
    for family in FAMILIES:
        importlib.import_module(f"ocl.onnx.ops.{family}")
    return _table


def operators() -> list[str]:
    """The names of the operators that are supported, those of other domains than ai.onnx as domain::name."""
    return sorted(f"{domain}::{name}" if domain else name for domain, name in table())
