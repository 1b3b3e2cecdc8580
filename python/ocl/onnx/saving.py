"""From a module or a function to an ONNX file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx
from onnx import helper

import ocl
from ocl.capture import Graph, capture
from ocl.onnx.errors import UnwritableError
from ocl.onnx.values import ONNX_DTYPES
from ocl.onnx.writing import NotWritable, Writer, table
from ocl.version import __version__

__all__ = ["save", "written_operators"]

OLDEST_OPSET, NEWEST_OPSET = 17, 23
_LARGEST = 2**31 - 2**20  # bytes of a message of protobuf, less room for the nodes


def written_operators() -> list[str]:
    """The names of the operators that `save` can write."""
    return sorted(table())


def save(
    model: ocl.nn.Module | Callable,
    path: str | os.PathLike,
    args: ocl.Tensor | tuple = (),
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None,
    opset_version: int = 18,
    external_data: bool = False,
) -> None:
    """Writes ``model(*args)``, of a module or a function, as an ONNX file.

    A module is written in eval mode, and comes back in the mode that it was in. Its parameters and buffers
    have the names of its state dict; tensors that a function takes from outside become constants. ``args``
    are tensors. Inputs have the names ``input_names``, or those of the parameters of ``forward``; results
    ``output_names``, or "output", "output_0" and so on.

    ``dynamic_axes`` says which axes may have other sizes: ``{"x": {0: "batch"}}``, or ``{"x": [0]}`` without
    names. Axes of one name have one size. The model then runs for several such sizes too, and every number
    that changes with them is computed from the inputs' shapes in the file, never fixed. Names of results are
    allowed and say nothing new. All other sizes are those of ``args``.

    ``external_data`` puts the weights into a file beside it, PATH.data; a model of more than 2 GB needs that.
    The operator set is ``opset_version``, 17 to 23.

    Raises `UnwritableError` with all operators that cannot be written, before anything is written;
    `capture.CaptureError` where the work has no graph for all sizes; ValueError and TypeError for arguments
    that do not fit.

    (torch.onnx.export)
    """
    args = (args,) if isinstance(args, ocl.Tensor) else tuple(args)
    _check(model, args, opset_version)
    names = _input_names(model, args, input_names)
    sizes = _sizes(dynamic_axes or {}, names, args, output_names)
    graph = _captured(model, args, names, sizes)
    outputs = _output_names(output_names, graph, names)
    proto = _written(graph, outputs, opset_version)
    _store(proto, os.fspath(path), external_data)


def _check(model, args, opset: int) -> None:
    if not callable(model):
        raise TypeError(f"onnx: save: expected a module or a function, got {type(model).__name__}")
    for i, value in enumerate(args):
        if not isinstance(value, ocl.Tensor):
            raise TypeError(f"onnx: save: expected tensors as args, got {type(value).__name__} at {i}")
        if value.dtype not in ONNX_DTYPES:
            raise TypeError(f"onnx: save: no dtype of ONNX for {value.dtype}")
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(
            f"onnx: save: opset_version {opset} given, {OLDEST_OPSET} to {NEWEST_OPSET} expected"
        )


def _input_names(model, args, given) -> list[str]:
    if given is None:
        return ocl.export._input_names(model, len(args), {})
    if len(given) != len(args) or len(set(given)) != len(given):
        raise ValueError(f"onnx: save: input_names: {len(args)} different names expected, got {list(given)}")
    return list(given)


def _sizes(dynamic, names, args, output_names) -> list[dict[int, str]]:
    found: list[dict[int, str]] = [{} for _ in args]
    for name, axes in dynamic.items():
        if name not in names:
            if output_names is not None and name in output_names:
                continue
            raise ValueError(f"onnx: save: dynamic_axes: no input {name!r} among {', '.join(names)}")
        i = names.index(name)
        pairs = axes.items() if isinstance(axes, Mapping) else [(a, f"{name}_dynamic_axes_{a}") for a in axes]
        for axis, symbol in pairs:
            if not -args[i].ndim <= axis < args[i].ndim:
                raise ValueError(
                    f"onnx: save: dynamic_axes: {name} has {args[i].ndim} dimensions, no axis {axis}"
                )
            found[i][axis % args[i].ndim] = str(symbol)
    return found


def _captured(model, args, names, sizes) -> Graph:
    if not isinstance(model, ocl.nn.Module):
        return capture(model, args, names=names, sizes=sizes)
    states = [*model.named_parameters(), *model.named_buffers()]
    modes = [(each, each.training) for each in model.modules()]
    model.eval()
    try:
        return capture(model, args, names=names, states=states, sizes=sizes)
    finally:
        for each, training in modes:
            each.training = training


def _output_names(given, graph: Graph, inputs: list[str]) -> list[str]:
    count = len(graph.outputs)
    if given is None:
        return ["output"] if count == 1 else [f"output_{i}" for i in range(count)]
    if len(given) != count or len({*given, *inputs}) != count + len(inputs):
        raise ValueError(
            f"onnx: save: output_names: {count} names that no input has expected, got {list(given)}"
        )
    return list(given)


def _written(graph: Graph, outputs: list[str], opset: int) -> onnx.ModelProto:
    rows = table()
    writer = Writer(graph, opset)
    for value in graph.inputs:
        writer.call(value, writer.fresh(value.name))
    for name in outputs:
        writer.fresh(name)
    missing: dict[tuple[str, str], str] = {}
    for node in graph.nodes:
        if node.operator not in rows:
            missing.setdefault((node.operator, ""), node.results[0].name)
            made: Any = [""] * len(node.results)
        else:
            try:
                made = rows[node.operator](writer, node)
            except NotWritable as error:
                missing.setdefault((node.operator, str(error)), node.results[0].name)
                made = [""] * len(node.results)
        for value, name in zip(node.results, [made] if isinstance(made, str) else made, strict=True):
            writer.call(value, name)
    if missing:
        raise UnwritableError([(name, first, reason) for (name, reason), first in missing.items()])
    for value, name in zip(graph.outputs, outputs, strict=True):
        writer.nodes.append(helper.make_node("Identity", [writer.name_of(value)], [name], name=name))
    proto = helper.make_graph(
        _used(writer.nodes, outputs),
        "ocl",
        [writer.value_info(writer.name_of(v), v) for v in graph.inputs],
        [writer.value_info(name, v) for name, v in zip(outputs, graph.outputs, strict=True)],
    )
    named = {name for node in proto.node for name in node.input}
    proto.initializer.extend(each for name, each in writer.initializers.items() if name in named)
    opsets = [helper.make_opsetid("", opset)]
    versions = helper.find_min_ir_version_for(opsets)
    return helper.make_model(
        proto, opset_imports=opsets, ir_version=versions, producer_name="TapeCL", producer_version=__version__
    )


def _used(nodes: list[onnx.NodeProto], outputs: list[str]) -> list[onnx.NodeProto]:
    """The nodes that some result needs."""
    wanted, kept = {*outputs}, []
    for node in reversed(nodes):
        if wanted & {*node.output}:
            kept.append(node)
            wanted |= {*node.input}
    return kept[::-1]


def _store(proto: onnx.ModelProto, path: str, external: bool) -> None:
    weights = sum(len(each.raw_data) for each in proto.graph.initializer)
    if weights > _LARGEST and not external:
        raise ValueError(
            f"onnx: save: {weights} bytes of weights, and a file holds 2 GB: "
            "external_data=True puts them beside it"
        )
    if not external:
        onnx.save(proto, path)
        return
    location = os.path.basename(path) + ".data"
    beside = os.path.join(os.path.dirname(path), location)
    if os.path.exists(beside):
        os.remove(beside)  # onnx.save appends
    onnx.save(proto, path, save_as_external_data=True, all_tensors_to_one_file=True, location=location)
