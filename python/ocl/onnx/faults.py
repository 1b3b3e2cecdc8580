"""Where a file is wrong: the byte or the part, which protobuf's parser and ONNX's checker do not say."""

from __future__ import annotations

import os
from collections.abc import Iterator

import onnx
from onnx import checker, external_data_helper

from ocl.onnx.graph import describe

# Few functions, each of which calls the next twice, stand for far more nodes than a file has bytes. The nodes
# may have so many bytes, and so many for each of the file.
_MOST_EXPANDED, _EXPANDED_A_BYTE = 64 << 20, 16

_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5
_DEEPEST = 100  # messages within messages, as protobuf's own parser


def fault(source: str | onnx.ModelProto, error: Exception) -> str:
    """A text for a model that cannot be read for that error: "is malformed: node 'sum' (Add): …"."""
    model = source
    if isinstance(source, str):
        at = first_bad_byte(source)
        if at is not None:
            return f"is no ONNX model at byte {at}: {error}"
        model = onnx.load(source, load_external_data=False)
    part = _part_of_checker(model, error)
    if not part and isinstance(source, str):
        part = _part_without_data(model, os.path.dirname(source))
    return f"is malformed: {part}{error}"


def nodes_of(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those of inner graphs too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from nodes_of(attribute.g)


def check_functions(model: onnx.ModelProto) -> None:
    """Raises ValueError where the model's functions expand beyond all measure."""
    functions = {(each.domain, each.name, each.overload): each for each in model.functions}
    sizes: dict[tuple, int] = {}  # in bytes, with what is called expanded
    most = _MOST_EXPANDED + _EXPANDED_A_BYTE * model.ByteSize()

    def expanded(graph) -> int:
        size = 0
        for node in nodes_of(graph):
            called = node.domain, node.op_type, node.overload
            if called in functions and called not in sizes:
                sizes[called] = expanded(functions[called])
            size += sizes.get(called, node.ByteSize())
            if size > most:
                raise ValueError(
                    f"onnx: {describe(node)}: with its functions expanded the model is too large"
                )
        return size

    expanded(model.graph)


def _part_of_checker(model: onnx.ModelProto, error: Exception) -> str:
    """The input, output, initializer or node of which the checker says this."""
    context = checker.C.CheckerContext()
    context.ir_version = model.ir_version
    context.opset_imports = {each.domain: each.version for each in model.opset_import}
    graph = model.graph
    parts = [(f"input {each.name!r}", checker.check_value_info, each) for each in graph.input]
    parts += [(f"output {each.name!r}", checker.check_value_info, each) for each in graph.output]
    parts += [
        (f"initializer {each.name or i!r}", checker.check_tensor, each)
        for i, each in enumerate(graph.initializer)
    ]
    nodes = [*nodes_of(graph), *(each for function in model.functions for each in function.node)]
    parts += [(describe(each), checker.check_node, each) for each in nodes]
    for place, check, each in parts:
        try:
            check(each, context)
        except Exception as own:
            if str(own).splitlines()[:1] == str(error).splitlines()[:1]:
                return f"{place}: "
    return ""


def _part_without_data(model: onnx.ModelProto, folder: str) -> str:
    """The first tensor whose data cannot be read from the file that it names."""
    attributes = [each for node in nodes_of(model.graph) for each in node.attribute]
    for tensor in [*model.graph.initializer, *(each.t for each in attributes if each.HasField("t"))]:
        if external_data_helper.uses_external_data(tensor):
            try:
                external_data_helper.load_external_data_for_tensor(tensor, folder)
            except Exception:
                return f"data of tensor {tensor.name!r}: "
    return ""


class _Bad(Exception):
    """No message goes on at the byte that is the argument."""


def first_bad_byte(path: str) -> int | None:
    """The byte at which the file of a model holds no message any more; None where all of it is one."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        _walk(content, 0, len(content), onnx.ModelProto.DESCRIPTOR, 0)
    except _Bad as bad:
        return bad.args[0]
    return None


def _varint(content: bytes, at: int, end: int) -> tuple[int, int]:
    """A number and the byte behind it."""
    value = 0
    for i in range(10):
        if at + i >= end:
            break
        byte = content[at + i]
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, at + i + 1
    raise _Bad(at)


def _walk(content: bytes, at: int, end: int, message, depth: int) -> None:
    """Goes through the fields of a message between two bytes."""
    while at < end:
        start = at
        tag, at = _varint(content, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag >= 1 << 32 or depth > _DEEPEST:
            raise _Bad(start)
        if wire == _VARINT:
            _, at = _varint(content, at, end)
        elif wire in (_EIGHT_BYTES, _FOUR_BYTES):
            at += 8 if wire == _EIGHT_BYTES else 4
        elif wire == _COUNTED:
            length, at = _varint(content, at, end)
            if length > end - at:
                raise _Bad(start)
            field = message.fields_by_number.get(number)
            if field is not None and field.message_type is not None:
                _walk(content, at, at + length, field.message_type, depth + 1)
            elif field is not None and field.type == field.TYPE_STRING:
                _check_text(content, at, at + length)
            elif field is not None and field.type != field.TYPE_BYTES:
                _check_packed(content, at, at + length, field)
            at += length
        else:
            raise _Bad(start)  # groups, which no message of ONNX has, or no kind at all
        if at > end:
            raise _Bad(start)


def _check_packed(content: bytes, at: int, end: int, field) -> None:
    """Numbers one after another."""
    size = {field.TYPE_FLOAT: 4, field.TYPE_DOUBLE: 8}.get(field.type)
    if size is not None and (end - at) % size:
        raise _Bad(at)
    while size is None and at < end:
        _, at = _varint(content, at, end)


def _check_text(content: bytes, at: int, end: int) -> None:
    try:
        content[at:end].decode()
    except UnicodeDecodeError as error:
        raise _Bad(at + error.start) from None
