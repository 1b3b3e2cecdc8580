"""Hooks, clipping, conversions and processes with sparse gradients and buffers, beside PyTorch's."""

import copy
import gc
import weakref

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def table(library, rows=5):
    layer = library.nn.Embedding(rows, 2, sparse=True)
    layer.weight.data.copy_(library.tensor(np.arange(2.0 * rows, dtype="float32").reshape(rows, 2)))
    return layer


def described(gradient):
    return gradient.is_sparse, gradient.to_dense().tolist()


def test_hooks_see_and_replace_sparse_gradients():
    def play(library):
        layer, seen = table(library), []
        layer.weight.register_hook(lambda g: seen.append(described(g)))
        double = layer.weight.register_hook(lambda g: g * 2)
        layer.weight.register_hook(lambda g: seen.append(g._nnz()))
        for _ in range(2):
            layer.weight.grad = None
            # Two lookups in one pass are one gradient.
            (layer(library.tensor([1, 1])).sum() + (layer(library.tensor([3, 0])) * 2).sum()).backward()
            seen.append(described(layer.weight.grad))
            double.remove()
        return seen

    alike(play)


def test_hooks_after_the_gradient_is_there():
    """A step within the pass, once a pass."""

    def play(library):
        layer, seen = table(library), []
        optimizer = library.optim.SGD([layer.weight], 0.5)

        def step(parameter):
            assert parameter is layer.weight
            seen.append(described(parameter.grad))
            optimizer.step()
            optimizer.zero_grad()

        handle = layer.weight.register_post_accumulate_grad_hook(step)
        for _ in range(2):
            (layer(library.tensor([4, 2])).sum() + layer(library.tensor([4])).sum()).backward()
        handle.remove()
        layer(library.tensor([1])).sum().backward()
        return seen, layer.weight.grad.to_dense().tolist(), layer.weight.tolist()

    alike(play)


def test_gradients_of_several_passes_add_up():
    def play(library):
        layer = table(library)
        for _ in range(3):
            layer(library.tensor([0, 2])).sum().backward()
        library.autograd.backward(layer(library.tensor([1])).sum())
        return described(layer.weight.grad)

    alike(play)


def test_a_hook_may_not_give_a_dense_gradient():
    for library in LIBRARIES:
        layer = table(library)
        layer.weight.register_hook(lambda g: g.to_dense() + 1)
        with pytest.raises(RuntimeError, match="has changed the type of value"):
            layer(library.tensor([0])).sum().backward()


def test_hooks_run_for_autograd_grad():
    def play(library):
        layer, seen = table(library), []
        layer.weight.register_hook(lambda g: seen.append(g.is_sparse) or g * 3)
        layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append("after"))
        (found,) = library.autograd.grad(layer(library.tensor([2, 2])).sum(), layer.weight)
        return described(found), seen, layer.weight.grad

    alike(play)


def test_backward_to_some_inputs():
    def play(library):
        first, second = table(library), table(library)
        loss = (first(library.tensor([1])) * second(library.tensor([2]))).sum()
        loss.backward(inputs=[first.weight])
        return described(first.weight.grad), second.weight.grad

    alike(play)


def test_hooks_go_with_their_tensor():
    layer, called = table(ocl), []
    layer.weight.register_hook(lambda g, layer=layer: called.append(layer))
    copied = copy.deepcopy(layer)
    copied(ocl.tensor([1])).sum().backward()
    assert not called
    held = weakref.ref(layer)
    del layer
    gc.collect()
    assert held() is None


def test_an_error_in_the_pass_leaves_nothing():
    layer = table(ocl)

    class Fails(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("backward")

    x = ocl.ones(1, 2, requires_grad=True)
    with pytest.raises(KeyError):
        (layer(ocl.tensor([1])) + Fails.apply(x * 2)).sum().backward()
    layer.weight.grad = None
    layer(ocl.tensor([2])).sum().backward()
    assert layer.weight.grad.to_dense().tolist() == [[0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]


def test_hooks_of_sparse_leaves():
    def play(library):
        matrix = library.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().coalesce().requires_grad_()
        seen = []
        matrix.register_hook(lambda g: seen.append(g.to_dense().tolist()))
        matrix.register_hook(lambda g: g * 2)
        matrix.register_post_accumulate_grad_hook(lambda m: seen.append(m is matrix))
        library.sparse.sum(matrix * matrix).backward()
        return seen, matrix.grad.to_dense().tolist()

    alike(play)


@pytest.mark.parametrize("name", ["clip_grad_norm_", "clip_grad_value_"])
def test_gradients_are_not_clipped(name):
    for library in LIBRARIES:
        layer = table(library)
        layer(library.tensor([1])).sum().backward()
        with pytest.raises((TypeError, NotImplementedError)):
            getattr(library.nn.utils, name)(layer.parameters(), 1.0)
        with pytest.raises((TypeError, NotImplementedError)):
            library.nn.utils.get_total_norm([layer.weight.grad])
    dense = ocl.ones(3)
    assert ocl.nn.utils.get_total_norm([dense], foreach=False).item() == pytest.approx(3**0.5)


def test_modules_with_sparse_buffers_and_gradients_are_converted():
    def play(library):
        module = library.nn.Module()
        module.register_buffer("graph", library.eye(3).to_sparse())
        module.table = table(library)
        module.count = library.nn.Buffer(library.ones(2, dtype=library.int64))
        module.table(library.tensor([0, 2])).sum().backward()
        found = []
        for convert in (
            lambda: module.double(),
            lambda: module.to(library.float32),
            lambda: module.to(dtype=library.float64),
            lambda: module.to(library.ones(1)),
            lambda: module.half(),
            lambda: module.float(),
        ):
            weight = module.table.weight
            assert convert() is module and module.table.weight is weight
            parts = (module.graph, weight, weight.grad, module.count)
            found.append([(str(t.dtype).split(".")[1], t.is_sparse, t.to_dense().tolist()) for t in parts])
        module.zero_grad(set_to_none=False)
        found.append(described(weight.grad))
        with pytest.raises(TypeError, match="only accepts floating"):
            module.to(library.int32)
        return found

    alike(play)


def test_processes_refuse_sparse_gradients():
    from ocl.nn.parallel import DistributedDataParallel
    from ocl.sparse import arriving

    with pytest.raises(TypeError, match="DistributedDataParallel.*sparse=False"):
        DistributedDataParallel(table(ocl))
    weight = ocl.ones(3, 2, requires_grad=True)
    arriving.refuse(weight, "DistributedDataParallel: not averaged")
    with pytest.raises(TypeError, match="not averaged"):
        ocl.nn.functional.embedding(ocl.tensor([1]), weight, sparse=True).sum().backward()
