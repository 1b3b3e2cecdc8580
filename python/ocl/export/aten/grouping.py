"""Which operators a device can run, and how they are grouped. Needs PyTorch, unlike its neighbours."""

import math
import operator as python_operator
from typing import Any

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

import ocl
from ocl.export.aten.loading import called_operators, foreign_dtype, operator_name, refusal
from ocl.export.aten.table import table

# Families of operators that compute nothing: by themselves they are not worth the way to a device.
_MOVES = ("numbers", "shape")


def group(
    module: torch.fx.GraphModule, device: ocl.device, memory: int | None, prefix: str
) -> dict[str, str]:
    """Puts what a device can run into submodules whose names begin with ``prefix``, as few as can be.

    Returns why the other operators do not run there, by the names of their nodes.
    """
    _own_graphs(module)
    reasons = _Reasons(module, device, memory)
    supported = create_op_support(
        lambda _, node: (
            node.op == "call_function" and node.name not in reasons.found and not _is_size_of_argument(node)
        )
    )
    partitioner = CapabilityBasedPartitioner(module, supported, allows_single_node_partition=True)
    groups = []
    for proposed in reversed(partitioner.propose_partitions()):
        nodes = [*proposed.nodes]
        if all(table()[operator_name(node.target)].family in _MOVES for node in nodes):
            reasons.found |= {node.name: "alone it computes nothing" for node in nodes if is_operator(node)}
            continue
        graphs = [each for node in nodes for each in node.all_input_nodes if _inner_graph(each) is not None]
        groups.append(dict.fromkeys([*graphs, *nodes]))
    fuse_by_partitions(module, groups, prefix, always_return_tuple=True)
    return reasons.found


def is_operator(node: torch.fx.Node) -> bool:
    """Whether a node computes something, and does not just take one of several results."""
    return node.op == "call_function" and node.target is not python_operator.getitem


def _is_size_of_argument(node: torch.fx.Node) -> bool:
    """Whether a node asks an argument for its size, for which the argument need not come to a device."""
    return node.target is torch.ops.aten.sym_size.int and node.args[0].op == "placeholder"


class _Reasons:
    """Why operators of a graph do not run on a device; ``found`` has them by the names of their nodes."""

    def __init__(self, module: torch.fx.GraphModule, device: ocl.device, memory: int | None):
        properties = ocl.get_device_properties(device)
        self.doubles = properties["fp64"]
        self.largest = properties["max_allocation"]
        self.memory = properties["total_memory"] if memory is None else memory
        self.found: dict[str, str] = {}
        for node in module.graph.nodes:
            if is_operator(node) and (reason := self._of(node)):
                self.found[node.name] = reason
        self._fill(module.graph)

    def _of(self, node: torch.fx.Node) -> str:
        """Why a device cannot run a node, whatever runs beside it, or ""."""
        if getattr(getattr(node.target, "_schema", None), "is_mutable", False):
            return "it writes to a tensor of the module, which PyTorch holds"
        inner = [graph for each in node.all_input_nodes if (graph := _inner_graph(each)) is not None]
        for each, operator in [
            (node, operator_name(node.target)),
            *(p for g in inner for p in called_operators(g)),
        ]:
            reason = refusal(each, operator)
            if reason is not None:
                within = "" if each is node else f"{operator} within: "
                return within + (reason or "no such operator on devices")
        values = [node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)]
        tensors = [value for value in _tensors(values)]
        if reason := foreign_dtype(tensors):
            return reason
        if not self.doubles and any(tensor.dtype == torch.float64 for tensor in tensors):
            return "the device has no float64"
        largest = max(map(_bytes, tensors), default=0)
        if largest > self.largest:
            return f"a tensor of {_size(largest)}, and the device allocates at most {_size(self.largest)}"
        return ""

    def _fill(self, graph: torch.fx.Graph) -> None:
        """Refuses operators at which the device would hold more than its memory.

        The device holds tensors of the module from their first use on, and results until their last use.
        Where a tensor of the module does not fit, nothing goes to the device from there on. It would
        come back there for the few operators without such tensors.
        """
        order = {node: index for index, node in enumerate(graph.nodes)}
        held: dict[torch.fx.Node, int] = {}
        full = ""
        for node in graph.nodes:
            if node.op != "call_function" or node.name in self.found:
                continue
            held = {
                each: size
                for each, size in held.items()
                if each.op == "get_attr" or max(map(order.get, each.users), default=-1) >= order[node]
            }
            added = {
                each: sum(map(_bytes, _tensors([each.meta.get("val")])))
                for each in (*node.all_input_nodes, node)
                if each not in held and not _gives_several(each)
            }
            needed = sum(held.values()) + sum(added.values())
            if not full and needed <= self.memory:
                held |= added
            elif is_operator(node):
                reason = f"with it {_size(needed)} of memory are in use, of {_size(self.memory)}"
                self.found[node.name] = full or reason
                if not full and any(each.op == "get_attr" for each in added):
                    full = f"the memory is full, from node {node.name!r} on"


def _gives_several(node: torch.fx.Node) -> bool:
    """Whether other nodes stand for the results of a node."""
    return isinstance(node.meta.get("val"), (tuple, list))


def _tensors(value: Any):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each)


def _bytes(tensor: torch.Tensor) -> int:
    """The size of a tensor, at the example's sizes where they may change."""
    sizes = (size if isinstance(size, int) else size.node.hint or 1 for size in tensor.shape)
    return math.prod(sizes) * tensor.element_size()


def _size(count: int) -> str:
    """A number of bytes in words."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def _inner_graph(node: torch.fx.Node) -> torch.fx.GraphModule | None:
    """The graph that a node stands for, or None."""
    if node.op != "get_attr":
        return None
    value: Any = node.graph.owning_module
    for part in node.target.split("."):
        value = getattr(value, part)
    return value if isinstance(value, torch.fx.GraphModule) else None


def _own_graphs(module: torch.fx.GraphModule) -> None:
    """Gives each node that runs an inner graph a node of its own that stands for the graph."""
    for node in module.graph.find_nodes(op="get_attr"):
        if _inner_graph(node) is None:
            continue
        for user in [*node.users][1:]:
            with module.graph.inserting_before(user):
                user.replace_input_with(node, module.graph.node_copy(node))
