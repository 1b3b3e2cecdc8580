"""A list of nodes in the order in which they run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import ocl
from ocl.fx.code import CodeGen, PythonCode
from ocl.fx.names import Namespace, name_of_target
from ocl.fx.node import Argument, Node, Target, map_aggregate, map_arg

if TYPE_CHECKING:
    from ocl.fx.graph_module import GraphModule

__all__ = ["Graph"]

_OPS = ("call_function", "call_method", "get_attr", "call_module", "placeholder", "output")


class _InsertPoint:
    """Where new nodes go; leaving the block puts back the place of before."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self._graph, self._before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._graph._insert = self._before


class _Nodes:
    """The nodes of a graph, which may be changed while a loop goes over them."""

    def __init__(self, graph: Graph, is_reversed: bool = False) -> None:
        self._graph, self._is_reversed = graph, is_reversed

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        node = root._prev if self._is_reversed else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self._is_reversed else node._next  # an erased node still leads onwards

    def __reversed__(self) -> Iterator[Node]:
        return iter(_Nodes(self._graph, not self._is_reversed))


class _NameOfNode(str):
    """A node among the arguments of a pickled one."""


class Graph:
    """The nodes that a module or a function computes. (torch.fx.Graph)"""

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._graph_namespace = Namespace()
        self._codegen = CodeGen()

    @property
    def nodes(self) -> _Nodes:
        return _Nodes(self)

    def output_node(self) -> Node:
        last = next(iter(reversed(self.nodes)), None)
        if last is None or last.op != "output":
            raise AssertionError("the last node of the graph is no output")
        return last

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of this ``op``, and of this target where one is given (for placeholders: or without)."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # --- new nodes

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the place where nodes go (``inserting_before``, ``inserting_after``)."""
        if op not in _OPS:
            raise AssertionError(f"create_node: {op!r} is none of {', '.join(_OPS)}")
        name = self._graph_namespace.create_name(name_of_target(target) if name is None else name)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input. It has a default value where one is given (``...`` stands for none)."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, a buffer or another attribute of the module."""
        self._warn_of_missing(qualified_name, "get_attr")
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of the submodule of that name."""
        self._warn_of_missing(module_name, "call_module")
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """The result, the last node."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def _warn_of_missing(self, path: str, op: str) -> None:
        place: Any = self.owning_module
        for name in path.split(".") if place is not None else ():
            if not hasattr(place, name):
                warnings.warn(
                    f"Attempted to insert a {op} Node with no underlying reference in the owning "
                    f"GraphModule! {path!r} is not there",
                    stacklevel=3,
                )
                return
            place = getattr(place, name)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda n: n) -> Node:
        """A copy of a node of another graph, its arguments as ``arg_transform`` gives them."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Copies all nodes of ``g`` but those that ``val_map`` has; gives what stands for its result."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    # --- changes

    def erase_node(self, to_erase: Node) -> None:
        """Takes a node out that nothing uses any more."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        before, after = to_erase._prev, to_erase._next
        to_erase._leave()
        to_erase._prev, to_erase._next = before, after  # a loop that stands here goes on
        to_erase._erased = True
        to_erase._set_arguments((), {})

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Has new nodes go before ``n`` (None: at the beginning), in a ``with`` block or from now on."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Has new nodes go after ``n`` (None: at the end), in a ``with`` block or from now on."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Takes out the nodes that nobody uses and that do nothing else; says whether there were any."""
        self.lint()
        is_kept = is_impure_node or Node.is_impure
        erased = [node for node in reversed(self.nodes) if not node.users and not is_kept(node)]
        found = bool(erased)
        while erased:
            for node in erased:
                self.erase_node(node)
            erased = [node for node in reversed(self.nodes) if not node.users and not is_kept(node)]
        return found

    # --- looking at it

    def lint(self) -> None:
        """Raises where a node uses another one that comes later, or a name that its module lacks."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as "
                        f"an argument! If you are copying nodes from another graph, make sure to use "
                        f"``arg_transform`` on node_copy() to remap values\n{self}"
                    )
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! Please "
                        f"check that Nodes in the graph are topologically ordered\n{self}"
                    )
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_target(node)

    def _check_target(self, node: Node) -> None:
        place: Any = self.owning_module
        parts = node.target.split(".")
        for i, part in enumerate(parts):
            inner = getattr(place, part, None)
            if inner is None:
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {part} of "
                    f"{'.'.join(parts[:i])}"
                )
            place = inner
        if node.op == "call_module" and not isinstance(place, ocl.nn.Module):
            raise RuntimeError(f"Node {node} target {node.target} does not reference an nn.Module")

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The graph as the source of a function, whose module is called ``root_module`` there."""
        return self._codegen.generate(self.nodes, root_module, **options)

    def set_codegen(self, codegen: CodeGen) -> None:
        self._codegen = codegen

    def print_tabular(self) -> None:
        """Prints a table of the nodes."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [tuple(map(str, (n.op, n.name, n.target, n.args, n.kwargs))) for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, tuple("-" * width for width in widths))
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    # --- copies

    def __deepcopy__(self, memo: dict | None = None) -> Graph:
        copied = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        copied._codegen = self._codegen
        found = copied.graph_copy(self, {}, return_output_node=True)
        if found is not None:
            result, node = found
            copied.output(result, node.type).meta = dict(node.meta)
        return copied

    def __reduce__(self) -> tuple:
        def named(value: Any) -> Any:
            return map_aggregate(value, lambda part: _NameOfNode(part) if isinstance(part, Node) else part)

        rows = [(n.op, n.target, named(n.args), named(n.kwargs), n.name, n.type) for n in self.nodes]
        return _from_rows, (rows, self._tracer_cls)


def _from_rows(rows: list[tuple], tracer_cls: type | None) -> Graph:
    graph = Graph(tracer_cls=tracer_cls)
    nodes: dict[str, Node] = {}

    def found(value: Any) -> Any:
        return map_aggregate(value, lambda part: nodes[part] if isinstance(part, _NameOfNode) else part)

    for op, target, args, kwargs, name, kind in rows:
        nodes[name] = graph.create_node(op, target, found(args), found(kwargs), name, kind)
    return graph
