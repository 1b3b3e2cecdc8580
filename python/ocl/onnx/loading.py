"""From a file to a `GraphModule`: checks, what is missing, constants, folding."""

import math
import os

import numpy as np
import onnx
from onnx import inliner, numpy_helper

from ocl.onnx.errors import READING_ERRORS, UnsupportedError, at_node
from ocl.onnx.faults import check_functions, fault, nodes_of
from ocl.onnx.graph import Graph, Node, attribute_value, describe, is_small
from ocl.onnx.module import GraphModule
from ocl.onnx.table import table
from ocl.onnx.values import upload

OLDEST_OPSET = 7

# Tensors have no numbers of 4 bits. Weights that are only dequantised are held in 8 bits.
_WIDENED = {"int4": np.int8, "uint4": np.uint8}

# Their results may be much larger than their inputs: a small file must not fill the memory when it is loaded.
_GROWING = {"Expand", "Tile", "Range", "Pad", "Resize", "Upsample", "OneHot", "EyeLike"}
# Their results have at most as many elements as the product of their inputs' numbers says.
_MULTIPLYING = {"MatMul", "MatMulInteger", "Gemm", "Einsum", "Gather", "GatherND"}
# All results that are computed when loading may have so many elements, and 16 for each of an initializer.
_ROOM = 1 << 22


def load(path_or_model, device=None) -> GraphModule:
    """The model of an ONNX file (or an ``onnx.ModelProto``) as a module in eval mode, on ``device``.

    Weights in files beside the model are read from the model's folder, and from nowhere else. Raises
    ValueError that names the byte or the part where the model is malformed, and OSError where the file cannot
    be read. `UnsupportedError` (a ValueError) names all operators that are missing, before anything runs.
    """
    model, opsets = read_model(path_or_model)
    missing = missing_operators(model.graph, opsets)
    if missing:
        raise UnsupportedError(missing)
    return _Builder(opsets, device).module(model.graph).eval()


def read_model(path_or_model) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The model, checked and with its functions expanded, and the versions of its domains."""
    model = _read(path_or_model)
    opsets = {_domain(each.domain): each.version for each in model.opset_import}
    if "" in opsets and opsets[""] < OLDEST_OPSET:
        raise ValueError(f"onnx: opset {opsets['']} given, {OLDEST_OPSET} or later expected")
    if model.functions:
        check_functions(model)
        try:
            model = inliner.inline_local_functions(model)
        except Exception as error:  # assertions of C++, and of protobuf
            raise ValueError(f"onnx: the functions of the model do not fit their nodes: {error}") from error
        opsets |= {_domain(each.domain): each.version for each in model.opset_import}
    return model, opsets


def _read(path_or_model) -> onnx.ModelProto:
    if isinstance(path_or_model, onnx.ModelProto):
        source = model = path_or_model
    elif isinstance(path_or_model, (str, os.PathLike)):
        source = os.fspath(path_or_model)
        if not os.path.isfile(source):
            raise FileNotFoundError(f"onnx: no file {source!r}")
        model = None
    else:
        raise TypeError(f"onnx: expected a path or an onnx.ModelProto, got {type(path_or_model).__name__}")
    where = source if isinstance(source, str) else "the model"
    try:
        onnx.checker.check_model(source)
        return onnx.load(source) if model is None else model
    except Exception as error:  # protobuf's parser has errors of its own, which differ by its version
        if isinstance(error, (OSError, MemoryError)):
            raise
        raise ValueError(f"onnx: {where} {fault(source, error)}") from error


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _version(node: onnx.NodeProto, opsets: dict) -> int:
    """The version of the definition that a node means; the domain's where there is none."""
    domain = _domain(node.domain)
    opset = opsets.get(domain, 1)
    try:
        return onnx.defs.get_schema(node.op_type, opset, domain).since_version
    except onnx.defs.SchemaError:
        return opset


def missing_operators(graph: onnx.GraphProto, opsets: dict) -> list[tuple[str, str, int, str, str]]:
    """The operators that are not supported, as `UnsupportedError` lists them."""
    missing = {}
    for node in nodes_of(graph):
        domain, version = _domain(node.domain), _version(node, opsets)
        row = table().get((domain, node.op_type))
        reason = ""
        if row is not None and version <= row.until:
            attributes = {each.name: each for each in node.attribute}
            try:
                reason = row.refuses and row.refuses(_Attributes(attributes), version)
            except READING_ERRORS as error:
                raise at_node(describe(node), error) from error
            if not reason:
                continue
        name = node.name or next(iter(node.output), "unnamed")
        missing.setdefault((domain, node.op_type, version, reason), name)
    return sorted((*key[:3], node, key[3]) for key, node in missing.items())


class _Attributes:
    """The attributes of a node's message, with defaults, as a `Call` has them."""

    def __init__(self, attributes: dict[str, onnx.AttributeProto]):
        self._attributes = attributes

    def get(self, name: str, default=None):
        if name not in self._attributes:
            return default
        return attribute_value(self._attributes[name])


