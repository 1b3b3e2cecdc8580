"""The names of torch.autograd.graph: hooks of saved tensors and of nodes."""

import gc
import weakref

import numpy as np
import pytest
import torch

import ocl
from ocl.autograd import graph

LIBRARIES = (torch, ocl)


def program(lib, values):
    """A leaf, a constant and a loss that saves inputs, results and parts between."""
    x = lib.tensor(values, dtype=lib.float64, requires_grad=True)
    return x, lambda: (lib.exp(x * 0.5) * lib.sigmoid(x) / (x * x + 1)).sum()


def as_arrays(hooks, lib):
    """Hooks that keep NumPy arrays, with the numbers of their calls."""
    calls = {"pack": 0, "unpack": 0}

    def pack(tensor):
        calls["pack"] += 1
        return tensor.detach().numpy().copy()

    def unpack(array):
        calls["unpack"] += 1
        return lib.tensor(array)

    return hooks(pack, unpack), calls


def test_packed_tensors_give_the_same_gradients(rng):
    values = rng.normal(size=(3, 5))
    expected = []
    for lib in LIBRARIES:
        x, loss = program(lib, values)
        hooks, calls = as_arrays(lib.autograd.graph.saved_tensors_hooks, lib)
        with hooks:
            y = loss()
        assert calls["pack"] > 0 and calls["unpack"] == 0
        y.backward()
        assert calls["unpack"] >= calls["pack"] > 0
        expected.append(np.array(x.grad.tolist()))
    np.testing.assert_allclose(*expected, rtol=1e-12)


def test_an_unpacked_tensor_is_what_backward_uses():
    for lib in LIBRARIES:
        x = lib.ones(3, requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t * 10):
            y = (x * x).sum()
        y.backward()
        assert x.grad.tolist() == [20.0] * 3


def test_the_innermost_hooks_count_and_end_with_their_block():
    for lib in LIBRARIES:
        hooks = lib.autograd.graph.saved_tensors_hooks
        called = []

        def named(name, called=called, hooks=hooks):
            return hooks(lambda t: called.append(name) or t.detach(), lambda t: t)

        x = lib.ones(2, requires_grad=True)
        with named("outer"):
            with named("inner"):
                x.exp()
            x.exp()
        x.exp()
        assert called == ["inner", "outer"]


def test_hooks_end_with_an_error():
    x = ocl.ones(2, requires_grad=True)
    packed = []
    with pytest.raises(ZeroDivisionError), graph.saved_tensors_hooks(packed.append, lambda t: t):
        1 / 0  # noqa: B018
    x.exp()
    assert not packed


def test_operators_in_hooks_save_as_ever():
    x = ocl.rand(4, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: (t * 2).exp(), lambda t: t.log() / 2):
        y = (x * x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy(), rtol=1e-5)


def nets():
    yield (
        "conv",
        ocl.nn.Sequential(
            ocl.nn.Conv2d(3, 8, 3),
            ocl.nn.BatchNorm2d(8),
            ocl.nn.ReLU(),
            ocl.nn.MaxPool2d(2),
            ocl.nn.Flatten(),
            ocl.nn.Linear(72, 4),
        ),
        (2, 3, 8, 8),
    )
    yield "transformer", ocl.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True), (2, 5, 16)
    yield "recurrent", ocl.nn.LSTM(6, 7, num_layers=2), (4, 2, 6)
    yield "norms", ocl.nn.Sequential(ocl.nn.GroupNorm(2, 4), ocl.nn.GELU(), ocl.nn.InstanceNorm2d(4),
                                     ocl.nn.Dropout(0.0), ocl.nn.Softmax(1)), (2, 4, 5, 5)  # fmt: skip


