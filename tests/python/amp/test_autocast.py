"""ocl.autocast: what is cast, what is kept, and for how long."""

import threading

import numpy as np
import pytest
import torch

import ocl
import ocl.nn.functional as F


def test_values_are_those_of_pytorch_on_the_cpu():
    rng = np.random.default_rng(1)
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in ((5, 7), (4, 7), (4,)))
    results = []
    for lib, device in ((torch, "cpu"), (ocl, "ocl")):
        leaves = [lib.tensor(v, requires_grad=True) for v in (x, w, b)]
        with lib.autocast(device, dtype=lib.bfloat16):
            y = lib.nn.functional.linear(*leaves)
            z = lib.tanh(y) @ leaves[1]
            loss = lib.nn.functional.mse_loss(z, lib.zeros_like(z))
        loss.backward()
        assert str(y.dtype).endswith("bfloat16") and str(z.dtype).endswith("bfloat16")
        assert str(loss.dtype).endswith("float32")
        results.append([y, z, loss, *(leaf.grad for leaf in leaves)])
    for e, a in zip(*results, strict=True):
        assert str(a.dtype).rpartition(".")[2] == str(e.dtype).rpartition(".")[2]
        e = e.detach().float().numpy()
        np.testing.assert_allclose(a.detach().float().numpy(), e, rtol=0.03, atol=0.03 * np.abs(e).max())