class _Builder:
    """Turns the messages of a file into graphs, and gathers the constants of all of them."""

    def __init__(self, opsets: dict, device):
        self.opsets = opsets
        self.device = device
        self.constants: dict[str, np.ndarray] = {}  # all that is known when loading
        self.initializers: set[str] = set()
        self._room = 0  # elements that may still be folded

    def module(self, proto: onnx.GraphProto) -> GraphModule:
        self._room = _ROOM + 16 * sum(math.prod(each.dims) for each in proto.initializer)
        graph = self.graph(proto)
        uses = _Uses(graph)
        parameters, buffers, constants = {}, {}, {}
        for name in uses.names:
            array = self.constants.get(name)
            if array is None:
                continue
            if name in self.initializers and self._trains(name, array, uses):
                parameters[name] = self._upload(name, array)
                continue
            if name in uses.on_device or (name in self.initializers and not is_small(array)):
                buffers[name] = (self._upload(name, array), name in self.initializers)
            constants[name] = array
        for name in uses.statistics & {*buffers}:
            del constants[name]  # they move
        return GraphModule(graph, parameters, buffers, constants)

    def _upload(self, name: str, array: np.ndarray):
        try:
            return upload(array, self.device)
        except READING_ERRORS as error:
            raise ValueError(f"onnx: initializer {name!r}: {error}") from error

    def _trains(self, name: str, array: np.ndarray, uses: "_Uses") -> bool:
        floating = array.dtype.name in ("float16", "bfloat16", "float32", "float64")
        return floating and array.ndim > 0 and name in uses.on_device and name not in uses.statistics

    def graph(self, proto: onnx.GraphProto) -> Graph:
        own = []
        dequantized = _dequantized(proto)
        for each in proto.initializer:
            array = _array(each)
            if each.name in dequantized:
                array = array.astype(_WIDENED.get(array.dtype.name, array.dtype), copy=False)
            self.constants[each.name] = array
            self.initializers.add(each.name)
            own.append(each.name)
        nodes = []
        statistics = {
            name for each in proto.node if each.op_type == "BatchNormalization" for name in each.input[3:5]
        }
        for each in proto.node:
            if (
                each.op_type == "Identity"
                and each.output[0] in statistics
                and each.input[0] in self.initializers
            ):
                # PyTorch's exporter joins what is equal when it exports; each norm moves its own.
                self.constants[each.output[0]] = self.constants[each.input[0]]
                self.initializers.add(each.output[0])
                own.append(each.output[0])
                continue
            domain = _domain(each.domain)
            node = self._node(each, domain)
            node.domain = domain
            folded = self._folded(node)
            if folded is None:
                nodes.append(node)
                continue
            for name, value in zip(node.outputs, folded, strict=False):
                self.constants[name] = value
                own.append(name)
        inputs = [each.name for each in proto.input if each.name not in own]
        return Graph(inputs, [each.name for each in proto.output], nodes, own)

    def _node(self, proto: onnx.NodeProto, domain: str) -> Node:
        """A node with its attributes read; ValueError that names it where they cannot be."""
        try:
            return Node(
                proto, table()[domain, proto.op_type], _version(proto, self.opsets), self.opsets, self.graph
            )
        except READING_ERRORS as error:
            raise at_node(describe(proto), error) from error

    def _folded(self, node: Node) -> tuple | None:
        """The results of a node whose inputs are constants that do not train."""
        if node.op_type == "Constant":
            try:
                return (node.row.function(node.attributes),)
            except READING_ERRORS as error:
                raise at_node(node.description, error) from error
        inputs = [self.constants.get(name) if name else None for name in node.inputs]
        if node.op_type in _GROWING or any(
            name and each is None for name, each in zip(node.inputs, inputs, strict=True)
        ):
            return None
        for name, each in zip(node.inputs, inputs, strict=True):
            if name in self.initializers and each.dtype.kind == "f" and each.ndim > 0:
                return None
        if _most_elements(node, inputs) > self._room:
            return None
        try:
            results = node.evaluate_on_host(inputs)
        except Exception:  # the node says what is wrong when it runs
            return None
        self._room -= sum(each.size for each in results or ())
        return results


def _most_elements(node: Node, inputs: list) -> int:
    """The elements that a result has at most, as far as that follows from the sizes of the inputs."""
    arrays = [each for each in inputs if isinstance(each, np.ndarray)]
    if node.op_type in _MULTIPLYING:
        return math.prod(max(each.size, 1) for each in arrays)
    try:
        return math.prod(np.broadcast_shapes(*(each.shape for each in arrays)))
    except ValueError:  # of an operator that does not broadcast
        return sum(each.size for each in arrays)


def _dequantized(graph: onnx.GraphProto) -> set[str]:
    """The names that DequantizeLinear alone reads."""
    names: dict[bool, set[str]] = {True: set(), False: {each.name for each in graph.output}}
    for node in nodes_of(graph):
        names[node.op_type == "DequantizeLinear"].update(node.input)
    return names[True] - names[False]


def _array(proto: onnx.TensorProto) -> np.ndarray:
    try:
        return numpy_helper.to_array(proto)
    except READING_ERRORS as error:
        raise ValueError(f"onnx: initializer {proto.name!r}: {error}") from error


class _Uses:
    """Which names a graph and the graphs in it read, and where."""

    def __init__(self, graph: Graph):
        self.names: dict[str, None] = {}
        self.on_device: set[str] = set()
        self.statistics: set[str] = set()
        self._walk(graph)

    def _walk(self, graph: Graph) -> None:
        for node in graph.nodes:
            for i, name in enumerate(node.inputs):
                self.names[name] = None
                if i not in node.row.host:
                    self.on_device.add(name)
                if node.op_type == "BatchNormalization" and i in (3, 4):
                    self.statistics.add(name)
            for inner in node.graphs:
                self._walk(inner)
        for name in graph.outputs:
            self.names[name] = None
            self.on_device.add(name)
