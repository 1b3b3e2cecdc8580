"""Values that note what is done with them."""

from __future__ import annotations

import dis
import enum
import inspect
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import ocl
from ocl.fx.code import BINARY, UNARY
from ocl.fx.graph import Graph
from ocl.fx.node import Argument, Node, Target, map_aggregate
from ocl.overriding.asking import Asked, AskedProperty

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase", "find_proxy"]


class TraceError(ValueError):
    """A program does what cannot be traced. (torch.fx.proxy.TraceError)"""


_PLAIN = (str, int, float, bool, complex, ocl.dtype, ocl.device, ocl.memory_format, ocl.layout, enum.Enum)


class TracerBase:
    """Makes the nodes of a graph, and the proxies that stand for them. (torch.fx.proxy.TracerBase)"""

    graph: Graph

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """A new node, whose arguments may be proxies, as a proxy."""
        arguments = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, *arguments, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Argument:
        """The part of a node that stands for an argument of the program's."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            parts = [self.create_arg(part) for part in a]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, list):
            return [self.create_arg(part) for part in a]
        if isinstance(a, dict):
            if any(find_proxy(key) is not None for key in a):
                raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node")
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if is_dataclass(a) and not isinstance(a, type):
            given = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), given)
        if a is None or a is ... or isinstance(a, (*_PLAIN, Node)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator:
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a "
            "*args or **kwargs function argument. A loop over range() with an index can be traced, and "
            "fx.wrap keeps a function whole"
        )

    def keys(self, obj: Proxy) -> Any:
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Appends to a graph what is done with proxies of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands for the result of a node: calls, methods and operators become nodes. (torch.fx.Proxy)"""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__") and k.endswith("__"):  # a copy or a protocol asks, not a program
            raise AttributeError(f"a Proxy has no {k}")
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        caller = inspect.currentframe().f_back
        instructions = list(dis.get_instructions(caller.f_code))
        found = bisect_left([each.offset for each in instructions], caller.f_lasti)
        if instructions[found].opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(instructions[found].argval))
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Proxy:
        kwargs = kwargs or {}
        tracers: dict[int, TracerBase] = {}

        def note(part: Any) -> None:
            if isinstance(part, Proxy):
                tracers[id(part.tracer)] = part.tracer

        map_aggregate((args, kwargs), note)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers.values())} while trying to trace {func}"
            )
        (tracer,) = tracers.values()
        owner = getattr(func, "__self__", None)
        if isinstance(owner, AskedProperty):
            return tracer.create_proxy("call_method", func.__name__, args, kwargs)
        if isinstance(func, Asked) and func.place == "Tensor":
            return tracer.create_proxy("call_method", func.__name__, args, kwargs)
        return tracer.create_proxy("call_function", func, args, kwargs)


class Attribute(Proxy):
    """An attribute of a proxy, which becomes a node once it is used otherwise than by calling it."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def find_proxy(value: Any) -> Proxy | None:
    """A proxy that the value is, or holds."""
    found: list[Proxy] = []
    map_aggregate(value, lambda part: found.append(part) if isinstance(part, Proxy) else None)
    return found[0] if found else None


def _operator_of(name: str) -> Callable:
    def method(*args: Any) -> Proxy:
        return args[0].tracer.create_proxy("call_function", getattr(operator, name), args, {})

    return method


def _reflected_operator_of(name: str) -> Callable:
    def method(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", getattr(operator, name), (other, self), {})

    return method


for _name in (*BINARY, *UNARY):
    setattr(Proxy, f"__{_name.strip('_')}__", _operator_of(_name))
for _name in BINARY:
    setattr(Proxy, f"__r{_name.strip('_')}__", _reflected_operator_of(_name))
