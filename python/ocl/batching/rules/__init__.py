"""The batching rules of vmap: each turns a call for one example into one for the whole batch.

``results`` asks the rule of the operator, by its name. An operator without a rule runs once per example.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.seam import parts, performing
from ocl.batching.example import WRITTEN, Batched

__all__ = ["RULES", "Call", "results", "rule", "write"]


class Call:
    """A call of one example's operator, with the batches in the place of tensors that have one."""

    def __init__(self, name: str, arguments: dict[str, Any], size: int, randomness: str) -> None:
        self.name, self.arguments, self.size, self.randomness = name, arguments, size, randomness
        self.expected: list[tuple] = []  # shape and dtype of each result of one example

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.arguments.get(name, default)

    def is_batched(self, name: str) -> bool:
        return isinstance(self.arguments.get(name), Batched)

    def batch(self, name: str) -> Tensor:
        """That argument as [B, ...]."""
        return self.batch_of(self.arguments[name])

    def batch_of(self, value: Any) -> Tensor:
        if isinstance(value, Batched):
            return value.tensor
        return value.expand(self.size, *value.shape)

    def only(self, *names: str) -> bool:
        """Whether no other tensors are batched."""
        return all(
            not isinstance(leaf, Batched) or path[0] in names for path, leaf in parts_of(self.arguments)
        )

    def again(self, **changed: Any) -> Any:
        """The operator with some arguments changed and the batches as they are."""
        arguments = {**self.arguments, **changed}
        return performing.perform(
            self.name, mapped(lambda v: v.tensor if isinstance(v, Batched) else v, arguments)
        )


def mapped(function: Callable, value: Any) -> Any:
    """The nest with function(leaf) for every leaf (parts.mapped); a batch is a leaf."""
    if isinstance(value, Batched):
        return function(value)
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(function, each) for each in value]
    return function(value)


def parts_of(value: Any, path: tuple = ()) -> list[tuple[tuple, Any]]:
    """The leaves with their paths (parts.parts); a batch is a leaf."""
    if isinstance(value, Batched) or not isinstance(value, (dict, list, tuple)):
        return [(path, value)]
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, each in pairs for leaf in parts_of(each, (*path, key))]


RULES: dict[str, Callable[[Call], Any]] = {}


def rule(*names: str) -> Callable:
    """Declares the rule of operators. It returns NotImplemented where they are to run once per example."""

    def declare(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        for name in names:
            RULES[name] = function
        return function

    return declare


def _rule_of(call: Call) -> Callable[[Call], Any] | None:
    if performing.is_pointwise(call.arguments):
        return pointwise.pointwise
    return RULES.get(call.name)


def results(call: Call) -> list[Batched]:
    """The batches of the results of a call, in order."""
    found = _rule_of(call)
    made = NotImplemented if found is None else found(call)
    if made is NotImplemented:
        if found is None or not found.__dict__.get("is_by_example"):
            _warn(call.name)
        return one_by_one(call)
    flat = [leaf for _, leaf in parts.parts(made if isinstance(made, (list, tuple)) else [made])]
    for batch, (shape, dtype) in zip(flat, call.expected, strict=True):
        is_other = (
            batch.dtype != dtype and not _C._autocast_mode()[0]
        )  # which an autocast outside may make it
        if tuple(batch.shape) != (call.size, *shape) or is_other:
            raise RuntimeError(
                f"vmap: {call.name}: the rule gave {batch.dtype} {tuple(batch.shape)} for a batch of "
                f"{call.size} of {dtype} {shape}"
            )
    return [Batched(batch) for batch in flat]


_warned: set[str] = set()


def _warn(name: str) -> None:
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"There is a performance drop because vmap has no batching rule for {name}: it runs once per "
            "example",
            stacklevel=2,
        )


def one_by_one(call: Call) -> list[Batched]:
    """The call for one example after another."""
    columns: list[list[Tensor]] = [[] for _ in call.expected]
    for i in range(call.size):
        arguments = mapped(
            lambda v, i=i: v.tensor.select(0, i) if isinstance(v, Batched) else v, call.arguments
        )
        made = performing.perform(call.name, arguments)
        for column, (_, leaf) in zip(columns, parts.parts([made]), strict=True):
            column.append(leaf)
    device = next(v.tensor.device for _, v in parts_of(call.arguments) if isinstance(v, Batched))
    return [
        Batched(_C.stack(column) if column else _C.zeros((0, *shape), dtype=dtype, device=device))
        for column, (shape, dtype) in zip(columns, call.expected, strict=True)
    ]


def write(call: Call) -> None:
    """A call that writes over its first argument."""
    of_table = performing.is_pointwise(call.arguments)
    key = "target" if of_table else next(iter(call.arguments))
    if not call.is_batched(key):
        raise RuntimeError(WRITTEN.format(call.name))
    found = RULES.get(call.name)
    if of_table:
        pointwise.write(call)
    elif found is None or found(call) is NotImplemented:
        _warn(call.name)
        for i in range(call.size):
            performing.perform(
                call.name,
                mapped(lambda v, i=i: v.tensor.select(0, i) if isinstance(v, Batched) else v, call.arguments),
            )


# ruff: noqa: E402, F401, I001  (the families need what stands above)
from ocl.batching.rules import (
    complex_numbers,
    dims,
    folded,
    fourier,
    indexing,
    losses,
    pointwise,
    products,
    random,
    views,
)
