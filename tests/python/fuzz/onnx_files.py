"""Damaged ONNX files: the valid ones, what is changed in them, and how they are read."""

import functools
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import ocl
from fuzz import files, program_files
from fuzz.watched import Watch, judged_by
from ocl.onnx.values import DTYPES

PLACES = (
    r"(?i)\bat byte \d+|\bnode|\binitializer|'init'|\btensor |\binput|\boutput|\bvalue_info|\bgraph|"
    r"\bfunction|\bopset|ir_version|\bexternal data"
)
# An error that the device finds, such as a division by zero, names the operator.
RUN_PLACES = PLACES + r"|^\w+: "
MOST_ELEMENTS = 1 << 16  # of an input that the fuzzer makes
LARGEST = 20_000  # bytes of a node test's file


# --- valid files


def made(nodes, inputs, outputs, initializers=(), **options):
    values = [helper.make_tensor_value_info(*each) for each in inputs]
    results = [helper.make_tensor_value_info(name, 1, [f"{name}_size"]) for name in outputs]
    graph = helper.make_graph(list(nodes), "graph", values, results, list(initializers))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **options).SerializeToString()


def array(name, *values, dtype=np.float32):
    return numpy_helper.from_array(np.array(values, dtype), name)


def net():
    return files.written(
        lambda path: ocl.onnx.save(program_files.pictures().eval(), path, (program_files.drawn(2, 2, 8, 8),))
    )


def transformer():
    layer = ocl.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    axes = {"x": {0: "batch", 1: "length"}}
    x = program_files.drawn(2, 4, 8)
    return files.written(
        lambda path: ocl.onnx.save(layer, path, (x,), input_names=["x"], dynamic_axes=axes, opset_version=20)
    )


def integers():
    """A convolution of int8 between QuantizeLinear and DequantizeLinear."""
    node = helper.make_node
    weight = numpy_helper.from_array(np.arange(-9, 9, dtype=np.int8).reshape(1, 2, 3, 3), "weight")
    nodes = [
        node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        node(
            "QLinearConv",
            ["q", "scale", "zero", "weight", "scales", "none", "scale", "zero"],
            ["c"],
            pads=[1] * 4,
        ),
        node("DequantizeLinear", ["c", "scale", "zero"], ["y"]),
    ]
    numbers = [array("scale", 0.5), array("zero", 3, dtype=np.uint8), array("none", 0, dtype=np.int8)]
    numbers = [
        numpy_helper.from_array(numpy_helper.to_array(each).reshape(()), each.name) for each in numbers
    ]
    weights = [weight, *numbers, array("scales", 0.25)]
    return made(nodes, [("x", 1, [1, 2, 4, 4])], ["y"], weights)


def control():
    """A loop whose body has a branch, a scan, and shapes that are computed."""
    node, value = helper.make_node, helper.make_tensor_value_info
    then = helper.make_graph([node("Add", ["sum", "one"], ["t"])], "then", [], [value("t", 1, None)])
    other = helper.make_graph([node("Mul", ["sum", "sum"], ["e"])], "else", [], [value("e", 1, None)])
    body = helper.make_graph(
        [
            node("Equal", ["i", "two"], ["is_two"]),
            node("If", ["is_two"], ["next"], then_branch=then, else_branch=other),
            node("Identity", ["goes_on"], ["goes_on_then"]),
            node("Identity", ["next"], ["seen"]),
        ],
        "body",
        [value("i", 7, []), value("goes_on", 9, []), value("sum", 1, None)],
        [value("goes_on_then", 9, []), value("next", 1, None), value("seen", 1, None)],
    )
    step = helper.make_graph(
        [node("Add", ["state", "row"], ["moved"]), node("Identity", ["moved"], ["kept"])],
        "step",
        [value("state", 1, [4]), value("row", 1, [4])],
        [value("moved", 1, [4]), value("kept", 1, [4])],
    )
    nodes = [
        node("Loop", ["trips", "", "x"], ["last", "all"], body=body),
        node("ReduceSum", ["last", "axes"], ["first"], keepdims=0),
        node("Scan", ["first", "last"], ["state", "rows"], body=step, num_scan_inputs=1),
        node("Shape", ["all"], ["shape"]),
        node("ConstantOfShape", ["shape"], ["filled"], value=array("", 2.5)),
        node("Range", ["zero", "trips_f", "one"], ["steps"]),
        node("Expand", ["steps", "wide"], ["wider"]),
        node("Add", ["all", "filled"], ["y"]),
    ]
    scalars = {"trips": (3, np.int64), "two": (2, np.int64), "one": (1, np.float32), "zero": (0, np.float32)}
    constants = [numpy_helper.from_array(np.array(n, dtype), name) for name, (n, dtype) in scalars.items()]
    constants += [
        numpy_helper.from_array(np.array(5, np.float32), "trips_f"),
        array("axes", 0, dtype=np.int64),
    ]
    constants.append(array("wide", 2, 5, dtype=np.int64))
    return made(nodes, [("x", 1, [3, 4])], ["y", "rows", "state", "wider"], constants)


