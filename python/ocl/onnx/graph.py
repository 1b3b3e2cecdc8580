"""Graphs as lists of nodes that are ready to run."""

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference.ops import load_op

import ocl
from ocl.imported import last_uses
from ocl.onnx.call import Call
from ocl.onnx.errors import MEMORY_ERRORS, READING_ERRORS, at_node
from ocl.onnx.table import Operator
from ocl.onnx.values import HOST_ELEMENTS, read, upload


class Node:
    """One node: its row of the table, its attributes as values of Python."""

    def __init__(self, proto: onnx.NodeProto, row: Operator, version: int, opsets: dict, graphs):
        self.op_type = proto.op_type
        self.domain = proto.domain
        self.description = describe(proto)
        self.inputs = list(proto.input)
        self.outputs = list(proto.output)
        self.row = row
        self.version = version
        self.attributes = {
            each.name: graphs(each.g) if each.type == onnx.AttributeProto.GRAPH else attribute_value(each)
            for each in proto.attribute
        }
        self.last_uses: list[str] = []
        self._reference = _reference(proto, opsets) if row.folds else None

    @property
    def graphs(self) -> list["Graph"]:
        return [value for value in self.attributes.values() if isinstance(value, Graph)]

    def uses(self) -> list[str]:
        """The names that the node and its graphs read."""
        outer = [name for graph in self.graphs for name in graph.outer_names()]
        return [name for name in self.inputs if name] + outer

    def evaluate_on_host(self, inputs: list) -> tuple | None:
        """The results as arrays, where that is possible."""
        if self._reference is None or not any(each is not None for each in inputs):
            return None
        if not all(each is None or isinstance(each, np.ndarray) for each in inputs):
            return None
        try:
            with np.errstate(all="ignore"):
                results = self._reference.run(*inputs)
        except MEMORY_ERRORS:
            raise
        except Exception as error:  # the package has errors of its own beside Python's
            raise ValueError(error) from error
        return tuple(np.asarray(each) for each in results)


def describe(node: onnx.NodeProto) -> str:
    """Its name, or that of its first result, and its operator."""
    name = node.name or next((each for each in node.output if each), node.op_type)
    return f"node {name!r} ({node.domain + '::' if node.domain else ''}{node.op_type})"


def attribute_value(proto: onnx.AttributeProto):
    """An attribute as a value of Python; a tensor as an array."""
    if proto.type == onnx.AttributeProto.TENSOR:
        return numpy_helper.to_array(proto.t)
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, list):
        return [each.decode() if isinstance(each, bytes) else each for each in value]
    return value.decode() if isinstance(value, bytes) else value


def _reference(proto: onnx.NodeProto, opsets: dict):
    """ONNX's own implementation in NumPy, for values on the host; None where there is none."""
    try:
        implementation = load_op(proto.domain, proto.op_type, opsets.get(proto.domain, 1))
        parameters = {"log": lambda *_: None, "opsets": opsets, "verbose": 0, "new_ops": None}
        return implementation(proto, parameters)
    except Exception:  # whatever the package raises for an operator that it has no such implementation of
        return None


class Graph:
    """Nodes in order, and the names that come in, go out and are constant."""

    def __init__(self, inputs, outputs, nodes, constants):
        self.inputs: list[str] = inputs
        self.outputs: list[str] = outputs
        self.nodes: list[Node] = nodes
        self.constants: list[str] = constants
        for node, names in zip(nodes, last_uses(nodes, {*outputs}, self._own()), strict=True):
            node.last_uses = names

    def _own(self) -> set[str]:
        return {*self.inputs, *(name for node in self.nodes for name in node.outputs)}

    def outer_names(self) -> list[str]:
        """The names that the graph reads from around it."""
        own = self._own() | {*self.constants}
        used = [name for node in self.nodes for name in node.uses()] + self.outputs
        return [name for name in dict.fromkeys(used) if name not in own]


class Run:
    """One run of a graph."""

    def __init__(
        self, constants: dict[str, np.ndarray], tensors: dict[str, ocl.Tensor], device, training: bool
    ):
        self.device = device
        self.training = training
        self._constants = constants
        self._tensors = tensors
        self._values = dict(constants) | {
            name: each for name, each in tensors.items() if not is_small(constants.get(name))
        }

    def tensor(self, value) -> ocl.Tensor:
        if isinstance(value, np.ndarray):
            return upload(value, self.device)
        return value

    def inner(self, graph: Graph, inputs) -> list:
        """A graph within a node, which sees the names around it."""
        within = Run.__new__(Run)
        within.device, within.training = self.device, self.training
        within._constants, within._tensors = self._constants, self._tensors
        within._values = dict(self._values)
        return within.outputs(graph, inputs)

    def outputs(self, graph: Graph, inputs) -> list:
        self._values.update(zip(graph.inputs, inputs, strict=True))
        for node in graph.nodes:
            try:
                results = self._evaluate(node)
            except (*READING_ERRORS, *MEMORY_ERRORS) as error:
                named = at_node(node.description, error)
                if named is error:
                    raise
                raise named from error
            for name, result in zip(node.outputs, results, strict=False):
                if name:
                    self._values[name] = result
            for name in node.last_uses:
                self._values.pop(name, None)
        missing = [name for name in graph.outputs if name not in self._values]
        if missing:
            raise ValueError(f"onnx: output {missing[0]!r}: its node gave fewer results than it names")
        return [self._values[name] for name in graph.outputs]

    def _evaluate(self, node: Node) -> tuple:
        inputs = [self._values[name] if name else None for name in node.inputs]
        results = node.evaluate_on_host(inputs)
        if results is not None:
            return tuple(each if is_small(each) else self.tensor(each) for each in results)
        row = node.row
        for i, value in enumerate(inputs):
            if i in row.host:
                inputs[i] = self._host(node, i, value)
            elif i not in row.either:
                inputs[i] = self._tensor(node, i, value)
        result = row.function(Call(node, self), *inputs)
        return result if isinstance(result, tuple) else (result,)

    def _host(self, node: Node, i: int, value):
        constant = self._constants.get(node.inputs[i])
        return read(value) if constant is None else constant

    def _tensor(self, node: Node, i: int, value):
        if not isinstance(value, np.ndarray):
            return value
        if value.ndim == 0 and i in node.row.numbers:
            return value.item()
        known = self._tensors.get(node.inputs[i])
        return self.tensor(value) if known is None else known


def is_small(value) -> bool:
    """Whether a value is an array that shapes and numbers are computed from."""
    return isinstance(value, np.ndarray) and value.size <= HOST_ELEMENTS
