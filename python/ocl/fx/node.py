"""One operation of a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ocl.fx.immutable_collections import immutable_dict, immutable_list
from ocl.fx.names import readable_target, shown_type

if TYPE_CHECKING:
    from ocl.fx.graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Target = Any  # a function, or the name of a method, a module or an attribute
Argument = Any  # nodes, numbers, texts, dtypes, devices, and lists, tuples, dicts and slices of them

_with_side_effects: set[Callable] = {operator.setitem}


def has_side_effect(fn: Callable) -> Callable:
    """Notes that calls of a function are kept where nobody uses their results. (torch.fx.has_side_effect)"""
    _with_side_effects.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Any], Any]) -> Any:
    """The argument with ``fn`` of each part that is no list, tuple, dict or slice."""
    if isinstance(a, tuple):
        parts = [map_aggregate(part, fn) for part in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list([map_aggregate(part, fn) for part in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(part, fn) for key, part in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(part, fn) for part in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Any]) -> Any:
    """The argument with ``fn`` of each node in it."""
    if not callable(fn):
        raise AssertionError("map_arg: expected a function as the second argument")
    return map_aggregate(a, lambda part: fn(part) if isinstance(part, Node) else part)


def _shown(argument: Any) -> str:
    if isinstance(argument, list):
        return f"[{', '.join(map(_shown, argument))}]"
    if isinstance(argument, tuple):
        return f"({', '.join(map(_shown, argument))}{',' if len(argument) == 1 else ''})"
    if isinstance(argument, dict):
        return f"{{{', '.join(f'{key}: {_shown(value)}' for key, value in argument.items())}}}"
    return f"%{argument}" if isinstance(argument, Node) else str(argument)


class Node:
    """One operation of a Graph. (torch.fx.Node)

    ``op`` is one of placeholder, get_attr, call_function, call_module, call_method and output; ``target``
    what is called or read; ``args`` and ``kwargs`` hold the nodes that it uses; ``users`` those that use it;
    ``meta`` is the caller's.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple,
        kwargs: dict,
        return_type: Any = None,
    ) -> None:
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} "
                "but a Callable is expected"
            )
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} "
                "but a str is expected"
            )
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._args: tuple = ()
        self._kwargs: dict = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    # --- its place in the graph

    @property
    def next(self) -> Node:
        return self._next

    @property
    def prev(self) -> Node:
        return self._prev

    def prepend(self, x: Node) -> None:
        """Moves ``x`` to the place before this node."""
        if self.graph is not x.graph:
            raise AssertionError("attempting to move a Node into a different Graph")
        if self is x:
            return
        x._leave()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Moves ``x`` to the place after this node."""
        if self is not x:
            self._next.prepend(x)

    def _leave(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    # --- what it uses

    @property
    def args(self) -> tuple:
        return self._args

    @args.setter
    def args(self, args: tuple) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict:
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict) -> None:
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args: tuple, kwargs: dict) -> None:
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("the args of a node are a tuple, and its kwargs a dict")
        for used in self._inputs:
            used.users.pop(self, None)
        self._inputs = {}
        self._args = map_arg(args, self._note)
        self._kwargs = map_arg(kwargs, self._note)

    def _note(self, used: Node) -> Node:
        self._inputs.setdefault(used)
        used.users.setdefault(self)
        return used

    @property
    def all_input_nodes(self) -> list[Node]:
        return list(self._inputs)

    def update_arg(self, idx: int, arg: Argument) -> None:
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Uses ``new_input`` wherever this node used ``old_input``."""

        def renewed(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self._args, renewed), map_arg(self._kwargs, renewed))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Has all users of this node use another one; gives those users.

        With ``delete_user_cb``, those for which it is true.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with "
                    "already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # --- what it is

    @property
    def stack_trace(self) -> str | None:
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self) -> bool:
        """Whether it does something besides giving its result, so that dead code keeps it."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            writes = not self.target.__name__.startswith("_") and self.target.__name__.endswith("_")
            return self.target in _with_side_effects or writes
        if self.op == "call_module":
            module = self.graph.owning_module.get_submodule(self.target)
            return getattr(module, "_is_impure", False)
        return self.op == "call_method" and self.target.endswith("_") and not self.target.endswith("__")

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate)
            self.graph._graph_namespace.rename(self, self.name)

    def __repr__(self) -> str:
        return self.name

    def format_node(self) -> str:
        """The node in one line, as the listing of a graph has it."""
        kind = f"{shown_type(self.type)} " if self.type is not None else ""
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        if self.op == "output":
            return f"return {self._args[0]}"
        if self.op == "placeholder":
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{head}[target={self.target}]{default}"
        target = f"[target={readable_target(self.target)}]"
        if self.op == "get_attr":
            return head + target
        return f"{head}{target}(args = {_shown(self._args)}, kwargs = {_shown(self._kwargs)})"
