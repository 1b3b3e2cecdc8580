"""A graph as the source of a Python function."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ocl.fx.names import BESIDE_BUILTINS, Namespace, qualified_name, shown_type
from ocl.fx.node import Node

__all__ = ["BINARY", "UNARY", "CodeGen", "PythonCode"]

# How code writes the functions of `operator`.
BINARY = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "floordiv": "{} // {}",
    "truediv": "{} / {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "and_": "{} & {}",
    "or_": "{} | {}",
    "xor": "{} ^ {}",
    "getitem": "{}[{}]",
    "matmul": "{} @ {}",
}
UNARY = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "gt": "{} > {}",
    "le": "{} <= {}",
    "ge": "{} >= {}",
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
}
_IN_PLACE = {
    **{f"i{name.rstrip('_')}": f"{form[:-3]}= {{}}" for name, form in BINARY.items() if name != "getitem"},
    "setitem": "{}[{}] = {}",
}
_OPERATORS = {**BINARY, **UNARY}


@dataclass
class PythonCode:
    """The source of a function, and what it finds in its globals."""

    src: str
    globals: dict[str, Any]


def _attribute(base: str, path: str) -> str:
    for name in path.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f'getattr({base}, "{name}")'
    return base


class CodeGen:
    """Writes the code of graphs. (torch.fx.graph.CodeGen)"""

    def generate(self, nodes: Iterable[Node], root_module: str) -> PythonCode:
        return _Writer(root_module).written(list(nodes))


class _Writer:
    def __init__(self, root_module: str) -> None:
        self._root = root_module
        self._namespace = Namespace()
        self._globals: dict[str, Any] = {}
        for name, value in BESIDE_BUILTINS.items():
            self._globals[self._namespace.create_name(name, value)] = value

    def _global(self, hint: str, value: Any) -> str:
        """The name of something outside of the graph."""
        if hint == "ocl" or hint.startswith("ocl."):
            return hint
        name = self._namespace.create_name(hint, value)
        self._globals[name] = value
        return name

    def _annotation(self, kind: Any) -> str:
        return "" if kind is None else f" : {self._global(shown_type(kind), kind)}"

    def _value(self, value: Any) -> str:
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                inner = ", ".join(map(self._value, value))
                return f"{self._global(qualified_name(type(value)), type(value))}({inner})"
            return f"({', '.join(map(self._value, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self._value, value))}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{key!r}: {self._value(inner)}' for key, inner in value.items())}}}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._value, (value.start, value.stop, value.step)))})"
        if isinstance(value, enum.Enum):
            return f"{self._global(type(value).__name__, type(value))}.{value.name}"
        return repr(value)

    def _arguments(self, args: tuple, kwargs: dict) -> str:
        named = (f"{name} = {self._value(value)}" for name, value in kwargs.items())
        return ", ".join([*map(self._value, args), *named])

    def _call(self, node: Node) -> str:
        """The right side of the assignment to the node."""
        if node.op == "get_attr":
            return _attribute(self._root, node.target)
        if node.op == "call_module":
            return f"{_attribute(self._root, node.target)}({self._arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            method = _attribute(self._value(node.args[0]), node.target)
            return f"{method}({self._arguments(node.args[1:], node.kwargs)})"
        if getattr(node.target, "__module__", "") == "_operator" and node.target.__name__ in _OPERATORS:
            return _OPERATORS[node.target.__name__].format(*map(self._value, node.args))
        if node.target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return _attribute(self._value(node.args[0]), node.args[1])
        name = self._global(qualified_name(node.target), node.target)
        return f"{name}({self._arguments(node.args, node.kwargs)})"

    def _line(self, node: Node) -> str:
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and name in _IN_PLACE and node.target.__module__ == "_operator":
            written = _IN_PLACE[name].format(*map(self._value, node.args))
            return f"{written};  {node} = {self._value(node.args[0])}"
        return f"{node}{self._annotation(node.type)} = {self._call(node)}"

    def written(self, nodes: list[Node]) -> PythonCode:
        last_used: dict[Node, Node] = {}
        for node in nodes:
            last_used.update(dict.fromkeys(node.all_input_nodes, node))
        # Values go after their last use, those of a node in the order in which it names them.
        going = {user: [n for n in user.all_input_nodes if last_used[n] is user] for user in nodes}
        inputs, lines, result = [], [], ""
        for node in nodes:
            if node.op == "placeholder":
                default = f" = {self._value(node.args[0])}" if node.args else ""
                inputs.append(f"{node.target}{self._annotation(node.type)}{default}")
                if node.target.replace("*", "") != node.name:
                    lines.append(f"{node} = {node.target.replace('*', '')}")
            elif node.op == "output":
                if node.type is not None:
                    result = f" -> {self._global(shown_type(node.type), node.type)}"
                lines.append(f"return {self._value(node.args[0])}")
            else:
                gone = going[node] if node.users else [*going[node], node]
                end = f";  {' = '.join([*map(repr, gone), 'None'])}" if gone else ""
                lines.append(self._line(node) + end)
        head = f"def forward({', '.join([self._root, *inputs])}){result}:"
        body = "\n".join(f"    {line}" for line in lines or ["pass"])
        return PythonCode(f"\n\n\n{head}\n{body}\n    ", self._globals)