@pytest.mark.parametrize("name, net, shape", list(nets()), ids=lambda v: v if isinstance(v, str) else "")
def test_save_on_cpu_gives_the_same_gradients(name, net, shape, rng):
    values = rng.normal(size=shape).astype(np.float32)
    weights = rng.normal(size=1000).astype(np.float32)

    def gradients(hooks):
        x = ocl.tensor(values, requires_grad=True)
        with hooks:
            y = net(x)
            y = y[0] if isinstance(y, tuple) else y
            loss = (y.flatten() * ocl.tensor(weights[: y.numel()])).sum()
        return ocl.autograd.grad(loss, [x, *net.parameters()])

    plain = gradients(graph.disable_saved_tensors_hooks("none are used here"))
    for ours, theirs in zip(gradients(graph.save_on_cpu()), plain, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("dtype", [ocl.bfloat16, ocl.float16, ocl.float64])
def test_save_on_cpu_keeps_the_dtype(dtype):
    x = ocl.tensor([0.5, 2.0, 3.0], dtype=dtype, requires_grad=True)
    with graph.save_on_cpu(pin_memory=True):
        y = x.exp().sum()
    y.backward()
    assert x.grad.dtype == dtype and x.grad.equal(x.detach().exp())


def test_save_on_cpu_frees_the_devices_memory():
    def held(hooks):
        gc.collect()
        before = ocl.memory_allocated()
        x = ocl.rand(256, 1024, requires_grad=True)
        with hooks:
            y = x
            for _ in range(8):
                y = y.sigmoid()
        result = ocl.memory_allocated() - before
        y.sum().backward()
        return result

    size = 256 * 1024 * 4
    assert held(graph.disable_saved_tensors_hooks("")) >= 8 * size
    assert held(graph.save_on_cpu()) <= 4 * size


def test_second_derivatives_of_packed_tensors(rng):
    values, found = rng.normal(size=4), []
    for lib in LIBRARIES:
        x, loss = program(lib, values)
        with as_arrays(lib.autograd.graph.saved_tensors_hooks, lib)[0]:
            y = loss()
        (first,) = lib.autograd.grad(y, x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x)
        found.append(np.array(second.tolist()))
    np.testing.assert_allclose(*found, rtol=1e-10)


def make_function(lib):
    class Scaled(lib.autograd.Function):
        """Saves an argument, a part and the result."""

        @staticmethod
        def forward(ctx, x, k):
            part = x * k
            result = part.exp()
            ctx.save_for_backward(x, part, result)
            ctx.k = k
            return result

        @staticmethod
        def backward(ctx, gradient):
            x, part, result = ctx.saved_tensors
            return gradient * result * ctx.k + 0 * part.sum() + 0 * x, None

    return Scaled


def test_functions_are_packed_too(rng):
    values, found = rng.normal(size=4), []
    for lib in LIBRARIES:
        x = lib.tensor(values, requires_grad=True)
        hooks, calls = as_arrays(lib.autograd.graph.saved_tensors_hooks, lib)
        with hooks:
            y = make_function(lib).apply(x * 1, 0.5)
        (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x)
        assert calls["pack"] >= 3
        found.append(np.array([first.tolist(), second.tolist()]))
    np.testing.assert_allclose(*found, rtol=1e-10)


def test_a_function_lets_packed_arguments_go():
    x = ocl.ones(3, requires_grad=True)
    with graph.save_on_cpu():
        argument = x * 2
        alive = weakref.ref(argument)
        y = make_function(ocl).apply(argument, 0.5)
    del argument
    gc.collect()
    assert alive() is None
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [np.e] * 3, rtol=1e-6)


