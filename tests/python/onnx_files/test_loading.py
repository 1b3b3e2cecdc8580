"""The files that load takes and refuses, and which values stay on the host."""

import functools
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx, as there is no package onnx")

import onnx  # noqa: E402
import onnx.reference  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import ocl  # noqa: E402
from ocl.onnx import UnsupportedError  # noqa: E402
from ocl.onnx.faults import first_bad_byte  # noqa: E402

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])


def model(nodes, initializers=(), inputs=(X,), outputs=(Y,), opset=17):
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def weights(name="layer.weight"):
    return numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), name)


def test_initializers_keep_their_dotted_names():
    ints = numpy_helper.from_array(np.array([[2], [0]]), "places")
    net = ocl.onnx.load(
        model(
            [
                helper.make_node("Gemm", ["x", "layer.weight"], ["h"], transB=1),
                helper.make_node("GatherElements", ["h", "places"], ["y"], axis=1),
            ],
            [weights(), ints],
        )
    )
    assert [name for name, _ in net.named_parameters()] == ["layer.weight"]
    assert {*net.state_dict()} == {"layer.weight", "places"}
    assert not net.training
    x = ocl.ones(2, 4)
    np.testing.assert_array_equal(net(x).detach().numpy(), [[38.0], [6.0]])
    np.testing.assert_array_equal(net(x=x).detach().numpy(), [[38.0], [6.0]])


@pytest.mark.parametrize("name", ["forward", "layer..weight", "train.weight", "onnx::Conv_193"])
def test_names_that_modules_cannot_have_are_changed(name):
    net = ocl.onnx.load(model([helper.make_node("Gemm", ["x", name], ["y"], transB=1)], [weights(name)]))
    assert net(ocl.ones(2, 4)).shape == (2, 3)
    assert dict(net.named_parameters())[net.names[name]].shape == (3, 4)


def test_all_missing_operators_are_named_before_anything_runs():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("RegexFullMatch", ["a"], ["b"], name="first", pattern="x"),
        helper.make_node("RegexFullMatch", ["b"], ["c"], name="second", pattern="x"),
        helper.make_node("LRN", ["c"], ["d"], name="even", size=4),
        helper.make_node("StringNormalizer", ["d"], ["y"], name="strings"),
    ]
    with pytest.raises(UnsupportedError) as caught:
        ocl.onnx.load(model(nodes, opset=20))
    assert caught.value.missing == [
        ("", "LRN", 13, "even", "windows of an odd size expected, got 4"),
        ("", "RegexFullMatch", 20, "first", ""),
        ("", "StringNormalizer", 10, "strings", ""),
    ]
    assert "ai.onnx::RegexFullMatch version 20 (first node: first)" in str(caught.value)


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
def test_weights_of_four_bits(kind):
    """Blocks of them have a scale and a zero point each, as in files of language models."""
    least = -8 if kind == TensorProto.INT4 else 0
    numbers = np.random.default_rng(0).integers(least, least + 16, (4, 6))
    zeros = np.random.default_rng(1).integers(least, least + 16, (2, 6))
    scales = np.random.default_rng(2).random((2, 6), np.float32)
    made = model(
        [
            helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["d"], axis=0, block_size=2),
            helper.make_node("MatMul", ["x", "d"], ["y"]),
        ],
        [
            helper.make_tensor("w", kind, [4, 6], numbers.reshape(-1).tolist()),
            helper.make_tensor("zeros", kind, [2, 6], zeros.reshape(-1).tolist()),
            numpy_helper.from_array(scales, "scales"),
        ],
        opset=21,
    )
    made.ir_version = 10
    net = ocl.onnx.load(made)
    x = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)
    expected = x @ ((numbers - zeros.repeat(2, 0)) * scales.repeat(2, 0))
    np.testing.assert_allclose(net(ocl.tensor(x)).detach().numpy(), expected, rtol=1e-5, atol=1e-5)
    assert {name for name, _ in net.named_parameters()} == {"scales"}
    (reference,) = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_allclose(reference, expected, rtol=1e-5, atol=1e-5)


