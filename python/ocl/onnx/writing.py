"""The table from operators to functions that write them as nodes of ONNX, and the graph that they write to.

A function takes a `Writer` and the node, whose arguments are `capture.Value`s, numbers and texts, and returns
the name of its result, or a list of names of several. Names have the results' dtypes and shapes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import ocl
from ocl.capture import Graph, Node, Size, Value
from ocl.onnx.values import ONNX_DTYPES, read

FAMILIES = ("pointwise", "reduce", "shape", "indexing", "matrix", "conv", "norm", "recurrent", "resize")
SIXTEEN = (ocl.float16, ocl.bfloat16)
# Integers narrower than those that ONNX computes with.
NARROW = (ocl.uint8, ocl.int8, ocl.int16)

_table: dict[str, Callable] = {}


def writes(names: str):
    """Puts a function into the table under one name, or several that are separated by spaces."""

    def keep(function):
        for name in names.split():
            if _table.setdefault(name, function) is not function:
                raise ValueError(f"operator {name!r} is in the table twice")
        return function

    return keep


def table() -> dict[str, Callable]:
    for family in FAMILIES:
        importlib.import_module(f"ocl.onnx.writers.{family}")
    return _table


class NotWritable(ValueError):
    """Why a call of an operator cannot be written, though others of it can."""


class Writer:
    """The nodes and initializers of the graph that is being written."""

    def __init__(self, graph: Graph, opset: int) -> None:
        self.graph, self.opset = graph, opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self._names: set[str] = set()
        self._of: dict[int, str] = {}
        self._known: dict[tuple, str] = {}

    # ---- names

    def fresh(self, stem: str) -> str:
        name, i = stem, 0
        while name in self._names:
            i += 1
            name = f"{stem}_{i}"
        self._names.add(name)
        return name

    def name_of(self, value: Value) -> str:
        """The name that a value has in the file; a state or constant is put there by its first use."""
        if id(value) not in self._of:
            name = self.fresh(value.name)
            array = read(value.tensor)
            self.initializers[name] = numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape), name
            )
            self._of[id(value)] = name
        return self._of[id(value)]

    def call(self, value: Value, name: str) -> None:
        self._of[id(value)] = name

    # ---- nodes

    def op(
        self, kind: str, *inputs: str | Value | None, results: int = 0, domain: str = "", **attributes: Any
    ):
        """A node; its result's name, or a list of `results` names. Attributes of None are left out."""
        given = [self.name_of(i) if isinstance(i, Value) else i or "" for i in inputs]
        while given and not given[-1]:
            given.pop()
        made = [self.fresh(kind) for _ in range(results or 1)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(kind, given, made, name=made[0], domain=domain, **attributes))
        return made if results else made[0]

    def constant(self, value: Any, dtype: ocl.dtype = ocl.int64) -> str:
        """An initializer with these numbers."""
        number = ONNX_DTYPES[dtype]
        numpy_dtype = helper.tensor_dtype_to_np_dtype(number)
        array = np.asarray(value)
        if numpy_dtype.kind in "iu" and array.dtype.kind == "f":
            array = np.trunc(array)
        array = array.astype(numpy_dtype)
        key = (number, array.shape, array.tobytes())
        if key not in self._known:
            name = self.fresh("constant")
            self.initializers[name] = numpy_helper.from_array(array, name)
            self._known[key] = name
        return self._known[key]

    def cast(self, name: str | Value, to: ocl.dtype, since: ocl.dtype | None = None) -> str:
        """A tensor in a dtype; `since` is the dtype that it has."""
        since = name.dtype if isinstance(name, Value) else since
        name = self.name_of(name) if isinstance(name, Value) else name
        return name if since == to else self.op("Cast", name, to=ONNX_DTYPES[to])

    # ---- sizes

    def size(self, value: int | Size) -> str:
        """A size as a tensor of int64 and shape [1], from the inputs' shapes if it depends on them."""
        if not isinstance(value, Size):
            return self.constant([value])
        key = ("size", value)
        if key not in self._known:
            self._known[key] = self._sum(value)
        return self._known[key]

    def _symbol(self, symbol: str) -> str:
        key = ("symbol", symbol)
        if key not in self._known:
            value, axis = self.graph.symbols[symbol]
            self._known[key] = self.op("Shape", value, start=axis, end=axis + 1)
        return self._known[key]

    def _sum(self, size: Size) -> str:
        divisor = int(np.lcm.reduce([f.denominator for f in size.terms.values()]))
        total = None
        for names, factor in size.terms.items():
            term = None if factor * divisor == 1 and names else self.constant([int(factor * divisor)])
            for name in names:
                each = self._symbol(name)
                term = each if term is None else self.op("Mul", term, each)
            total = term if total is None else self.op("Add", total, term)
        return total if divisor == 1 else self.op("Div", total, self.constant([divisor]))

    def sizes(self, values: Iterable[int | Size]) -> str:
        """Several as a tensor of one dimension."""
        values = list(values)
        if not any(isinstance(v, Size) for v in values):
            return self.constant(np.array(values, np.int64))
        parts = [self.size(v) for v in values]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def reshape(self, x: str | Value, shape: Iterable[int | Size]) -> str:
        shape = list(shape)
        unknown = [i for i, v in enumerate(shape) if isinstance(v, Size)]
        if len(unknown) == 1 and all(isinstance(v, Size) or v > 0 for v in shape):
            shape[unknown[0]] = -1
        zero = 1 if any(not isinstance(v, Size) and v == 0 for v in shape) else None
        return self.op("Reshape", x, self.sizes(shape), allowzero=zero)

    def number(self, value: Any, what: str) -> Any:
        """A number that has to be the same for all sizes."""
        if isinstance(value, Size):
            raise NotWritable(f"{what} depends on the sizes ({value}), and ONNX has it as a fixed number")
        return value

    def reduce(self, kind: str, x: str | Value, dims: list[int], keepdim: bool) -> str:
        """A reduction over dims; the opset says where ONNX has them."""
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.constant(np.array(dims, np.int64)), keepdims=int(keepdim))
        return self.op(kind, x, axes=dims, keepdims=int(keepdim))

    def value_info(self, name: str, value: Value) -> onnx.ValueInfoProto:
        shape = [str(v) if isinstance(v, Size) else v for v in value.shape]
        return helper.make_tensor_value_info(name, ONNX_DTYPES[value.dtype], shape)


def compute_dtype(dtype: ocl.dtype) -> ocl.dtype:
    """The dtype that several nodes for one operator compute in, which round once at the end as ours do."""
    if dtype in SIXTEEN:
        return ocl.float32
    return ocl.int64 if dtype in NARROW or dtype == ocl.bool_ else dtype


def dims_of(node: Node, value: Value, key: str = "dims") -> list[int]:
    """The dimensions of a reduction, all where none are named."""
    dims = node.arguments.get(key)
    dims = [dims] if isinstance(dims, int) else dims
    return [d % value.ndim for d in dims] if dims and value.ndim else list(range(value.ndim))
