"""tools/model_operators: operators of files, and which are not supported."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ocl

PROGRAM = Path(__file__).resolve().parents[3] / "tools/model_operators"


def run(path):
    done = subprocess.run([sys.executable, PROGRAM, path], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Net(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.function = function

    def forward(self, x):
        return self.function(self.layer(self.layer(x)))


def test_operators_of_torch_export(tmp_path):
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Net(torch.relu), (torch.ones(2, 3),)), path)
    code, out, _ = run(path)
    assert code == 0
    lines = [
        "     2  aten.linear.default",
        "     1  aten.relu.default",
        "net.pt2: 2 operators, 0 not supported",
    ]
    assert out.splitlines() == lines
    torch.export.save(torch.export.export(Net(torch.special.i0), (torch.ones(2, 3),)), path)
    code, out, _ = run(path)
    assert code == 1
    assert "aten.i0.default      not supported (first node: i0)" in out
    assert out.endswith("net.pt2: 2 operators, 1 not supported\n")


def test_operators_of_onnx(tmp_path):
    pytest.importorskip("onnx.checker", reason="NOT TESTED: ONNX files, as there is no package onnx")
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "n"]) for name in "xy")
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("RegexFullMatch", ["a"], ["y"], name="first", pattern="x"),
    ]
    opsets = [helper.make_opsetid("", 20)]
    graph = helper.make_graph(nodes, "graph", [x], [y])
    path = tmp_path / "net.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())
    code, out, _ = run(path)
    assert code == 1
    assert (
        "     1  ai.onnx::RegexFullMatch  not supported (version 20, first node: first)" in out.splitlines()
    )
    assert any(line.split() == ["1", "ai.onnx::Relu"] for line in out.splitlines())


def test_primitives_of_programs(tmp_path):
    path = tmp_path / "net.ocl"
    ocl.export(ocl.nn.Linear(3, 2), (ocl.ones(1, 3),)).save(path)
    code, out, _ = run(path)
    lines = [
        "     1  linear_forward",
        "net.ocl: 1 operators, 0 not supported",
        f"a runner with these alone: cmake -DTAPECL_OPERATORS={path}",
    ]
    assert (code, out.splitlines()) == (0, lines)
    path.write_bytes(path.read_bytes().replace(b"linear_forward", b"linear_unheard"))
    code, _, said = run(path)
    assert code == 1 and "there is no primitive named linear_unheard" in said


def test_other_files_are_refused(tmp_path):
    assert "expected a file that ends with .onnx, .pt2, .ocl, got net.txt" in run(tmp_path / "net.txt")[2]
    code, _, said = run(tmp_path / "none.onnx")
    assert code == 1 and "none.onnx" in said