@pytest.mark.parametrize(
    "unpack, error, words",
    [
        (lambda t: t[:1], RuntimeError, "shape"),
        (lambda t: t.double(), RuntimeError, "dtype"),
        (lambda t: 3, TypeError, "must return a Tensor, got 3"),
        (lambda t: None, TypeError, "must return a Tensor, got None"),
    ],
)
def test_wrong_results_of_unpack_hooks_are_refused(unpack, error, words):
    x = ocl.rand(3, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
        y = (x * x).sum()
    with pytest.raises(error, match=words):
        y.backward()
    assert x.grad is None


def test_errors_of_hooks_reach_the_caller():
    x = ocl.rand(3, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        x * x
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: 1 / 0):
        y = x * x
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    y = (x * x).sum()
    y.backward()
    assert x.grad.equal(2 * x.detach())


def test_disabled_hooks():
    for lib in LIBRARIES:
        module = lib.autograd.graph
        with module.disable_saved_tensors_hooks("not here"):
            with pytest.raises(RuntimeError, match="not here"), module.save_on_cpu():
                pass
            with module.disable_saved_tensors_hooks("nor here"):
                with pytest.raises(RuntimeError, match="nor here"), module.save_on_cpu():
                    pass
            with pytest.raises(RuntimeError, match="not here"), module.save_on_cpu():
                pass
        with module.save_on_cpu():
            pass


def test_hooks_belong_to_their_thread():
    from concurrent.futures import ThreadPoolExecutor

    packed = []
    x = ocl.rand(3, requires_grad=True)
    with graph.saved_tensors_hooks(packed.append, lambda t: t), ThreadPoolExecutor(1) as pool:
        pool.submit(x.exp).result()
    assert not packed


def walk(lib):
    a, b = (lib.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
    c, d = a * b, a + b
    seen = []
    graph = lib.autograd.graph
    handle = graph.register_multi_grad_hook(
        (a, b, c, d), lambda grads: seen.append([None if g is None else g.tolist() for g in grads])
    )
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=(a,), retain_graph=True)
    (c.sum() + d.sum()).backward(retain_graph=True)
    handle.remove()
    (c.sum() + d.sum()).backward(retain_graph=True)
    return seen


def test_hooks_of_several_gradients():
    assert walk(ocl) == walk(torch)


def test_hooks_of_several_gradients_in_grad():
    """PyTorch's raises where the gradient of a leaf is asked for."""
    a, b = ocl.ones(2, requires_grad=True), ocl.ones(2, requires_grad=True)
    c, seen = a * b, []
    graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append([g is not None for g in grads]))
    ocl.autograd.grad(c.sum(), [b])
    assert seen == [[False, True, True]]


def test_the_first_of_several_gradients():
    def run(lib):
        a, b = (lib.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
        c = a * b
        seen = []
        lib.autograd.graph.register_multi_grad_hook((a, b, c), lambda g: seen.append(g.tolist()), mode="any")
        c.sum().backward(retain_graph=True)
        (c * 2).sum().backward()
        return seen

    assert run(ocl) == run(torch)
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((), print, mode="both")


def test_nodes():
    def run(lib):
        x = lib.tensor([0.5, 1.0], requires_grad=True)
        y = (x * 2).exp()
        node = y.grad_fn
        below = node.next_functions[0][0]
        leaf = below.next_functions[0][0]
        assert isinstance(node, lib.autograd.graph.Node) and x.grad_fn is None and y.grad_fn is node
        seen = []
        hook = node.register_hook(lambda results, given: seen.append((len(results), given[0].tolist())))
        below.register_prehook(lambda gradients: (gradients[0] * 10,))
        below.register_hook(lambda results, gradients: (results[0] + 1, *results[1:]))
        node.metadata["made by"] = "me"
        assert y.grad_fn.metadata == {"made by": "me"}
        y.sum().backward(retain_graph=True)
        hook.remove()
        y.sum().backward()
        names = [type(n).__name__ for n in (node, below, leaf)]
        return seen, x.grad.tolist(), names, node.name(), leaf.next_functions

    ours, theirs = run(ocl), run(torch)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)
    assert ours[0] == theirs[0] and ours[2:] == theirs[2:]


