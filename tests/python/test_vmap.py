"""vmap against torch.func.vmap: dimensions, nesting, derivatives, programs of users, and what it refuses."""

import re
import warnings

import numpy as np
import pytest
import torch
import torch.func
from nests import check
from support import has_float64

import ocl
from ocl.func import grad, vmap

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")

RNG = np.random.default_rng(5)


def drawn(*shape):
    return RNG.normal(size=shape)


# ---- dimensions


@pytest.mark.parametrize("in_dims", [0, 1, -1, (0, None), (None, 1), (1, 0), (-1, -2)])
@pytest.mark.parametrize("out_dims", [0, 1, -1])
def test_dims(in_dims, out_dims):
    def run(lib, x, y):
        return lib.func.vmap(lambda a, b: (a.unsqueeze(0) * b.sum()).sin(), in_dims, out_dims)(x, y)

    check(run, drawn(4, 4), drawn(4, 4))


def test_nests_of_dims():
    def run(lib, x, y, z):
        def f(pair, named):
            a, (b, c) = pair
            return {"s": a + b * c, "t": [named["k"] @ a]}

        in_dims = ((0, (1, None)), {"k": -1})
        return lib.func.vmap(f, in_dims=in_dims, out_dims={"s": 1, "t": [0]})((x, (y, z)), {"k": y})

    check(run, drawn(3, 3), drawn(3, 3), drawn(3))


def test_keyword_arguments_are_shared():
    check(lambda lib, x, y: lib.func.vmap(lambda a, b: a * b.sum())(x, b=y), drawn(3, 2), drawn(3, 4))


def test_results_that_do_not_depend_on_the_batch():
    def run(lib, x, y):
        shared, mapped = lib.func.vmap(lambda a, b: (b * 2, a), in_dims=(0, None), out_dims=(None, 0))(x, y)
        return shared, mapped, lib.func.vmap(lambda a, b: b + 1, in_dims=(0, None))(x, y)

    check(run, drawn(3, 2), drawn(4))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 8])
def test_chunks(chunk_size):
    def run(lib, x):
        return lib.func.vmap(lambda a: (a.cumsum(0), a.sum()), 1, (1, 0), chunk_size=chunk_size)(x)

    check(run, drawn(3, 7))


def test_nested():
    def run(lib, x, y):
        pairs = lib.func.vmap(lib.func.vmap(lambda a, b: (a * b).sum().exp(), (None, 0)), (0, None))
        deep = lib.func.vmap(lib.func.vmap(lib.func.vmap(lambda a: a.softmax(0)), 1, 1), -1)
        return pairs(x, y), deep(y.reshape(2, 2, -1, 1).expand(2, 2, 3, 2))

    check(run, drawn(4, 3), drawn(4, 3))


def test_closures_over_outer_batches():
    def run(lib, x, y):
        return lib.func.vmap(lambda a: lib.func.vmap(lambda b: (a * b).sum() + a[0])(y))(x)

    check(run, drawn(3, 2), drawn(4, 2))


def test_a_captured_view_of_the_batch_is_none():
    x = ocl.tensor(drawn(3, 2))
    found = vmap(lambda a: a - x[0])(x)
    np.testing.assert_allclose(found.numpy(), x.numpy() - x.numpy()[0])


def test_a_batch_of_none():
    x = ocl.zeros(0, 3)
    assert vmap(lambda a: ocl.nn.functional.softmax(a * 2, 0))(x).shape == (0, 3)
    assert vmap(grad(lambda a: a.square().sum()))(x).shape == (0, 3)


# ---- derivatives


def test_composes_with_every_transform():
    def run(lib, x, v):
        f = lib.func

        def function(a):
            return (a.sin() * a.roll(1, 0)).cumsum(0)

        def scalar(a):
            return function(a).square().sum()

        return [
            f.vmap(f.grad(scalar))(x),
            f.vmap(f.grad_and_value(scalar))(x),
            f.vmap(lambda a, b: f.vjp(function, a)[1](b)[0])(x, v),
            f.vmap(lambda a, b: f.jvp(function, (a,), (b,)))(x, v),
            f.vmap(f.jacrev(function))(x),
            f.vmap(f.jacfwd(function))(x),
            f.vmap(f.hessian(scalar))(x),
            f.vmap(f.grad(lambda a: f.grad(scalar)(a).square().sum()))(x),
            f.grad(lambda a: f.vmap(scalar)(a).sum())(x),
            f.jacrev(f.vmap(scalar))(x),
            f.jvp(f.vmap(function), (x,), (v,)),
            f.vmap(f.vmap(f.grad(lambda a: a.exp() * a)))(x),
        ]

    check(run, drawn(3, 4), drawn(3, 4))