def functions():
    """Functions of the model's own, one of which calls another."""
    node, opsets = helper.make_node, [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    inner = helper.make_function("own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], opsets)
    calls = [node("Twice", ["a"], ["h"], domain="own"), node("LeakyRelu", ["h"], ["b"], alpha=0.3)]
    outer = helper.make_function("own", "Outer", ["a"], ["b"], calls, opsets)
    nodes = [node("Outer", ["x"], ["h"], domain="own"), node("Softmax", ["h"], ["y"], axis=-1)]
    return made(nodes, [("x", 1, [2, 3])], ["y"], functions=[inner, outer])


def external():
    """A weight in a file beside it."""
    weight = array("weight", *range(12))
    weight.dims[:] = [4, 3]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "weights.bin", "offset": "0", "length": "48"}.items():
        weight.external_data.add(key=key, value=value)
    gemm = helper.make_node("Gemm", ["x", "weight"], ["y"])
    return made([gemm], [("x", 1, ["n", 4])], ["y"], [weight])


@functools.cache
def node_tests():
    """ONNX's own node tests that are small: operators of all kinds, each alone."""
    sys.path.append(str(Path(__file__).parents[1] / "onnx_files"))
    from node_cases import foreign_dtypes, node_cases

    models = [with_constants(case) for case in node_cases().values() if not foreign_dtypes(case)]
    return [content for each in models if len(content := each.SerializeToString()) < LARGEST]


def with_constants(case):
    """Its model with the inputs that are no floats, such as shapes and places, as initializers."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for about, value in zip(model.graph.input, case.data_sets[0][0], strict=False):
        if isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.size <= 64:
            model.graph.initializer.append(numpy_helper.from_array(value, about.name))
    return model


# --- mutations


def of_model(change):
    """The mutation that changes the message by `change(rng, model)`."""

    def mutate(rng, content):
        model = onnx.ModelProto()
        try:
            model.ParseFromString(content)
            for _ in range(rng.choice((1, 1, 2, 3))):
                change(rng, model)
            return model.SerializeToString()
        except Exception:  # nothing to choose from, or no such value
            return content

    return mutate


def messages(message):
    """A message and all that it holds."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if field.is_repeated else (value,):
                yield from messages(each)


def of_type(model, *kinds):
    return [each for each in messages(model) if isinstance(each, kinds)]


def stranger(rng, field):
    """A value for a field, as far from the usual as its type allows."""
    if field.enum_type is not None:
        return rng.choice((0, 1, 7, 8, 16, 23, 99, -1))
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
        bits = 31 if field.cpp_type == field.CPPTYPE_INT32 else 63
        return rng.choice((0, 1, 2, 3, 5, -1, -2, 255, 2**bits - 1, -(2**bits), 2 ** (bits - 1), 100_000))
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice((0.0, -1.0, 0.5, 1e9, 1e30, float("inf"), float("nan")))
    text = rng.choice(("", "x", "y", "Relu", "weight", "constant", "\u00e9" * 9, "a" * 300))
    return text if field.type == field.TYPE_STRING else text.encode() + rng.randbytes(rng.choice((0, 1, 8)))


def edit_field(rng, model):
    """A field of any message is another value, is gone, comes twice, or takes a like one's place."""
    message = rng.choice(list(messages(model)))
    field = rng.choice(message.DESCRIPTOR.fields)
    if field.is_repeated:
        values = getattr(message, field.name)
        at = rng.randrange(len(values))
        action = rng.randrange(4)
        if action == 0:
            del values[at]
        elif action == 1:
            values.append(values[at])
        elif action == 2 or field.message_type is not None:
            kept = list(values)
            rng.shuffle(kept)
            del values[:]
            values.extend(kept)
        else:
            values[at] = stranger(rng, field)
    elif field.message_type is None:
        setattr(message, field.name, stranger(rng, field))
    else:
        alike = of_type(model, type(getattr(message, field.name)))
        other = rng.choice(alike).SerializeToString() if alike else b""  # a text, as it may hold the message
        message.ClearField(field.name)
        if rng.random() < 0.5:
            getattr(message, field.name).ParseFromString(other)


def edit_names(rng, model):
    """A node reads another name: a later one, its own result, none, or a name that nothing gives."""
    nodes = of_type(model, onnx.NodeProto)
    node, other = rng.choice(nodes), rng.choice(nodes)
    names = rng.choice((node.input, node.output))
    action = rng.randrange(4)
    if action == 0:
        names.append(rng.choice((*other.input, *other.output)))
    elif action == 1:
        del names[rng.randrange(len(names))]
    else:
        names[rng.randrange(len(names))] = rng.choice((*other.input, *other.output, "", "nothing"))


def edit_operator(rng, model):
    """Another operator, with the inputs and attributes of the one that was there, or in another order."""
    graph = rng.choice(of_type(model, onnx.GraphProto, onnx.FunctionProto))
    node = rng.choice(graph.node)
    action = rng.randrange(4)
    if action == 0:
        node.op_type = rng.choice((*ocl.onnx.operators(), "NoSuch", "StringSplit"))
    elif action == 1:
        kept = list(graph.node)
        rng.shuffle(kept)
        del graph.node[:]
        graph.node.extend(kept)
    elif action == 2:
        graph.node.append(node)
    else:
        node.domain = rng.choice(("", "own", "ai.onnx", "ai.onnx.ml", "com.microsoft"))


ATTRIBUTES = {
    "axis": 9, "axes": [0, 0], "kernel_shape": [0, 3], "strides": [0, 1], "pads": [-9, 2**31, 0, 0],
    "group": 0,
    "dilations": [2**31, 1], "perm": [0, 0], "alpha": float("nan"), "mode": "none", "to": 99, "epsilon": -1.0,
    "keepdims": 2, "blocksize": 0, "num_heads": 0, "hidden_size": -1, "k": 2**40, "auto_pad": "SAME_UPPER",
}  # fmt: skip


def edit_attribute(rng, model):
    """An attribute has another number, or is of another kind, or one of another node's."""
    node = rng.choice(of_type(model, onnx.NodeProto))
    action = rng.randrange(4)
    if action == 0 or not node.attribute:
        name = rng.choice(sorted(ATTRIBUTES))
        node.attribute.append(helper.make_attribute(name, ATTRIBUTES[name]))
        return
    attribute = rng.choice(node.attribute)
    if action == 1:
        values = (1, -1, 2**62, 0.5, "text", [1, 2], [], [0.5], ["a"], array("t", 1.0, 2.0))
        value = rng.choice(values)
        kind = onnx.AttributeProto.INTS if value == [] else None
        attribute.CopyFrom(helper.make_attribute(attribute.name, value, attr_type=kind))
    elif action == 2:
        attribute.type = rng.randrange(15)
    else:
        numbers = attribute.ints
        numbers[rng.randrange(len(numbers))] = rng.choice((0, 1, -1, 7, 2**31, 2**62, -(2**63)))


def edit_tensor(rng, model):
    """An initializer, or a tensor in an attribute: sizes against bytes, dtype, numbers at the ends."""
    tensor = rng.choice(of_type(model, TensorProto))
    action = rng.randrange(5)
    if action == 0:
        sizes = rng.choice(
            ([0], [], [-1], [2**31, 2**31], [2**62], [3, 0, 2**40], [1] * 70, [*tensor.dims, 1])
        )
        del tensor.dims[:]
        tensor.dims.extend(sizes)
    elif action == 1:
        tensor.data_type = rng.choice((*DTYPES, 0, 8, 14, 22, 99))
    elif action == 2:
        tensor.raw_data = rng.choice((b"", tensor.raw_data[:-1], tensor.raw_data * 3, rng.randbytes(8)))
    else:
        values = numpy_helper.to_array(tensor).copy()
        if values.dtype.kind in "iu":
            ends = np.iinfo(values.dtype)
            number = rng.choice((0, 1, 2, 7, 1000, 10**6, ends.min, ends.max))
            number = min(max(number, ends.min), ends.max)
        else:
            number = rng.choice((0, 1, -1, 1e9, 1e30, np.nan, np.inf))
        values.reshape(-1)[rng.randrange(values.size)] = number
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def edit_place(rng, model):
    """Weights lie in a file: one outside of the folder, none, or more of it than there is."""
    tensor = rng.choice(of_type(model, TensorProto))
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = TensorProto.EXTERNAL
    paths = (
        "../../../../../../etc/passwd",
        "/etc/passwd",
        ".",
        "",
        "/dev/zero",
        "none.bin",
        "a/../../b",
        "\\\\x\\y",
    )
    tensor.external_data.add(key="location", value=rng.choice(paths))
    for key in ("offset", "length", "checksum"):
        if rng.random() < 0.5:
            tensor.external_data.add(
                key=key, value=rng.choice(("0", "-1", "4", "text", str(2**62), str(2**70)))
            )


def edit_versions(rng, model):
    """Opsets, their domains, and the version of the format."""
    action = rng.randrange(4)
    if action == 0:
        model.ir_version = rng.choice((0, 1, 3, 4, 9, 11, 99, -1, 2**62))
    elif action == 1:
        model.opset_import.add(domain=rng.choice(("", "own", "ai.onnx")), version=rng.choice((1, 21, 99)))
    else:
        rng.choice(model.opset_import).version = rng.choice((0, 1, 6, 7, 9, 12, 13, 17, 24, 99, -1, 2**62))


def nest(rng, model):
    """Graphs within graphs, deeper than the reader's stack, or than protobuf's."""
    inner = onnx.GraphProto(name="inner", node=[helper.make_node("Identity", ["x"], ["deep"])])
    inner.output.append(helper.make_tensor_value_info("deep", 1, None))
    for _ in range(rng.choice((3, 20, 30, 40))):
        condition = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", 9, [], [1]))
        outer = onnx.GraphProto(name="outer", node=[condition], output=inner.output)
        outer.node.append(helper.make_node("If", ["c"], ["deep"], then_branch=inner, else_branch=inner))
        # Twice the same branch would double the file at each level.
        del outer.node[1].attribute[1].g.node[:]
        inner = outer
    graph = model.graph
    graph.node.extend(inner.node)


def recurse(rng, model):
    """A function calls itself, or one that calls it."""
    function = rng.choice(model.functions)
    other = rng.choice(model.functions)
    function.node.append(helper.make_node(other.name, ["a"], [rng.choice(("b", "c"))], domain=other.domain))


BYTES = (files.flip, files.flip, files.truncate, files.extend, files.splice)
STRUCTURE = (edit_field, edit_names, edit_operator, edit_attribute, edit_tensor)
MUTATIONS = (
    *BYTES,
    *(of_model(change) for change in (edit_place, edit_versions, nest, recurse)),
    *(of_model(change) for change in STRUCTURE for _ in range(3)),
)


# --- reading


@judged_by
def read(path):
    """Loads the model, and runs it with small inputs where it loads."""
    (path.parent / "weights.bin").write_bytes(bytes(48))  # of `external`
    watch = Watch(path, PLACES)
    module = watch.loading(lambda: ocl.onnx.load(path), names_file=False)
    values = {each.name: each for each in onnx.load(path, load_external_data=False).graph.input}
    inputs = [given(values[name].type) for name in module.input_names]
    if any(isinstance(each, ocl.Tensor) and each.numel() > MOST_ELEMENTS for each in inputs):
        return
    watch.running(lambda: [settled(module(*inputs)) for _ in range(2)], RUN_PLACES)


def given(kind):
    """A value of a type that the file names; sizes that it leaves open are 2."""
    if kind.HasField("sequence_type"):
        return [given(kind.sequence_type.elem_type)] * 2
    if kind.HasField("optional_type"):
        return given(kind.optional_type.elem_type)
    about = kind.tensor_type
    sizes = [each.dim_value if each.HasField("dim_value") else 2 for each in about.shape.dim]
    if any(size < 0 for size in sizes) or np.prod(sizes, dtype=np.float64) > MOST_ELEMENTS:
        sizes = [2]
    return ocl.zeros(*sizes, dtype=DTYPES.get(about.elem_type, ocl.float32))


def settled(result):
    """Waits for a result."""
    if isinstance(result, list | tuple):
        for each in result:
            settled(each)
    elif result is not None:
        result.detach().float().numpy()


@functools.cache
def kinds():
    """The valid files by name, each with its reader and its mutations."""
    own = (net, transformer, integers, control, functions, external)
    starts = {f"{make.__name__}.onnx": functools.cache(make) for make in own}
    starts |= {
        f"test_{i}.onnx": functools.partial(node_tests().__getitem__, i) for i in range(len(node_tests()))
    }
    often = {f"{make.__name__}_{i}.onnx": starts[f"{make.__name__}.onnx"] for make in own for i in range(60)}
    return {name: (make, read, MUTATIONS) for name, make in (starts | often).items()}


def run_one(name, seed, limit, announce):
    """The case of `seed` as the fuzzer runs it."""
    return files.run_one(name, seed, limit, announce, "onnx_files", kinds())