def test_nodes_refuse_gradients_that_do_not_fit():
    x = ocl.rand(3, requires_grad=True)
    for given, words in (((ocl.ones(2),), "changed"), ((1, 2), "None or a tuple of tensors"), (5, "got 5")):
        y = x.exp()
        y.grad_fn.register_prehook(lambda gradients, given=given: given)
        with pytest.raises((RuntimeError, TypeError), match=words):
            y.sum().backward()


def test_hooks_of_nodes_go_with_their_node():
    class Held:
        def __call__(self, results, gradients):
            pass

    x, held = ocl.rand(3, requires_grad=True), Held()
    alive = weakref.ref(held)
    y = x.exp()
    y.grad_fn.register_hook(held)
    del held
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_a_node_and_a_hook_that_refer_to_each_other_are_collected():
    class Held:
        pass

    def cycle():
        held = Held()
        node = (ocl.rand(3, requires_grad=True) * 2).grad_fn
        node.register_hook(lambda results, gradients: (node, held))
        return weakref.ref(held)

    alive = cycle()
    gc.collect()
    assert alive() is None


def test_a_hook_of_a_node_stops_a_gradient():
    def run(lib):
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y.grad_fn.register_prehook(lambda gradients: (None,))
        (y.sum() + (x * 2).sum()).backward()
        z = x.sin()
        z.grad_fn.register_hook(lambda results, gradients: (None,))
        w = lib.tensor([3.0, 4.0], requires_grad=True)
        (z * w).sum().backward()
        return x.grad.tolist(), np.round(w.grad.tolist(), 5).tolist()

    assert run(ocl) == run(torch)


def test_a_hook_of_a_node_makes_no_gradient_out_of_none():
    def run(lib):
        x = lib.rand(4, requires_grad=True)
        y, z = make_pair(lib).apply(x)
        node = y.grad_fn
        node.register_prehook(lambda gradients: tuple(lib.ones(4) if g is None else g for g in gradients))
        with pytest.raises(RuntimeError, match="can't replace a None gradient"):
            y.sum().backward()

    run(ocl)
    run(torch)


def make_pair(lib):
    class Pair(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first

    return Pair


def test_hooks_of_gradients_that_a_visited_node_does_not_make():
    def run(lib):
        x = lib.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        a, b = x.chunk(2)
        seen = []
        register = lib.autograd.graph.register_multi_grad_hook
        register((a, b), lambda grads: seen.append([g is not None for g in grads]))
        for _ in range(2):
            a.exp().sum().backward(retain_graph=True)
        return seen

    assert run(ocl) == run(torch) == [[True, False]] * 2


def test_hooks_of_several_gradients_forget_a_pass_that_failed():
    x = ocl.rand(3, requires_grad=True)
    y = x.exp()
    z = y.sin()
    seen = []
    graph.register_multi_grad_hook((z, x), seen.append)
    hook = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.sum().backward(retain_graph=True)
    hook.remove()
    z.sum().backward()
    assert len(seen) == 1
    with pytest.raises(RuntimeError, match="tensor 1 does not require a gradient"):
        graph.register_multi_grad_hook((x, ocl.ones(3)), seen.append)


def test_checkpoints_of_packed_tensors(rng):
    values = rng.normal(size=3)
    found = []
    for lib in LIBRARIES:
        x = lib.tensor(values, requires_grad=True)
        checkpoint = lib.utils.checkpoint.checkpoint
        with lib.autograd.graph.save_on_cpu():
            y = checkpoint(lambda h: (h * h).exp() * h, x * 1, use_reentrant=True)
        y.sum().backward()
        found.append(np.array(x.grad.tolist()))
    np.testing.assert_allclose(*found, rtol=1e-10)


def test_disabling_where_hooks_are_on():
    for lib in LIBRARIES:
        module = lib.autograd.graph
        with module.save_on_cpu(), pytest.raises(RuntimeError, match="not here"):
            with module.disable_saved_tensors_hooks("not here"):
                pass