def test_rows_of_a_jacobian():
    def run(lib, x):
        value, vjp_fn = lib.func.vjp(lambda a: (a * a.sum()).tanh(), x)
        return value, lib.func.vmap(vjp_fn)(lib.eye(4, dtype=lib.float64))

    check(run, drawn(4))


def test_history_outside():
    def run(lib, x, w):
        x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
        out = lib.func.vmap(lambda a, b: (a @ b).tanh(), in_dims=(0, None))(x, w)
        loss = (
            out.square().sum()
            + lib.func.vmap(lib.func.grad(lambda a: (a @ w).pow(3).sum()))(x).square().sum()
        )
        loss.backward()
        return x.grad, w.grad

    check(run, drawn(5, 3), drawn(3, 2))


def test_detach_and_no_grad_stop_gradients():
    def run(lib, x):
        def f(a):
            with lib.no_grad():
                scale = a.sum()
            return (a.detach() * a * scale).sum()

        return lib.func.vmap(lib.func.grad(f))(x)

    check(run, drawn(3, 2))


def test_vjp_fn_called_where_nothing_is_recorded():
    def run(lib, x):
        def f(a):
            value, pull = lib.func.vjp(lambda b: b.sin() * b, a)
            with lib.no_grad():
                return pull(lib.ones_like(value))[0]

        return lib.func.vmap(f)(x)

    check(run, drawn(3, 2))


# ---- programs


def weights_of(*shapes):
    return [0.4 * drawn(*shape) for shape in shapes]


def test_per_sample_gradients_of_an_mlp():
    weights = dict(zip("abcd", weights_of((5, 3), (5,), (2, 5), (2,)), strict=True))

    def run(lib, w, x, y):
        def loss(w, x, y):
            h = lib.nn.functional.linear(x, w["a"], w["b"]).relu()
            out = lib.nn.functional.linear(h, w["c"], w["d"])
            return lib.nn.functional.cross_entropy(out.unsqueeze(0), y.unsqueeze(0))

        return lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))(w, x, y)

    check(run, weights, drawn(6, 3), RNG.integers(0, 2, 6))


def modules(lib, make):
    """The module that `make` gives, with the numbers of PyTorch's."""
    torch.manual_seed(0)
    theirs = make(torch).double()
    if lib is torch:
        return theirs
    ours = make(ocl).double()
    ours.load_state_dict({name: ocl.tensor(t.numpy()) for name, t in theirs.state_dict().items()})
    return ours


def a_cnn(lib):
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 3, 2,
        groups=1),
        nn.Tanh(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 4),
    )  # fmt: skip


def test_per_sample_gradients_of_a_cnn():
    x, y = drawn(5, 2, 6, 6), RNG.integers(0, 4, 5)

    def run(lib, x, y):
        net = modules(lib, a_cnn)

        def loss(w, x, y):
            out = lib.func.functional_call(net, w, (x.unsqueeze(0),))
            return lib.nn.functional.cross_entropy(out, y.unsqueeze(0))

        w = {name: p.detach() for name, p in net.named_parameters()}
        return lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))(w, x, y)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # every operator has a rule
        check(run, x, y)


def test_ensembles():
    x = drawn(4, 2, 6, 6)

    def run(lib, x):
        nets = []
        for seed in range(3):
            torch.manual_seed(seed)
            state = a_cnn(torch).double().state_dict()
            net = a_cnn(lib).double()
            net.load_state_dict(
                state if lib is torch else {k: ocl.tensor(t.numpy()) for k, t in state.items()}
            )
            nets.append(net)
        parameters, buffers = lib.func.stack_module_state(nets)

        def call(p, b, x):
            return lib.func.functional_call(nets[0], (p, b), (x,))

        shared = lib.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x)
        own = lib.func.vmap(call)(parameters, buffers, x[:3].unsqueeze(1))
        shared.square().sum().backward()
        return shared, own, {name: p.grad for name, p in parameters.items()}

    check(run, x)