def test_malformed_models_are_refused(tmp_path):
    with pytest.raises(ValueError, match="malformed.*Relu"):
        ocl.onnx.load(model([helper.make_node("Relu", ["x", "x"], ["y"], name="two")]))
    with pytest.raises(ValueError, match="opset 6 given, 7 or later expected"):
        ocl.onnx.load(model([helper.make_node("Relu", ["x"], ["y"])], opset=6))
    (tmp_path / "noise.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(ValueError, match="noise.onnx"):
        ocl.onnx.load(tmp_path / "noise.onnx")
    content = model([helper.make_node("Relu", ["x"], ["y"])]).SerializeToString()
    (tmp_path / "short.onnx").write_bytes(content[:-3])
    with pytest.raises(ValueError, match=r"short.onnx is no ONNX model at byte \d+: "):
        ocl.onnx.load(tmp_path / "short.onnx")
    with pytest.raises(FileNotFoundError, match="none.onnx"):
        ocl.onnx.load(tmp_path / "none.onnx")
    with pytest.raises(TypeError, match="int"):
        ocl.onnx.load(3)


@pytest.mark.parametrize("start, damaged", [(0, b"\x0f"), (2, b"\xff" * 11), (7, b"\xff")])
def test_the_byte_where_a_file_is_no_model(start, damaged, tmp_path):
    """A tag of no kind, a number without end, and text that is not UTF-8."""
    content = onnx.ModelProto(ir_version=9, producer_name="tests").SerializeToString()
    path = tmp_path / "damaged.onnx"
    path.write_bytes(content[:start] + damaged + content[start + len(damaged) :])
    with pytest.raises(ValueError, match=f"damaged.onnx is no ONNX model at byte {start}: "):
        ocl.onnx.load(path)
    path.write_bytes(content)
    assert first_bad_byte(str(path)) is None


def without_shape(kind):
    made = model([helper.make_node("Relu", ["x"], ["y"])])
    getattr(made.graph, kind)[0].type.tensor_type.ClearField("shape")
    return made


def in_function(**attributes):
    """A model whose function has a node that cannot have these attributes."""
    made = model([helper.make_node("Own", ["x"], ["y"], domain="own")])
    made.opset_import.append(helper.make_opsetid("own", 1))
    inner = helper.make_node("Relu", ["a"], ["b"], name="inner", **attributes)
    made.functions.append(helper.make_function("own", "Own", ["a"], ["b"], [inner], made.opset_import))
    return made


def of_tensor(**fields):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, **fields)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor])


@pytest.mark.parametrize(
    "made, place",
    [
        (without_shape("input"), "input 'x': "),
        (without_shape("output"), "output 'y': "),
        (in_function(axis=1), r"node 'inner' \(Relu\): "),
        (of_tensor(dims=[3], raw_data=bytes(8)), "initializer 'w'|tensor name: w"),
        (of_tensor(dims=[2**62], raw_data=bytes(8)), "initializer 'w'|tensor name: w"),
        (model([helper.make_node("LRN", ["x"], ["y"], name="norm", size="five")]), "node.*norm"),
    ],
)
def test_malformed_models_say_where(made, place):
    with pytest.raises(ValueError, match=place):
        ocl.onnx.load(made)


def test_functions_that_expand_beyond_all_measure_are_refused():
    """28 functions, each of which calls the next twice."""
    node = functools.partial(helper.make_node, domain="own")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = [
        helper.make_function(
            "own",
            f"F{i}",
            ["a"],
            ["b"],
            [node(f"F{i + 1}", ["a"], ["h"]), node(f"F{i + 1}", ["h"], ["b"])],
            opsets,
        )
        for i in range(28)
    ]
    relu = helper.make_node("Relu", ["a"], ["b"])
    functions.append(helper.make_function("own", "F28", ["a"], ["b"], [relu], opsets))
    made = model([node("F0", ["x"], ["y"])])
    made.opset_import.append(opsets[1])
    made.functions.extend(functions)
    with pytest.raises(ValueError, match=r"own::F\d+\): with its functions expanded the model is too large"):
        ocl.onnx.load(made)


