"""Runs a module or a function with proxies, and keeps what they note."""

from __future__ import annotations

import collections
import copy
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

from ocl import nn
from ocl._C import Tensor
from ocl.fx.graph import Graph
from ocl.fx.graph_module import GraphModule
from ocl.fx.node import Argument, Node, Target
from ocl.fx.proxy import Proxy, TracerBase, find_proxy
from ocl.fx.wrapping import Patches, keeping, wrapped_names
from ocl.overriding.arming import arm

__all__ = ["Tracer", "symbolic_trace"]

_LIBRARY = ("ocl._C.", "ocl.nn.", "ocl.quantization.")


def _in_turn(self: nn.Sequential, input: Any) -> Any:
    """A Sequential's forward, which is computed in C++ where nobody traces."""
    for module in self:
        input = module(input)
    return input


def _replaceable_forward(root: nn.Module, name: str) -> types.FunctionType:
    forward = getattr(type(root), name)
    if forward is nn.Sequential.forward:
        return _in_turn
    if not isinstance(inspect.unwrap(forward), types.FunctionType):
        raise TypeError(
            f"symbolic_trace: {type(root).__name__} computes {name} in C++, which proxies cannot follow; "
            "trace a module that calls it"
        )
    return forward


class Tracer(TracerBase):
    """Traces modules and functions. A subclass says what it looks into. (torch.fx.Tracer)

    Functions of ``autowrap_modules`` and ``autowrap_functions`` become nodes where a program calls them with
    proxies.
    """

    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def __init__(
        self,
        autowrap_modules: tuple[types.ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable, ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        if param_shapes_constant:
            raise NotImplementedError("Tracer: param_shapes_constant is not there")
        self._autowrap_functions = {
            *map(id, autowrap_functions),
            *(
                id(value)
                for module in autowrap_modules
                for name, value in vars(module).items()
                if not name.startswith("_") and callable(value)
            ),
        }
        self._autowrap_modules = list(autowrap_modules)
        self.module_stack: collections.OrderedDict[str, tuple[str, type]] = collections.OrderedDict()
        self._calls: collections.Counter[str] = collections.Counter()
        self._constants: list[tuple[Any, str]] = []

    # --- what a subclass may say otherwise

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module becomes one node: those of the library do, but for Sequential."""
        return f"{type(m).__module__}.".startswith(_LIBRARY) and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod: nn.Module) -> str:
        """The name of a module below the root."""
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """The result of a call of a module: a proxy of its node, or what ``forward`` makes of the proxies."""
        path = self.path_of_module(m)
        key = f"{path}@{self._calls[path]}" if self._calls[path] else path
        self._calls[path] += 1
        self.module_stack[key] = (path, type(m))
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            del self.module_stack[key]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """The value of a module's attribute: parameters are proxies, one each in a trace."""
        named: Any = ()
        if isinstance(attr_val, nn.Parameter):
            named = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            named = self.root.named_buffers()
        for name, tensor in named:
            if tensor is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                return parameter_proxy_cache[name]
        return attr_val

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def create_arg(self, a: Any) -> Argument:
        if isinstance(a, nn.Parameter):
            return self._attribute(a, self.root.named_parameters(), "parameter")
        if isinstance(a, nn.Module):
            return self._attribute(a, self.root.named_modules(), "module")
        if isinstance(a, Tensor):
            return self._attribute_of_tensor(a)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            parts = tuple(self.create_arg(part) for part in a)
            return self.create_node("call_function", type(a), parts, {})
        return super().create_arg(a)

    def _attribute(self, value: Any, named: Any, kind: str) -> Node:
        for name, found in named:
            if found is value:
                return self.create_node("get_attr", name, (), {})
        raise NameError(f"{kind} is not a member of this module")

    def _attribute_of_tensor(self, tensor: Tensor) -> Node:
        for name, found in (*self.root.named_buffers(), *((name, t) for t, name in self._constants)):
            if found is tensor:
                return self.create_node("get_attr", name, (), {})
        number = 0
        while hasattr(self.root, f"_tensor_constant{number}"):
            number += 1
        name = f"_tensor_constant{number}"
        self._constants.append((tensor, name))
        setattr(self.root, name, tensor)
        return self.create_node("get_attr", name, (), {})

    # --- the trace

    def _inputs(self, function: Callable, is_method: bool, concrete_args: dict[str, Any] | None) -> tuple:
        """A placeholder for each parameter, positional ones and named ones."""
        inspected = inspect.unwrap(function)
        concrete_args = concrete_args or {}
        positional: list[Any] = []
        named: dict[str, Any] = {}
        parameters = list(inspect.signature(inspected).parameters.values())
        if is_method and (not parameters or parameters[0].kind is inspect.Parameter.VAR_POSITIONAL):
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        for parameter in parameters[1:] if is_method else parameters:
            if parameter.name in concrete_args:
                value = concrete_args[parameter.name]
            else:
                stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
                default = () if stars or parameter.default is parameter.empty else (parameter.default,)
                kind = inspected.__annotations__.get(parameter.name)
                kind = None if isinstance(kind, str) else kind
                value = self.create_proxy("placeholder", stars + parameter.name, default, {}, type_expr=kind)
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        return positional, named

    def trace(
        self, root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """The graph of a module or a function; ``concrete_args`` are given as they are, and are no inputs."""
        arm()
        is_module = isinstance(root, nn.Module)
        self.root = root if is_module else nn.Module()
        function = _replaceable_forward(root, self.traced_func_name) if is_module else root
        self.graph = Graph(tracer_cls=type(self))
        self._constants = [
            (value, f"{path}.{name}".lstrip("."))
            for path, module in self.root.named_modules()
            for name, value in vars(module).items()
            if isinstance(value, Tensor)
        ]
        positional, named = self._inputs(function, is_module, concrete_args)
        starred = _takes_starred(function)
        if starred:
            function = _with_plain_parameters(function)
        result_type = inspect.unwrap(function).__annotations__.get("return")
        with Patches() as patches:
            self._patch(patches, function)
            given = (root, *positional) if is_module else positional
            result = function(*given, *named.values()) if starred else function(*given, **named)
            self.create_node(
                "output",
                "output",
                (self.create_arg(result),),
                {},
                type_expr=None if isinstance(result_type, str) else result_type,
            )
        return self.graph

    def _patch(self, patches: Patches, function: Callable) -> None:
        """Has modules, their parameters and wrapped functions speak to this tracer."""
        call, get = nn.Module.__call__, nn.Module.__getattr__
        cache: dict[str, Proxy] = {}

        def kept(inner: Callable) -> Callable:
            return keeping(inner, find_proxy)

        def traced_get(module: nn.Module, name: str) -> Any:
            return self.getattr(name, get(module, name), cache)

        def look_at(function: Any) -> None:
            names = getattr(inspect.unwrap(function), "__globals__", None)
            if names is not None:
                patches.each(names, self._autowrap_functions | names.get("_kept_by_fx", frozenset()), kept)

        def traced_call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            look_at(type(module).forward)
            return self.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        patches.in_class(nn.Module, "__getattr__", traced_get)
        patches.in_class(nn.Module, "__call__", traced_call)
        patches.in_class(nn.Sequential, "forward", _in_turn)
        for (_, name), names in list(wrapped_names.items()):
            patches.in_dict(names, name, kept)
        look_at(function)
        for module in self._autowrap_modules:
            patches.each(vars(module), self._autowrap_functions, kept)


def _takes_starred(function: Callable) -> bool:
    return bool(inspect.unwrap(function).__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def _with_plain_parameters(function: Callable) -> Callable:
    """The function with ``*args`` and ``**kwargs`` as two plain parameters: proxies stand for them whole."""
    code = function.__code__
    flags = code.co_flags
    stars = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + stars
    plain = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
    )
    made = types.FunctionType(plain, function.__globals__, function.__name__, None, function.__closure__)
    made.__annotations__ = dict(function.__annotations__)
    return made


def symbolic_trace(
    root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """The module or function as a GraphModule: its operations as a graph, which trains and can be changed.

    Parameters are those of ``root``. Control flow that depends on values raises TraceError, and modules that
    compute in C++ become one node each. ``concrete_args`` gives values to some parameters. From the first
    trace on functions and methods ask for ``__torch_function__``. (torch.fx.symbolic_trace)
    """
    if concrete_args is not None and not isinstance(concrete_args, dict):
        raise TypeError("symbolic_trace: expected concrete_args to be a dict of the names of parameters")
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