def test_ensembles_of_normed_nets_in_eval():
    def run(lib, x):
        net = modules(lib, lambda lib: lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4))).eval()
        return lib.func.vmap(lambda a: lib.func.functional_call(net, dict(net.named_parameters()), (a,)))(x)

    check(run, drawn(3, 5, 3))


def test_attention_and_recurrent_layers():
    x = drawn(3, 2, 5, 4)

    def run(lib, x):
        attention = modules(lib, lambda lib: lib.nn.MultiheadAttention(4, 2, batch_first=True))
        encoder = modules(lib, lambda lib: lib.nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True))
        return (
            lib.func.vmap(lambda a: attention(a, a, a, need_weights=False)[0])(x),
            lib.func.vmap(lambda a: encoder(a))(x),
        )

    check(run, x)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_recurrent_layers_like_a_loop():
    x = ocl.tensor(drawn(3, 5, 2, 4).astype(np.float32))
    net = ocl.nn.LSTM(4, 3, bidirectional=True)
    found = vmap(lambda a: net(a)[0])(x)
    np.testing.assert_allclose(
        found.detach().numpy(), np.stack([net(a)[0].detach().numpy() for a in x]), rtol=1e-5, atol=1e-6
    )


def test_maml():
    def run(lib, w, x, y):
        def loss(w, x, y):
            return ((x @ w["a"]).tanh() @ w["b"] - y).square().mean()

        def adapted(w, x, y):
            slopes = lib.func.grad(loss)(w, x, y)
            return loss({k: w[k] - 0.1 * slopes[k] for k in w}, x.flip(0), y)

        def total(w):
            return lib.func.vmap(adapted, in_dims=(None, 0, 0))(w, x, y).mean()

        return lib.func.grad_and_value(total)(w)

    check(run, {"a": drawn(3, 4), "b": drawn(4)}, drawn(5, 6, 3), drawn(5, 6))


def test_products_with_hessians():
    def run(lib, x, v):
        def f(a):
            return (a.exp() * a.flip(0)).sum()

        def product(a, b):
            return lib.func.jvp(lib.func.grad(f), (a,), (b,))[1]

        reverse = lib.func.vmap(lambda a, b: lib.func.vjp(lib.func.grad(f), a)[1](b)[0])
        return lib.func.vmap(product)(x, v), reverse(x, v), lib.func.vmap(product, (None, 0))(x[0], v)

    check(run, drawn(4, 3), drawn(4, 3))


def test_a_batched_number_as_an_index_of_a_shared_tensor():
    """Nothing says the value of the first example: it is refused as PyTorch's, or taken as a tensor."""
    from ocl._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    shared, places = ocl.arange(12.0).reshape(4, 3), ocl.tensor([2, 0, 1])
    functions = (lambda i: shared[i], lambda i: shared[i, None], lambda i: shared[1, i])
    for function in functions:
        with pytest.raises(RuntimeError, match=re.escape(".item() on a Tensor")):
            vmap(function)(places)
    rows = shared.numpy()[[2, 0, 1]]
    with TransformGetItemToIndex():
        np.testing.assert_array_equal(vmap(functions[0])(places).numpy(), rows)
        np.testing.assert_array_equal(vmap(functions[2])(places).numpy(), [5.0, 3.0, 4.0])
    own = ocl.stack([shared] * 3)
    np.testing.assert_array_equal(vmap(lambda x, i: x[i])(own, places).numpy(), rows)


def test_indexing_and_embeddings():
    def run(lib, x, i, table):
        f = lib.func.vmap
        return [
            f(lambda a, k: a[k])(x, i),
            f(lambda a, k: a[k, 1])(x, i),
            f(lambda a, k: a[:, None, 1:], in_dims=(0, None))(x, i),
            f(lambda k: table[k])(i),
            f(lambda a, k: a[0][..., k % 3])(x, i),
            f(lambda k: lib.nn.functional.embedding(k, table))(i),
            f(lambda w, k: lib.nn.functional.embedding(k, w))(x, i),
            f(lambda a, k: a.gather(0, k.unsqueeze(1)))(x, i),
            f(lambda a, k: a.index_select(0, k))(x, i),
            lib.func.grad(lambda t: f(lambda k: t[k].sin())(i).sum())(table),
        ]

    check(run, drawn(3, 4, 3), RNG.integers(0, 4, (3, 2)), drawn(4, 3))