def test_constants_that_grow_are_not_computed_when_a_file_is_loaded():
    """Each sum of a row and a column squares the number of elements."""
    values = [
        numpy_helper.from_array(np.ones([1] * i + [40] + [1] * (5 - i), np.int64), f"v{i}") for i in range(6)
    ]
    names = ["v0", *(f"s{i}" for i in range(1, 6))]
    nodes = [helper.make_node("Add", [names[i - 1], f"v{i}"], [f"s{i}"]) for i in range(1, 6)]
    net = ocl.onnx.load(model([*nodes, helper.make_node("Mul", ["x", "s5"], ["y"])], values))
    assert sum(each.size for each in net._constants.values()) < 1 << 22
    assert [node.outputs for node in net.graph.nodes] == [["s4"], ["s5"], ["y"]]


def looping():
    """`while True`."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["true"], ["again"]), helper.make_node("Neg", ["h"], ["h_next"])],
        "body",
        [
            value("i", TensorProto.INT64, []),
            value("true", TensorProto.BOOL, []),
            value("h", TensorProto.FLOAT, ["a"]),
        ],
        [value("again", TensorProto.BOOL, []), value("h_next", TensorProto.FLOAT, ["a"])],
    )
    return model([helper.make_node("Loop", ["", "", "x"], ["y"], name="forever", body=body)])


def test_loops_end(monkeypatch):
    from ocl.onnx.ops import control

    net = ocl.onnx.load(looping())
    monkeypatch.setattr(control, "MOST_PASSES", 50)
    with pytest.raises(ValueError, match=r"node 'forever' \(Loop\): a loop may make 50 passes"):
        net(ocl.ones(2, 4))


def test_results_that_no_node_gives_are_named():
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["a", "b"]) for name in ("p", "q", "r")]
    parts = numpy_helper.from_array(np.array([1, 3]), "parts")
    node = helper.make_node("Split", ["x", "parts"], ["p", "q", "r"], axis=1)
    with pytest.raises(ValueError, match="onnx: output 'r': its node gave fewer results"):
        ocl.onnx.load(model([node], [parts], outputs=outputs))(ocl.ones(2, 4))


def test_errors_for_want_of_memory_name_the_node():
    sizes = numpy_helper.from_array(np.array([2**40, 2**9]), "sizes")
    node = helper.make_node("ConstantOfShape", ["sizes"], ["y"], name="large")
    with pytest.raises(
        (MemoryError, ocl.OutOfMemoryError), match=r"onnx: node 'large' \(ConstantOfShape\): "
    ):
        ocl.onnx.load(model([node], [sizes], inputs=()))()


def test_errors_of_a_run_name_the_node():
    net = ocl.onnx.load(model([helper.make_node("Gemm", ["x", "w"], ["y"], name="product")], [weights("w")]))
    with pytest.raises(ValueError, match=r"onnx: node 'product' \(Gemm\)"):
        net(ocl.ones(2, 7))
    with pytest.raises(TypeError, match="takes the inputs x, got 2 by position"):
        net(ocl.ones(2, 4), ocl.ones(2, 4))


def saved_outside(path: Path, location: str):
    made = model([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], [weights("w")])
    tensor = made.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    path.write_bytes(made.SerializeToString())
    return data


def test_weights_beside_the_model_are_read_and_no_others(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    data = saved_outside(folder / "net.onnx", "weights.bin")
    (folder / "weights.bin").write_bytes(data)
    net = ocl.onnx.load(folder / "net.onnx")
    np.testing.assert_array_equal(net(ocl.ones(1, 4)).detach().numpy(), [[6, 22, 38]])

    (tmp_path / "secret.bin").write_bytes(data)
    for location in ("../secret.bin", str(tmp_path / "secret.bin"), "missing.bin"):
        saved_outside(folder / "net.onnx", location)
        with pytest.raises(ValueError, match="malformed"):
            ocl.onnx.load(folder / "net.onnx")
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    saved_outside(folder / "net.onnx", "link.bin")
    with pytest.raises(ValueError, match="onnx: "):
        ocl.onnx.load(folder / "net.onnx")


def flattening():
    """Shape arithmetic as exporters write it: x.reshape(x.shape[0], -1) with the sizes doubled and halved."""
    constant = lambda name, value: numpy_helper.from_array(np.array(value), name)  # noqa: E731
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"], axis=0),
        helper.make_node("Mul", ["n", "two"], ["twice"]),
        helper.make_node("Unsqueeze", ["twice", "axes"], ["rows"]),
        helper.make_node("Concat", ["rows", "rest"], ["sizes"], axis=0),
        helper.make_node("Reshape", ["x", "sizes"], ["y"]),
    ]
    values = [constant("zero", 0), constant("two", 2), constant("axes", [0]), constant("rest", [-1])]
    return model(nodes, values)


def test_shapes_are_computed_on_the_host(tmp_path):
    net = ocl.onnx.load(flattening())
    program = ocl.export(net, (ocl.ones(3, 4),))  # refuses what reads from the device
    assert program is not None
    for n in (3, 5):
        assert net(ocl.ones(n, 4)).shape == (2 * n, 2)


def test_conditions_on_shapes_are_decided_on_the_host():
    branches = {
        name: helper.make_graph([helper.make_node(kind, ["x"], [name])], name, [],
                                [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["a", "b"])])
        for name, kind in (("then_branch", "Neg"), ("else_branch", "Exp"))
    }  # fmt: skip
    nodes = [
        helper.make_node("Size", ["x"], ["size"]),
        helper.make_node("Greater", ["size", "ten"], ["large"]),
        helper.make_node("If", ["large"], ["y"], **branches),
    ]
    net = ocl.onnx.load(model(nodes, [numpy_helper.from_array(np.array(10), "ten")]))
    assert net(ocl.ones(4, 4)).numpy()[0, 0] == -1
    np.testing.assert_allclose(net(ocl.zeros(1, 4)).numpy(), np.ones((1, 4)))
    ocl.export(net, (ocl.ones(4, 4),))


def test_growing_nodes_are_not_computed_when_a_file_is_loaded():
    nodes = [
        helper.make_node("Expand", ["one", "sizes"], ["big"]),
        helper.make_node("Mul", ["x", "big"], ["y"]),
    ]
    values = [
        numpy_helper.from_array(np.ones((), np.int64), "one"),
        numpy_helper.from_array(np.array([2**20]), "sizes"),
    ]
    net = ocl.onnx.load(model(nodes, values))
    assert {*net._constants} == {"one", "sizes"} and [name for name, _ in net.named_buffers()] == ["one"]


def test_functions_of_the_file_are_expanded():
    function = helper.make_function(
        "own",
        "Twice",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    made = model([helper.make_node("Twice", ["x"], ["y"], domain="own")])
    made.opset_import.append(helper.make_opsetid("own", 1))
    made.functions.append(function)
    onnx.checker.check_model(made)
    np.testing.assert_array_equal(ocl.onnx.load(made)(ocl.ones(1, 4)).numpy(), np.full((1, 4), 2))


def test_dropout_drops_in_training_mode_alone():
    net = ocl.onnx.load(model([helper.make_node("Dropout", ["x"], ["y"])]))
    x = ocl.ones(50, 4)
    np.testing.assert_array_equal(net(x).numpy(), x.numpy())
    dropped = net.train()(x).numpy()
    assert {*np.unique(dropped)} == {0.0, 2.0}


def test_the_page_lists_the_operators():
    page = (Path(__file__).parents[3] / "docs" / "onnx.md").read_text().partition("## Operators")[2]
    rows = [line.split("|")[2] for line in page.splitlines() if line.startswith("| ") and "`" in line]
    listed = [name.strip("` ") for row in rows for name in row.split(",")]
    assert sorted(listed) == ocl.onnx.operators()


def test_importing_ocl_does_not_import_onnx():
    import subprocess
    import sys

    code = "import sys, ocl; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
