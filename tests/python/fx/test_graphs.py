"""Graphs are changed, listed and checked as PyTorch's are."""

import operator

import numpy as np
import pytest
import torch
import torch.fx
import torch.fx.passes.shape_prop
from traced_programs import programs

import ocl


def as_torchs(text):
    return text.replace("ocl.", "torch.")


def both(change):
    """The graphs and the code that ``change(library)`` gives on each."""
    found = []
    for library in (ocl, torch):
        module = change(library)
        module.graph.lint()
        found.append((as_torchs(str(module.graph)), as_torchs(module.code)))
    assert found[0] == found[1]
    return change(ocl)


def simple(library):
    def program(x, y):
        a = library.relu(x + y)
        b = library.relu(x * y)
        return a - b, a

    return library.fx.symbolic_trace(program)


def test_targets_are_replaced():
    def change(library):
        module = simple(library)
        for node in module.graph.nodes:
            if node.op == "call_function" and node.target == library.relu:
                node.target = library.tanh
        module.recompile()
        return module

    x, y = ocl.ones(2), ocl.ones(2) * 3
    result = both(change)(x, y)[0].numpy()
    np.testing.assert_allclose(result, (ocl.tanh(x + y) - ocl.tanh(x * y)).numpy())


def test_nodes_are_put_in_and_taken_out():
    def change(library):
        module = simple(library)
        first = next(n for n in module.graph.nodes if n.target is operator.add)
        with module.graph.inserting_after(first):
            scaled = module.graph.call_function(operator.mul, (first, 2))
        first.replace_all_uses_with(scaled, lambda user: user is not scaled)
        with module.graph.inserting_before(scaled):
            module.graph.call_method("neg", (first,))
        last = module.graph.output_node()
        last.args = ((last.args[0][0],),)
        module.graph.eliminate_dead_code()
        module.recompile()
        return module

    changed = both(change)
    assert "neg" not in changed.code
    assert changed(ocl.ones(1), ocl.ones(1))[0].item() == 3