def test_writes_in_place():
    def run(lib, x, y):
        def f(a, b):
            c = a.clone()
            c[0] = b
            c[1:].mul_(2)
            c += b
            row = c.view(-1)[:1]
            row.add_(1)
            c.relu_()
            z = lib.zeros_like(c)
            z.copy_(c)
            return c, z.sin_()

        return lib.func.vmap(f)(x, y), lib.func.vmap(lib.func.grad(lambda a, b: f(a, b)[1].sum()))(x, y)

    check(run, drawn(4, 3), drawn(4))


def test_writes_reach_the_argument():
    x = ocl.tensor(drawn(3, 2))
    before = x.numpy().copy()
    vmap(lambda a: a.add_(1))(x)
    np.testing.assert_allclose(x.numpy(), before + 1)


# ---- random numbers


def test_randomness():
    x = ocl.ones(4, 200)
    dropped = vmap(lambda a: ocl.nn.functional.dropout(a, 0.5), randomness="different")(x).numpy()
    assert not np.array_equal(dropped[0], dropped[1]) and 0.3 < (dropped == 0).mean() < 0.7
    same = vmap(lambda a: ocl.nn.functional.dropout(a, 0.5), randomness="same")(x).numpy()
    assert np.array_equal(same[0], same[3]) and 0.3 < (same == 0).mean() < 0.7
    noise = vmap(lambda a: a * 0 + ocl.randn(200), randomness="different")(x).numpy()
    assert not np.array_equal(noise[0], noise[1]) and abs(noise.std() - 1) < 0.2
    noise = vmap(lambda a: a * 0 + ocl.randn(200), randomness="same")(x).numpy()
    assert np.array_equal(noise[0], noise[1])
    coins = vmap(lambda a: ocl.bernoulli(a * 0.5), randomness="different")(x).numpy()
    assert not np.array_equal(coins[0], coins[1]) and 0.3 < coins.mean() < 0.7
    for f in (
        lambda a: ocl.nn.functional.dropout(a),
        lambda a: a + ocl.rand(200),
        lambda a: a.clone().uniform_(),
    ):
        with pytest.raises(RuntimeError, match="randomness"):
            vmap(f)(x)


def test_a_net_with_dropout():
    net = ocl.nn.Sequential(ocl.nn.Linear(3, 64), ocl.nn.Dropout(0.5), ocl.nn.Linear(64, 1))
    x = ocl.ones(8, 3)
    different = vmap(net, randomness="different")(x).detach().numpy()
    same = vmap(net, randomness="same")(x).detach().numpy()
    assert len(np.unique(different)) > 4 and np.allclose(same, same[0])
    net.eval()
    np.testing.assert_allclose(vmap(net)(x).detach().numpy(), net(x).detach().numpy(), rtol=1e-5)
    slopes = vmap(grad(lambda a: net.train()(a).sum()), randomness="different")(x).detach().numpy()
    assert len(np.unique(slopes[:, 0])) > 4


# ---- what it refuses


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a.sum().item(),
        lambda a: a if a.sum() > 0 else -a,
        lambda a: a * float(a.sum()),
        lambda a: a[int(a.sum())],
        lambda a: a.tolist(),
        lambda a: ocl.tensor(a.numpy()),
        lambda a: a.clamp(min=a.sum().item()),
        lambda a: a.nonzero(),
        lambda a: a[a > 0],
        lambda a: ocl.masked_select(a, a > 0),
        lambda a: ocl.unique(a),
        lambda a: a if ocl.equal(a, a) else -a,
        lambda a: a if ocl.allclose(a, a) else -a,
        lambda a: a.sum().backward(),
        lambda a: np.asarray(a),
        lambda a: ocl.full((2,), a.sum()),
    ],
)
def test_elements_are_not_to_be_read(f):
    with pytest.raises((RuntimeError, NotImplementedError)):
        vmap(f)(ocl.ones(3, 2))


@pytest.mark.parametrize(
    "write",
    [
        lambda t, a: t.add_(a),
        lambda t, a: t.copy_(a),
        lambda t, a: t.__setitem__(0, a[0]),
        lambda t, a: t.mul_(a.sum()),
        lambda t, a: t.index_add_(0, ocl.tensor([0, 1]), a),
    ],
)
def test_a_batched_write_into_a_tensor_that_is_not(write):
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda a: write(ocl.zeros(2), a))(ocl.ones(3, 2))


