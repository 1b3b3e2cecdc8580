"""Traced modules and functions have PyTorch's graphs and code, and compute what the program computes."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
import torch.fx
from traced_programs import programs

import ocl

NAMES = list(programs(torch))


def as_torchs(text):
    return text.replace("ocl.", "torch.")


def traced(name, library):
    program, shapes = programs(library)[name]
    return program, library.fx.symbolic_trace(program), shapes


def leaves(value):
    """The tensors and numbers of a result, as arrays."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)]


def assert_same(ours, theirs):
    ours, theirs = leaves(ours), leaves(theirs)
    assert len(ours) == len(theirs) > 0
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def inputs(shapes, library=ocl):
    rng = np.random.default_rng(3)
    return [library.tensor(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]


@pytest.mark.parametrize("name", NAMES)
def test_graph_and_code_are_pytorchs(name):
    _, ours, _ = traced(name, ocl)
    _, theirs, _ = traced(name, torch)
    assert as_torchs(str(ours.graph)) == str(theirs.graph)
    assert as_torchs(ours.code) == theirs.code
    assert as_torchs(str(ours)) == str(theirs)
    assert type(ours).__name__ == type(theirs).__name__
    ours.graph.lint()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "starred"])
def test_graph_computes_what_the_program_does(name):
    program, module, shapes = traced(name, ocl)
    if isinstance(program, ocl.nn.Module):
        program.eval(), module.eval()
    given = inputs(shapes)
    expected = program(*given)
    assert_same(module(*given), expected)
    assert_same(ocl.fx.Interpreter(module).run(*given), expected)
    assert_same(copy.deepcopy(module)(*given), expected)
    assert_same(copy.copy(module)(*given), expected)
    assert_same(ocl.fx.Transformer(module).transform()(*given), expected)
    assert_same(ocl.fx.symbolic_trace(module)(*given), expected)


@pytest.mark.parametrize("name", ["net", "tensors", "operators"])
def test_graph_module_goes_through_a_pickle(name):
    _, module, shapes = traced(name, ocl)
    module.eval()
    again = pickle.loads(pickle.dumps(module))
    assert str(again.graph) == str(module.graph)
    assert_same(again(*inputs(shapes)), module(*inputs(shapes)))


def test_placeholders_for_starred_parameters():
    _, module, _ = traced("starred", ocl)
    x = ocl.ones(2)
    assert_same(module(x, x, scale=3), x * 4)


def test_it_trains_the_parameters_of_the_root():
    results = {}
    for library in (ocl, torch):
        library.manual_seed(1)
        program, module, _ = traced("shared", library)
        with library.no_grad():
            program.block.linear.weight.copy_(library.arange(16.0).reshape(4, 4) / 16)
            program.block.linear.bias.zero_()
        assert [name for name, _ in module.named_parameters()] == ["block.linear.weight", "block.linear.bias"]
        assert module.block.linear is program.block.linear
        optimizer = library.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(inputs([(2, 4)], library)[0]).square().mean().backward()
            optimizer.step()
        results[library] = program.block.linear.weight.detach().cpu().numpy()
    np.testing.assert_allclose(results[ocl], results[torch], rtol=1e-5, atol=1e-6)


def test_a_copy_has_parameters_of_its_own():
    _, module, _ = traced("tensors", ocl)
    copied = copy.deepcopy(module)
    with ocl.no_grad():
        copied.weight.zero_()
    assert module.weight.abs().sum() > 0
    assert sorted(copied.state_dict()) == sorted(module.state_dict())


def test_targets_equal_the_functions_that_programs_name():
    relu = ocl.relu  # as a program holds it from before the first trace

    def program(x):
        return ocl.nn.functional.relu(ocl.relu(x)).relu()

    nodes = list(ocl.fx.symbolic_trace(program).graph.nodes)
    assert [n.op for n in nodes] == ["placeholder", "call_function", "call_function", "call_method", "output"]
    assert nodes[1].target == relu and nodes[1].target in {ocl.relu}
    assert nodes[2].target == ocl.nn.functional.relu
    assert nodes[3].target == "relu"


def test_module_stack_is_noted():
    results = []
    for library in (ocl, torch):
        _, module, _ = traced("shared", library)
        results.append([list(n.meta.get("nn_module_stack", {})) for n in module.graph.nodes])
    assert results[0] == results[1]


def test_a_tracer_says_what_it_looks_into():
    class Whole(ocl.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == "block" or super().is_leaf_module(m, module_qualified_name)

    program, _ = programs(ocl)["shared"]
    graph = Whole().trace(program)
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["block", "block"]
    module = ocl.fx.GraphModule(program, graph)
    assert_same(module(*inputs([(2, 4)])), program(*inputs([(2, 4)])))


def with_root(x):
    return x * math.sqrt(x.shape[0])


def test_functions_of_math_are_kept():
    ours, theirs = ocl.fx.symbolic_trace(with_root), torch.fx.symbolic_trace(with_root)
    wraps, _, code = theirs.code.partition("def ")
    assert "wrap" in wraps and as_torchs(ours.code).partition("def ")[2] == code
    assert_same(ours(ocl.ones(4)), ocl.full((4,), 2.0))
    assert str(ocl.fx.symbolic_trace(ours).graph) == str(ours.graph)
    assert math.sqrt(4) == 2 and not hasattr(math.sqrt, "is_kept_by_fx")


def length_of(x):
    return len(x)


ocl.fx.wrap("length_of")
torch.fx.wrap("length_of")


def with_wrapped(x):
    return x * length_of(x)


def test_wrapped_functions_are_kept():
    ours, theirs = ocl.fx.symbolic_trace(with_wrapped), torch.fx.symbolic_trace(with_wrapped)
    assert str(ours.graph) == str(theirs.graph)
    assert_same(ours(ocl.ones(3)), ocl.full((3,), 3.0))
    assert str(ocl.fx.symbolic_trace(ours).graph) == str(theirs.graph)


def test_concrete_arguments_are_no_inputs():
    def program(x, double):
        return x * 2 if double else x

    module = ocl.fx.symbolic_trace(program, {"double": True})
    assert [n.name for n in module.graph.nodes] == ["x", "mul", "output"]
    assert_same(module(ocl.ones(2)), ocl.full((2,), 2.0))


def uses_value(x):
    return x if x.sum() > 0 else -x


def loops(x):
    return sum(row for row in x)


def measures(x):
    return len(x)


@pytest.mark.parametrize("program", [uses_value, loops, measures])
def test_untraceable_programs_are_refused_as_by_pytorch(program):
    with pytest.raises(Exception) as theirs:
        torch.fx.symbolic_trace(program)
    with pytest.raises(Exception) as ours:
        ocl.fx.symbolic_trace(program)
    assert type(ours.value).__name__ == type(theirs.value).__name__
    assert str(ours.value)[:40] == str(theirs.value)[:40]
    layer = ocl.nn.Sequential(ocl.nn.Linear(2, 2))  # nothing is left in the place of calls
    assert layer(ocl.ones(1, 2)).shape == (1, 2)


def test_a_root_in_cpp_is_refused():
    with pytest.raises(TypeError, match="Linear computes forward in C\\+\\+"):
        ocl.fx.symbolic_trace(ocl.nn.Linear(2, 2))


def test_nets_of_the_library_are_one_node():
    class Around(ocl.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = ocl.models.resnet18()

        def forward(self, x):
            return self.net(x).softmax(-1)

    module = ocl.fx.symbolic_trace(Around())
    assert [str(n.target) for n in module.graph.nodes] == ["x", "net", "softmax", "output"]