def test_a_graph_is_built_by_hand():
    def change(library):
        graph = library.fx.Graph()
        x = graph.placeholder("x")
        k = graph.placeholder("k", default_value=2)
        weight = graph.get_attr("deep.weight")
        y = graph.call_module("layer", (x,))
        z = graph.call_function(library.addmm, (weight, y, weight), {"beta": k})
        graph.output(graph.call_method("sum", (z,), {"dim": 0}))
        root = {"layer": library.nn.Linear(2, 2), "deep.weight": library.nn.Parameter(library.eye(2))}
        return library.fx.GraphModule(root, graph, "Built")

    module = both(change)
    assert {name for name, _ in module.named_parameters()} == {"deep.weight", "layer.weight", "layer.bias"}
    x = ocl.ones(2, 2)
    expected = (module.layer(x) + 2 * ocl.eye(2)).sum(dim=0)
    np.testing.assert_allclose(module(x).detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    expected = (module.layer(x) + 5 * ocl.eye(2)).sum(dim=0)
    np.testing.assert_allclose(module(x, 5).detach().numpy(), expected.detach().numpy(), rtol=1e-6)


def test_proxies_append_to_a_graph():
    def change(library):
        module = simple(library)
        node = next(n for n in module.graph.nodes if n.target is operator.sub)
        with module.graph.inserting_before(module.graph.output_node()):
            new = library.fx.Proxy(node).clamp(min=0) * 3
        node.replace_all_uses_with(new.node, lambda user: user.op == "output")
        module.recompile()
        return module

    assert both(change)(ocl.ones(1), ocl.ones(1))[0].item() == 3


def test_modules_are_swapped_as_a_pass_does():
    def change(library):
        net, _ = programs(library)["net"]
        module = library.fx.symbolic_trace(net)
        for node in list(module.graph.nodes):
            if node.target == "bnNorm":
                node.replace_all_uses_with(node.args[0])
                module.graph.erase_node(node)
        module.add_submodule("layers.2.added", library.nn.Sigmoid())
        with module.graph.inserting_before(module.graph.output_node()):
            module.graph.call_module("layers.2.added", (module.graph.output_node().args[0]["a"],))
        module.delete_all_unused_submodules()
        module.recompile()
        return module

    module = both(change)
    names = [name for name, _ in module.named_modules()]
    assert "bnNorm" not in names and "layers.2.added" in names
    assert not module.delete_submodule("layers.7")


@pytest.mark.parametrize("written", [1, 2, 3])
def test_patterns_are_replaced(written):
    def change(library):
        def program(x, w1, w2):
            m1 = library.cat([w1, w2]).sum()
            m2 = library.cat([w2, w1]).sum()
            return x + library.max(m1) + library.max(m2), library.neg(library.neg(x))

        def pattern_1(a, b):
            return library.cat([a, b]).sum()

        def pattern_2(a):
            return library.neg(a)

        def pattern_3(x, a):
            return x + library.max(a)

        def replacement_1(a, b):
            return library.stack([a, b]).mean()

        def replacement_2(a):
            return a * -1

        def replacement_3(x, a):
            return library.sub(x, a)

        module = library.fx.symbolic_trace(program)
        patterns = (pattern_1, replacement_1), (pattern_2, replacement_2), (pattern_3, replacement_3)
        matches = library.fx.replace_pattern(module, *patterns[written - 1])
        assert len(matches) == 2
        return module

    module = both(change)
    assert len(module(*(ocl.ones(2) for _ in range(3)))) == 2


def test_a_pattern_whose_inner_value_is_used_elsewhere_stays():
    def change(library):
        def program(x):
            a = library.relu(x)
            return a.sum(), a

        module = library.fx.symbolic_trace(program)
        found = library.fx.replace_pattern(module, lambda x: library.relu(x).sum(), lambda x: x.mean())
        assert found == []
        return module

    both(change)


def test_an_interpreter_may_do_something_else():
    class Negated(ocl.fx.Interpreter):
        def call_function(self, target, args, kwargs):
            return ocl.neg(*args) if target == ocl.relu else super().call_function(target, args, kwargs)

    x = ocl.ones(2)
    np.testing.assert_array_equal(Negated(simple(ocl)).run(x, x)[0].numpy(), (-2 * x + x).numpy())
    with pytest.raises(TypeError, match="While executing %relu"):
        ocl.fx.Interpreter(simple(ocl)).run("a", "b")
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter y"):
        ocl.fx.Interpreter(simple(ocl)).run(x)


def test_shapes_are_noted():
    results = []
    for library in (ocl, torch):
        module = library.fx.symbolic_trace(programs(library)["tensors"][0])
        library.fx.passes.shape_prop.ShapeProp(module).propagate(library.ones(3, 4))
        described = [n.meta.get("tensor_meta") for n in module.graph.nodes]
        results.append(
            [
                (tuple(d.shape), as_torchs(str(d.dtype)), d.requires_grad, tuple(d.stride))
                for d in described
                if hasattr(d, "shape")
            ]
        )
    assert results[0] == results[1] and len(results[0]) > 10


def test_the_table_has_a_row_a_node(capsys):
    simple(ocl).graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert len(lines) == 2 + len(simple(ocl).graph.nodes) and lines[2].startswith("placeholder")
    assert "class program(ocl.nn.Module):" in simple(ocl).print_readable(print_output=False)


def test_wrong_changes_are_refused():
    module = simple(ocl)
    nodes = list(module.graph.nodes)
    with pytest.raises(RuntimeError, match="Tried to erase Node x but it still had 2 users"):
        module.graph.erase_node(nodes[0])
    listed = module.graph.call_function(ocl.cat, ([nodes[0], nodes[1]],))
    with pytest.raises(TypeError, match="does not support mutation"):
        listed.args[0].append(nodes[0])
    module.graph.erase_node(listed)
    nodes[2].prepend(nodes[3])
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        module.graph.lint()
    with pytest.raises(ValueError, match="but a Callable is expected"):
        module.graph.call_function("relu")
    with pytest.raises(AssertionError, match="is none of"):
        module.graph.create_node("call", "relu")
    with pytest.raises(RuntimeError, match="Unsupported type"):
        ocl.fx.GraphModule(3, ocl.fx.Graph())
    with pytest.raises(AssertionError, match="Expected a Graph"):
        module.graph = 3
