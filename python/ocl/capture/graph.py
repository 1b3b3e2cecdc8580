"""A graph of operators: each value is made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ocl
from ocl._C import Tensor
from ocl.capture.sizes import Size
from ocl.seam import parts

__all__ = ["Graph", "Node", "Value"]


@dataclass(eq=False)
class Value:
    """A tensor of a graph; its sizes are numbers, or formulas of named sizes."""

    name: str
    shape: tuple[int | Size, ...]
    dtype: ocl.dtype
    tensor: Tensor | None = None  # of a parameter, a buffer or a constant

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.name}: {str(self.dtype).removeprefix('ocl.')}[{', '.join(map(str, self.shape))}]"


@dataclass
class Node:
    """A call of an operator. Tensors among its arguments, which may be nested, are values."""

    operator: str
    arguments: dict[str, Any]
    results: list[Value]

    def inputs(self) -> list[Value]:
        return [leaf for _, leaf in parts.parts(self.arguments) if isinstance(leaf, Value)]

    def __str__(self) -> str:
        told = ", ".join(f"{key}={_text(value)}" for key, value in self.arguments.items())
        return f"{', '.join(map(str, self.results))} = {self.operator}({told})"


@dataclass
class Graph:
    """The operators of a call in order. `symbols` says of which input's axis each named size is."""

    inputs: list[Value]
    outputs: list[Value]
    nodes: list[Node] = field(default_factory=list)
    states: list[Value] = field(default_factory=list)  # parameters and buffers, by their state dict's names
    constants: list[Value] = field(default_factory=list)
    symbols: dict[str, tuple[Value, int]] = field(default_factory=dict)

    def operators(self) -> list[str]:
        """The names of the operators, in the order of their first calls."""
        return list(dict.fromkeys(node.operator for node in self.nodes))

    def __str__(self) -> str:
        lines = [f"graph({', '.join(map(str, self.inputs))}):"]
        lines += [f"  state {each}" for each in self.states]
        lines += [f"  constant {each}" for each in self.constants]
        lines += [f"  {node}" for node in self.nodes]
        return "\n".join([*lines, f"  return {', '.join(each.name for each in self.outputs)}"])


def _text(value: Any) -> str:
    if isinstance(value, Value):
        return value.name
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)
