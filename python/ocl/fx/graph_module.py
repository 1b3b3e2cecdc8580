"""A module whose forward is the code of a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
from typing import Any

from ocl import nn
from ocl._C import Tensor
from ocl.fx.code import PythonCode
from ocl.fx.graph import Graph

__all__ = ["GraphModule"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = itertools.count()


def _put(value: Any, module: nn.Module, name: str) -> None:
    """A tensor that is no parameter becomes a buffer."""
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _copy_attr(from_module: nn.Module, to_module: nn.Module, target: str) -> None:
    """Gives ``to_module`` what ``target`` leads to, by modules of its own on the way."""
    *way, name = target.split(".")
    for part in way:
        source, there = getattr(from_module, part), getattr(to_module, part, None)
        if source is there:
            return  # it has come with a module above
        if there is None:
            there = nn.Module()
            setattr(to_module, part, there)
        from_module, to_module = source, there
    _put(getattr(from_module, name), to_module, name)


def _assign_attr(from_obj: Any, to_module: nn.Module, target: str) -> None:
    """Puts an object where ``target`` leads, by modules of its own on the way."""
    *way, name = target.split(".")
    for part in way:
        if getattr(to_module, part, None) is None:
            setattr(to_module, part, nn.Module())
        to_module = getattr(to_module, part)
    _put(from_obj, to_module, name)


class _CodeOnlyModule(nn.Module):
    """The submodules and tensors of a GraphModule that is copied or pickled."""

    def __init__(self, body: dict[str, Any] | None = None) -> None:
        if body is not None:
            raise NotImplementedError("a module of ocl's has no dict with all that it holds to be made of")
        super().__init__()


def _whole(module: GraphModule) -> _CodeOnlyModule:
    whole = _CodeOnlyModule()
    for name, child in module.named_children():
        whole.add_module(name, child)
    for name, buffer in module.named_buffers(recurse=False):
        whole.register_buffer(name, buffer)
    for name, parameter in module.named_parameters(recurse=False):
        whole.register_parameter(name, parameter)
    whole.training = module.training
    return whole


def _from_parts(kind: type, whole: _CodeOnlyModule, graph: Graph, class_name: str, meta: dict) -> GraphModule:
    made = kind(whole, graph, class_name)
    made.meta = meta
    return made


class GraphModule(nn.Module):
    """A module that computes what a graph says. (torch.fx.GraphModule)

    ``root`` is the module, or the dict of names, that has what the graph's ``call_module`` and ``get_attr``
    nodes name; it is shared, not copied. After a change of the graph, ``recompile`` has the module compute
    it. Each GraphModule has a class of its own, whose name is ``class_name``.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        base = next(each for each in cls.__mro__ if "_is_of_one_graph" not in vars(each))
        return super().__new__(type("GraphModuleImpl", (base,), {"_is_of_one_graph": True}))

    def __init__(
        self, root: nn.Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, nn.Module):
            self.training = root.training
            if isinstance(root, _CodeOnlyModule):
                own = (root.named_children(), root.named_buffers(recurse=False))
                parameters = root.named_parameters(recurse=False)
                targets = [name for name, _ in itertools.chain(*own, parameters)]
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for target in targets:
                if target not in root:
                    raise RuntimeError(
                        f"GraphModule: a node has the target {target}, which is not in ``root``"
                    )
            for target in sorted(targets, key=lambda target: target.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {type(root).__name__} passed for root!")
        self.meta: dict[str, Any] = {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of the forward."""
        return self._code

    def recompile(self) -> PythonCode:
        """Has the module compute what the graph says now."""
        written = self._graph.python_code(root_module="self")
        self._code = written.src
        place = f"<graph of {type(self).__name__} {next(_numbers)}>"
        linecache.cache[place] = (len(self._code), None, self._code.splitlines(True), place)
        kept = (id(n.target) for n in self._graph.nodes if n.meta.get("is_wrapped"))
        names = {**written.globals, "_kept_by_fx": frozenset(kept)}  # for a trace of this module
        exec(compile(self._code, place, "exec"), names)
        type(self).forward = names["forward"]
        return written

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Puts a module where ``target`` leads; False where something stands in the way."""
        *way, name = target.split(".")
        place: Any = self
        for part in way:
            if getattr(place, part, None) is None:
                setattr(place, part, nn.Module())
            place = getattr(place, part)
            if not isinstance(place, nn.Module):
                return False
        place.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Takes the module out that ``target`` leads to; False where there is none."""
        *way, name = target.split(".")
        place: Any = self
        for part in way:
            place = getattr(place, part, None)
            if not isinstance(place, nn.Module):
                return False
        if not isinstance(getattr(place, name, None), nn.Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Takes out the submodules that no node of the graph leads to."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op in ("call_module", "get_attr"):
                used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
            if node.op == "call_module":
                inner = self.get_submodule(node.target).named_modules(prefix=node.target)
                used.update(name for name, _ in inner)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output: bool = True) -> str:
        """The code as that of a class, and those of the GraphModules within; prints it unless told not to."""

        def indented(text: str) -> str:
            return "".join(f"    {line}\n" if line.strip() else "\n" for line in text.splitlines())

        name = self._get_name()
        parts = [f"class {name}(ocl.nn.Module):", indented(self._code.strip("\n").rstrip())]
        for child in self.children():
            if isinstance(child, GraphModule):
                parts.append(indented(child.print_readable(print_output=False)))
        text = "\n".join(parts)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    def __copy__(self) -> GraphModule:
        return self.__reduce__()[0](*self._parts(self._graph))

    def __deepcopy__(self, memo: dict | None = None) -> GraphModule:
        kind, whole, graph, name, meta = self._parts(copy.deepcopy(self._graph))
        made = _from_parts(kind, copy.deepcopy(whole, memo), graph, name, copy.deepcopy(meta, memo))
        if memo is not None:
            memo[id(self)] = made
        return made

    def _parts(self, graph: Graph) -> tuple:
        kind = next(each for each in type(self).__mro__ if "_is_of_one_graph" not in vars(each))
        return kind, _whole(self), graph, type(self).__name__, self.meta

    def __reduce__(self) -> tuple:
        return _from_parts, self._parts(self._graph)

    def __reduce_ex__(self, protocol: int) -> tuple:
        return self.__reduce__()
