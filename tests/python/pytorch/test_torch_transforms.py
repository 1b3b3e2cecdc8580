"""vmap, forward mode and gradients of gradients around kernels that are whole layers."""

import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
from torch.autograd import forward_ad  # noqa: E402
from torch.func import functional_call, grad, jvp, vjp, vmap  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

F = torch.nn.functional


def in_forward_mode(function, *inputs):
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, x.cos()) for x in inputs]
        return tuple(forward_ad.unpack_dual(function(*duals)))


def of_gradients(function, *inputs):
    leaves = [x.detach().requires_grad_() for x in inputs]
    first = torch.autograd.grad(function(*leaves).sin().sum(), leaves, create_graph=True)
    return (*first, *torch.autograd.grad(sum(g.square().sum() for g in first), leaves))


def total(function):
    return lambda *inputs: function(*inputs).sin().sum()


def squares_of_gradients(function, places):
    return lambda *inputs: sum(g.square().sum() for g in grad(total(function), places)(*inputs))


def both(x):
    """Two examples that differ."""
    return torch.stack([x, x.flip(0) * 0.5])


def every(inputs):
    return tuple(range(len(inputs)))


# Each gives the tensors to compare.
DERIVATIVES = {
    "forward mode": in_forward_mode,
    "twice": of_gradients,
    "jvp": lambda f, *x: jvp(f, x, tuple(t.cos() for t in x)),
    "grad of grad": lambda f, *x: grad(squares_of_gradients(f, every(x)), every(x))(*x),
    "jvp of grad": lambda f, *x: jvp(grad(total(f), every(x)), x, tuple(t.cos() for t in x)),
    "vjp of jvp": lambda f, *x: vjp(lambda *y: jvp(f, y, tuple(t.cos() for t in y))[1].sin().sum(), *x)[1](
        torch.ones((), dtype=x[0].dtype, device=x[0].device)
    ),
}
BATCHES = {
    "vmap": lambda f, *x: vmap(f)(*map(both, x)),
    "vmap of the first": lambda f, *x: vmap(f, (0, *[None] * (len(x) - 1)))(both(x[0]), *x[1:]),
    "vmap of vmap": lambda f, *x: vmap(vmap(f))(*(both(both(t)) for t in x)),
    "vmap of grad": lambda f, *x: vmap(grad(total(f), every(x)))(*map(both, x)),
    "grad of vmap": lambda f, *x: grad(total(vmap(f)), every(x))(*map(both, x)),
    "vmap of jvp": lambda f, *x: vmap(lambda *y: jvp(f, y, tuple(t.cos() for t in y)))(*map(both, x)),
    "jvp of vmap": lambda f, *x: jvp(vmap(f), tuple(map(both, x)), tuple(both(t).cos() for t in x)),
    "vmap of grad of grad": lambda f, *x: vmap(grad(squares_of_gradients(f, every(x)), every(x)))(
        *map(both, x)
    ),
}
TRANSFORMS = DERIVATIVES | BATCHES


def assert_same(ours, theirs):
    pairs = [torch.utils._pytree.tree_leaves(r) for r in (ours, theirs)]
    assert len(pairs[0]) == len(pairs[1]) > 0
    for a, e in zip(*pairs, strict=True):
        assert a.device.type == "ocl"
        torch.testing.assert_close(a.detach().cpu(), e.detach(), rtol=1e-9, atol=1e-9)


@pytest.fixture(autouse=True)
def without_the_cpu(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", ["none", "causal", "boolean", "additive", "grouped", "scaled", "3D"])
def test_attention(name, kind):
    shapes = [(2, 2, n, 4) for n in (3, 5, 5)]
    if kind == "grouped":
        shapes[0] = (2, 4, 3, 4)
    if kind == "3D":
        shapes = [shape[1:] for shape in shapes]
    inputs = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    allowed = torch.tensor([[True, False, False, True, True], [False, True] * 2 + [False], [True] * 5])
    masks = {"boolean": allowed, "additive": torch.randn(3, 5, dtype=torch.float64)}
    options = {"causal": {"is_causal": True}, "grouped": {"enable_gqa": True}, "scaled": {"scale": 0.3}}

    def on(device):
        mask = masks[kind].to(device) if kind in masks else None
        more = options.get(kind, {})
        return TRANSFORMS[name](
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask, **more),
            *(x.to(device) for x in inputs),
        )

    with sdpa_kernel(SDPBackend.MATH):  # the CPU's own kernel has no second derivative, nor forward mode
        theirs = on("cpu")
    assert_same(on("ocl"), theirs)


def test_a_mask_that_is_differentiated():
    inputs = [torch.randn(2, 2, n, 4, dtype=torch.float64) for n in (3, 5, 5)]
    inputs.append(torch.randn(1, 2, 3, 5, dtype=torch.float64))
    for name, transform in TRANSFORMS.items():
        if name == "vmap of the first":
            continue
        with sdpa_kernel(SDPBackend.MATH):
            theirs = transform(F.scaled_dot_product_attention, *inputs)
        ours = transform(F.scaled_dot_product_attention, *(x.to("ocl") for x in inputs))
        assert_same(ours, theirs)


def test_attention_keeps_its_kernel_under_gradients_alone():
    inputs = [torch.randn(2, 2, n, 4, device="ocl", requires_grad=True) for n in (3, 5, 5)]
    assert "Overrideable" in type(F.scaled_dot_product_attention(*inputs).grad_fn).__name__


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_layers(name, kind):
    layer = getattr(torch.nn, kind)(4, 3).double()
    x = torch.randn(*((5, 2, 4) if kind in ("LSTM", "GRU", "RNN") else (2, 4)), dtype=torch.float64)
    results = []
    for device in ("cpu", "ocl"):
        there = copy.deepcopy(layer).to(device)
        names = [n for n, _ in there.named_parameters()]

        def function(x, *parameters, there=there, names=names):
            made = functional_call(there, dict(zip(names, parameters, strict=True)), (x,))
            return made[0] if isinstance(made, tuple) else made

        given = [x.to(device), *(p.detach() for p in there.parameters())]
        results.append(DERIVATIVES[name](function, *given))
    assert_same(results[1], results[0])


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    "loss", ["mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy", "kl_div"]
)
def test_losses_twice(loss, reduction):
    """The second derivative of a loss that is one number has a gradient for each element."""
    x, target = torch.rand(4, 3, dtype=torch.float64), torch.rand(4, 3, dtype=torch.float64)
    results = []
    for device in ("cpu", "ocl"):
        wanted = target.to(device)
        results.append(
            of_gradients(lambda x, w=wanted: getattr(F, loss)(x, w, reduction=reduction), x.to(device))
        )
    assert_same(results[1], results[0])


@pytest.mark.parametrize("name", [n for n in TRANSFORMS if n != "vjp of jvp"])  # the CPU has none of glu_jvp
@pytest.mark.parametrize("dim", [0, -1])
def test_gated_linear_units(name, dim):
    x = torch.randn(4, 6, dtype=torch.float64)
    ours, theirs = (TRANSFORMS[name](lambda x: F.glu(x, dim), x.to(device)) for device in ("ocl", "cpu"))
    assert_same(ours, theirs)