def test_a_batch_norm_in_training():
    net = ocl.nn.BatchNorm1d(2)
    with pytest.raises(RuntimeError, match="running_mean"):
        vmap(net)(ocl.rand(3, 4, 2))
    plain = ocl.nn.BatchNorm1d(2, track_running_stats=False)
    x = ocl.rand(3, 4, 2)
    np.testing.assert_allclose(
        vmap(plain)(x).detach().numpy(), np.stack([plain(a).detach().numpy() for a in x]), atol=1e-5
    )


def test_a_write_after_a_use_of_a_shared_tensor():
    def f(a):
        shared = ocl.ones(2)
        used = a * shared
        shared.add_(1)
        return used

    with pytest.raises(NotImplementedError, match="clone"):
        vmap(f)(ocl.ones(3, 2))


WRONG = {
    "in_dims_type": lambda lib, x: lib.func.vmap(lib.sin, in_dims="a")(x),
    "in_dims_structure": lambda lib, x: lib.func.vmap(lib.sin, in_dims=(0, 0))(x),
    "no_input": lambda lib, x: lib.func.vmap(lambda: 1)(),
    "all_none": lambda lib, x: lib.func.vmap(lib.sin, in_dims=(None,))(x),
    "range": lambda lib, x: lib.func.vmap(lib.sin, in_dims=2)(x),
    "scalar": lambda lib, x: lib.func.vmap(lib.sin)(x.sum()),
    "no_tensor": lambda lib, x: lib.func.vmap(lambda a, b: a * b)(x, 3),
    "sizes": lambda lib, x: lib.func.vmap(lib.add)(x, x[:2]),
    "result": lambda lib, x: lib.func.vmap(lambda a: 3)(x),
    "out_structure": lambda lib, x: lib.func.vmap(lambda a: a, out_dims=(0, 0))(x),
    "out_none": lambda lib, x: lib.func.vmap(lambda a: a, out_dims=None)(x),
    "out_range": lambda lib, x: lib.func.vmap(lambda a: a, out_dims=3)(x),
    "randomness": lambda lib, x: lib.func.vmap(lib.sin, randomness="x")(x),
    "chunk": lambda lib, x: lib.func.vmap(lib.sin, chunk_size=0)(x),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_of_the_same_type(name):
    x = drawn(3, 2)
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        WRONG[name](torch, torch.tensor(x))
    with pytest.raises(theirs.type) as ours:
        WRONG[name](ocl, ocl.tensor(x))
    words = set(re.findall(r"[a-z_]{4,}", str(theirs.value)))
    assert words & set(re.findall(r"[a-z_]{4,}", str(ours.value)))


def test_operators_without_a_rule_warn_once():
    from ocl.batching import rules

    rules._warned.discard("histc")
    x = ocl.rand(3, 10)
    with pytest.warns(UserWarning, match="histc"):
        found = vmap(lambda a: ocl.histc(a, 4, 0, 1))(x)
    np.testing.assert_array_equal(found.numpy(), np.stack([ocl.histc(a, 4, 0, 1).numpy() for a in x]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(lambda a: ocl.histc(a, 4, 0, 1))(x)


def test_a_function_with_its_own_derivative():
    class Cube(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 30 * x**2 * g  # on purpose not the derivative

    x = ocl.tensor(drawn(3, 2))
    np.testing.assert_allclose(vmap(grad(lambda a: Cube.apply(a).sum()))(x).numpy(), 30 * x.numpy() ** 2)


def test_factorizations():
    def run(lib, x):
        return lib.func.vmap(lambda a: lib.linalg.inv(a @ a.T + lib.eye(3, dtype=lib.float64)))(x)

    check(run, drawn(4, 3, 3))


def test_leaves_no_trace():
    """After an error the thread computes as ever, and other threads are not concerned."""
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.item())(ocl.ones(2))
    with ocl.profiler.record_calls() as recorded:
        y = ocl.ones(2) + 1
    assert type(y) is ocl.Tensor and y.tolist() == [2, 2]
    assert [c.name for c in recorded.calls if c.kind == "operator" and c.depth == 0] == ["ones", "add"]
