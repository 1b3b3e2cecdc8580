"""Programs as graphs: ``symbolic_trace`` runs a module or a function with proxies, and gives a GraphModule.

It has torch.fx's names for plain modules: nodes name PyTorch's operations (``call_module``,
``call_function``, ``call_method``, ``get_attr``). A pass changes the graph and calls ``recompile``.
"""

from __future__ import annotations

import importlib

from ocl.fx.wrapping import wrap

_PLACES = {
    "CodeGen": "code",
    "Graph": "graph",
    "GraphModule": "graph_module",
    "Interpreter": "interpreter",
    "Match": "subgraph_rewriter",
    "Node": "node",
    "Proxy": "proxy",
    "Tracer": "tracer",
    "Transformer": "interpreter",
    "has_side_effect": "node",
    "map_arg": "node",
    "replace_pattern": "subgraph_rewriter",
    "symbolic_trace": "tracer",
}
_MODULES = {*_PLACES.values(), "immutable_collections", "passes"}

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]


def __getattr__(name):
    if name in _MODULES:  # imported when first asked for: few programs trace
        return importlib.import_module(f"ocl.fx.{name}")
    if name in _PLACES:
        return getattr(importlib.import_module(f"ocl.fx.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'ocl.fx' has no attribute {name!r}")