def test_the_default_call():
    net = ocl.nn.Sequential(
        ocl.nn.Conv2d(3, 8, 3), ocl.nn.BatchNorm2d(8), ocl.nn.ReLU(), ocl.nn.Flatten(), ocl.nn.Linear(128, 5)
    )
    optimizer = ocl.optim.SGD(net.parameters(), lr=0.1)
    x, y = ocl.randn(6, 3, 6, 6), ocl.arange(6) % 5
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        with ocl.autocast("ocl"):
            output = net(x)
            loss = F.cross_entropy(output, y)
        assert output.dtype == ocl.bfloat16 and loss.dtype == ocl.float32
        loss.backward()
        assert all(p.dtype == p.grad.dtype == ocl.float32 for p in net.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_weights_are_cast_once():
    layer = ocl.nn.Linear(4, 4, bias=False)
    x = ocl.randn(2, 4)
    for kept, expected in ((None, 1), (False, 3)):
        with ocl.profiler.record_calls() as calls, ocl.autocast("ocl", cache_enabled=kept):
            h = layer(x)
            layer(layer(h))
        casts = [c for c in calls.calls if c.name == "to" and c.arguments["a"].shape == (4, 4)]
        assert len(casts) == expected


def test_a_weight_that_was_written_is_cast_anew():
    weight = ocl.ones(2, 2, requires_grad=True)
    x = ocl.ones(1, 2)
    with ocl.autocast("ocl"):
        assert (x @ weight).tolist() == [[2, 2]]
        with ocl.no_grad():
            weight.mul_(3)
        assert (x @ weight).tolist() == [[6, 6]]
        weight.data = ocl.full((2, 2), 5.0)
        assert (x @ weight).tolist() == [[10, 10]]


def test_what_stays_as_it_is():
    with ocl.autocast("ocl"):
        wide = ocl.ones(2, 2, dtype=ocl.float64)
        assert (wide @ wide).dtype == ocl.float64
        whole = ocl.ones(2, 2, dtype=ocl.int64)
        assert (whole @ whole).dtype == ocl.int64 and whole.sum().dtype == ocl.int64
        assert ocl.relu(ocl.ones(2)).dtype == ocl.float32
        assert ocl.relu(ocl.ones(2, dtype=ocl.float16)).dtype == ocl.float16
        out = ocl.zeros(2, 2)
        out.add_(ocl.ones(2, 2).bfloat16() @ ocl.ones(2, 2))
        assert out.dtype == ocl.float32


def test_the_widest():
    half, single = ocl.ones(3, dtype=ocl.float16), ocl.ones(3)
    with ocl.autocast("ocl", dtype=ocl.float16):
        assert ocl.addcmul(half, half, half).dtype == ocl.float16
        assert ocl.addcmul(half, single, half).dtype == ocl.float32
        assert ocl.dot(half, single).dtype == ocl.float32


def test_contexts_nest():
    a = ocl.ones(2, 2)
    assert not ocl.is_autocast_enabled()
    with ocl.autocast("ocl", dtype=ocl.float16):
        assert (a @ a).dtype == ocl.float16 and ocl.get_autocast_dtype() == ocl.float16
        with ocl.autocast("ocl", enabled=False):
            assert (a @ a).dtype == ocl.float32 and not ocl.is_autocast_enabled()
        with ocl.autocast("ocl", dtype=ocl.bfloat16):
            assert (a @ a).dtype == ocl.bfloat16
        assert (a @ a).dtype == ocl.float16
        with pytest.raises(ValueError, match="nowhere"), ocl.autocast("ocl"):
            raise ValueError("nowhere")
        assert (a @ a).dtype == ocl.float16
    assert (a @ a).dtype == ocl.float32


def test_decorates():
    @ocl.autocast("ocl")
    def product(a):
        return a @ a

    assert product(ocl.ones(2, 2)).dtype == ocl.bfloat16
    assert (ocl.ones(2, 2) @ ocl.ones(2, 2)).dtype == ocl.float32


def test_threads_have_their_own():
    seen = []
    with ocl.autocast("ocl"):
        thread = threading.Thread(target=lambda: seen.append((ocl.ones(2, 2) @ ocl.ones(2, 2)).dtype))
        thread.start()
        thread.join()
    assert seen == [ocl.float32]


def test_backward_inside_gives_the_same():
    grads = []
    for inside in (False, True):
        ocl.manual_seed(0)
        layer = ocl.nn.Linear(5, 3)
        x = ocl.randn(4, 5)
        with ocl.autocast("ocl"):
            loss = F.softmax(layer(x), -1).square().sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        grads.append([p.grad.tolist() for p in layer.parameters()])
    assert grads[0] == grads[1]


def test_checkpoint_computes_again_as_it_was():
    from ocl.utils.checkpoint import checkpoint

    layer, seen = ocl.nn.Linear(3, 3), []

    def function(x):
        y = layer(x)
        seen.append(y.dtype)
        return y

    with ocl.autocast("ocl"):
        y = checkpoint(function, ocl.randn(2, 3, requires_grad=True))
    y.sum().backward()
    assert seen == [ocl.bfloat16, ocl.bfloat16]


def test_functions_of_the_users():
    class Product(ocl.autograd.Function):
        @staticmethod
        @ocl.amp.custom_fwd(device_type="ocl", cast_inputs=ocl.float32)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            seen.append((a @ b).dtype)
            return a @ b

        @staticmethod
        @ocl.amp.custom_bwd(device_type="ocl")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((g @ b.t()).dtype)
            return g @ b.t(), a.t() @ g

    seen = []
    a, b = (ocl.ones(2, 2, requires_grad=True) for _ in range(2))
    with ocl.autocast("ocl"):
        Product.apply(a.bfloat16(), b).sum().backward()
    assert seen == [ocl.float32, ocl.float32]


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm", "group_norm", "batch_norm"])
def test_norms_take_float32_parameters(norm):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4, 6)).astype(np.float32)
    w = rng.standard_normal(6).astype(np.float32)
    results = []
    for lib in (torch, ocl):
        given = lib.tensor(x).to(lib.bfloat16).requires_grad_()
        weight = lib.tensor(w, requires_grad=True)
        call = {
            "layer_norm": lambda f, a, b: f.layer_norm(a, (6,), b, b),
            "rms_norm": lambda f, a, b: f.rms_norm(a, (6,), b),
            "group_norm": lambda f, a, b: f.group_norm(a, 2, b, b),
            "batch_norm": lambda f, a, b: f.batch_norm(a, None, None, b, b, training=True),
        }[norm]
        if norm == "rms_norm" and lib is torch:
            y = torch.nn.functional.rms_norm(given.float(), (6,), weight).to(torch.bfloat16)
        else:
            y = call(lib.nn.functional, given, weight)
        assert str(y.dtype).endswith("bfloat16")
        y.float().square().sum().backward()
        assert str(given.grad.dtype).endswith("bfloat16") and str(weight.grad.dtype).endswith("float32")
        results.append([y, given.grad, weight.grad])
    for e, a in zip(*results, strict=True):
        e = e.detach().float().numpy()
        np.testing.assert_allclose(a.detach().float().numpy(), e, rtol=0.02, atol=0.02 * np.abs(e).max())


def test_bad_arguments():
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'cuda'"):
        ocl.autocast("cuda")
    for dtype in (ocl.float32, ocl.float64, ocl.int64):
        with pytest.raises(TypeError, match="bfloat16 or float16"):
            ocl.autocast("ocl", dtype=dtype)
    with pytest.raises(RuntimeError, match="binary_cross_entropy_with_logits"), ocl.autocast("ocl"):
        F.binary_cross_entropy(ocl.full((2,), 0.5), ocl.ones(2))
