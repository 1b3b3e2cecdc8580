"""Finds the parts of a graph that compute what a pattern computes, and puts other nodes there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ocl import nn
from ocl.fx.graph import Graph
from ocl.fx.graph_module import GraphModule, _copy_attr
from ocl.fx.node import Node
from ocl.fx.tracer import symbolic_trace

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """Where a pattern was found: the node that gives its result, and the graph's node of each of its own."""

    anchor: Node
    nodes_map: dict[Node, Any]


def _graph_of(given: Callable | Graph | GraphModule) -> Graph:
    if isinstance(given, (Graph, GraphModule)):
        return getattr(given, "graph", given)
    return symbolic_trace(given).graph


def _returned(graph: Graph) -> list[Node]:
    """The nodes that a pattern gives."""
    result = graph.output_node().args[0]
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    if not found or not all(isinstance(node, Node) for node in found):
        raise ValueError("replace_pattern: expected a pattern and a replacement that give tensors")
    return found


def _is_same(pattern: Any, given: Any, found: dict[Node, Any]) -> bool:
    """Whether an argument of the graph is that of the pattern; notes in ``found`` which node is which."""
    if isinstance(pattern, Node):
        if pattern in found:
            return found[pattern] is given
        if pattern.op != "placeholder":
            if not isinstance(given, Node) or (pattern.op, pattern.target) != (given.op, given.target):
                return False
            if not _is_same(pattern.args, given.args, found):
                return False
            if not _is_same(pattern.kwargs, given.kwargs, found):
                return False
        found[pattern] = given
        return True
    if isinstance(pattern, (list, tuple)):
        return (
            isinstance(given, (list, tuple))
            and len(pattern) == len(given)
            and all(_is_same(p, g, found) for p, g in zip(pattern, given, strict=True))
        )
    if isinstance(pattern, dict):
        return (
            isinstance(given, dict)
            and pattern.keys() == given.keys()
            and all(_is_same(value, given[key], found) for key, value in pattern.items())
        )
    return type(pattern) is type(given) and pattern == given


def _matches_at(anchor: Node, graph: Graph, returned: list[Node]) -> dict[Node, Any] | None:
    """The match whose first result is ``anchor``."""
    found: dict[Node, Any] = {}
    if not _is_same(returned[0], anchor, found):
        return None
    for other in returned[1:]:  # the first node that fits, of those that nothing stands for yet
        if other in found:
            continue
        for candidate in graph.nodes:
            trial = dict(found)
            if _is_same(other, candidate, trial):
                found = trial
                break
        else:
            return None
    inside = {given for own, given in found.items() if own.op != "placeholder"}
    for own, given in found.items():
        if own.op == "placeholder" or own in returned:
            continue
        if any(user not in inside for user in given.users):
            return None
    return found


def _matches(graph: Graph, pattern: Graph) -> list[dict[Node, Any]]:
    """All matches that share no node, in the graph's order."""
    returned = _returned(pattern)
    if returned[0].op == "placeholder":
        raise ValueError("replace_pattern: expected a pattern that computes something")
    taken: set[Node] = set()
    matches = []
    for anchor in graph.nodes:
        found = _matches_at(anchor, graph, returned)
        if found is None:
            continue
        inside = {given for own, given in found.items() if own.op != "placeholder"}
        if taken.isdisjoint(inside):
            taken |= inside
            matches.append(found)
    return matches


def replace_pattern(
    gm: GraphModule,
    pattern: Callable | Graph | GraphModule,
    replacement: Callable | Graph | GraphModule,
) -> list[Match]:
    """Puts ``replacement`` wherever ``gm`` computes ``pattern``, and compiles it; gives the matches.

    Both are functions of the same number of tensors, which are traced, or graphs. A match uses the same
    operations on the same values; nobody else uses what it computes on the way. (torch.fx.replace_pattern)
    """
    graph, wanted, other = gm.graph, _graph_of(pattern), _graph_of(replacement)
    inputs, new_inputs = wanted.find_nodes(op="placeholder"), other.find_nodes(op="placeholder")
    if len(inputs) != len(new_inputs):
        raise AssertionError(f"Placeholder count mismatch: {len(inputs)} vs {len(new_inputs)}")
    returned = _returned(wanted)
    if len(returned) != len(_returned(other)):
        raise AssertionError(f"Returning nodes count mismatch: {len(returned)} vs {len(_returned(other))}")
    matches, renewed = [], {}
    for found in _matches(graph, wanted):
        for own in inputs:
            found[own] = renewed.get(found.get(own), found.get(own))
        values = {new: found[own] for own, new in zip(inputs, new_inputs, strict=True)}
        gone = [found[own] for own in returned]
        users = {user for node in gone for user in node.users}
        place = next((node for node in graph.nodes if node in users), gone[-1].next)
        with graph.inserting_before(place):
            results = graph.graph_copy(other, values)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        for old, new in zip(gone, results, strict=True):
            old.replace_all_uses_with(new)
            renewed[old] = new
        for own in reversed(wanted.nodes):
            if own.op not in ("placeholder", "output"):
                graph.erase_node(found[own])
        matches.append(Match(gone[0], found))
    if isinstance(replacement, nn.Module):
        for node in graph.nodes:
            if node.op in ("call_module", "get_attr") and not _leads_somewhere(gm, node.target):
                _copy_attr(replacement, gm, node.target)
        gm.delete_all_unused_submodules()
    gm.recompile()
    return matches


def _leads_somewhere(module: nn.Module, target: str) -> bool:
    place: Any = module
    for name in target.split("."):
        if not hasattr(place, name):
            return False
        place = getattr(place, name)
    return True
