"""Autograd's exchanges with the device: versions, transforms of functions, bad indices."""

import pickle
import threading

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.mark.parametrize(
    "call",
    [
        lambda t: torch._foreach_add_(t, 1.0),
        lambda t: torch._foreach_mul_(t, t),
        lambda t: torch._foreach_copy_(t, [torch.ones_like(x) for x in t]),
        torch._foreach_zero_,
        torch._foreach_sqrt_,
    ],
)
def test_lists_that_are_overwritten_say_so(call):
    for device in ("cpu", "ocl"):
        tensors = [torch.ones(n, device=device) for n in (3, 5)]
        call(tensors)
        assert [t._version for t in tensors] == [1, 1]
        with torch.inference_mode():
            call([torch.ones(3, device=device)])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_graph_from_before_a_step_is_refused(name):
    net = torch.nn.Linear(4, 3).to("ocl")
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.1)
    loss = net(torch.ones(2, 4, device="ocl", requires_grad=True)).square().sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("source", [(3,), (0,), (1, 2), (2, 2)])
def test_copies_of_other_shapes_are_refused(source):
    for device in ("cpu", "ocl"):
        with pytest.raises(RuntimeError):
            torch.zeros(2, device=device).copy_(torch.ones(source, device=device))
        with pytest.raises(RuntimeError):
            torch._foreach_copy_([torch.zeros(2, device=device)], [torch.ones(source, device=device)])
    y = torch.zeros(2, 2, device="ocl")
    assert y.copy_(torch.tensor([1.0, 2.0], device="ocl")).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("layout", ["contiguous", "slice", "transposed"])
@pytest.mark.parametrize("function", [torch.linalg.det, lambda a: torch.linalg.slogdet(a)[1]])
def test_determinants_of_any_layout(function, layout, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    drawn = torch.randn(2, 4, 6, dtype=torch.float64)

    def matrix(device):
        a = drawn.to(device)
        if layout == "transposed":
            a = a.mT[:, :4].contiguous().mT
        return (
            a[..., :4] if layout == "slice" else a[..., :4].clone() if layout == "contiguous" else a
        ).detach()

    results = []
    for device in ("cpu", "ocl"):
        a = matrix(device).requires_grad_()
        (first,) = torch.autograd.grad(function(a).sum(), a, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), a)
        _, tangent = torch.func.jvp(function, (a.detach(),), (torch.ones_like(a),))
        results.append([t.detach().cpu() for t in (first, second, tangent)])
    for ours, theirs in zip(*reversed(results), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


# Operators of x [4, 3] and three indices; forward and backward kernels both meet a bad one.
LOSSES = {
    "cross_entropy": lambda x, i: F.cross_entropy(x[:3], i),
    "embedding": lambda x, i: F.embedding(i, x).sum(),
    "index": lambda x, i: x[i].sum(),
    "index_select": lambda x, i: x.index_select(0, i).sum(),
    "gather": lambda x, i: x.gather(0, i.reshape(1, 3)).sum(),
    "take": lambda x, i: x.take(i).sum(),
    "scatter": lambda x, i: x.scatter(0, i.reshape(1, 3), 2.0).sum(),
    "index_add": lambda x, i: x.index_add(0, i, torch.ones_like(x[:3])).sum(),
    "index_put": lambda x, i: x.index_put((i,), torch.ones_like(x[:3])).sum(),
}


def loss_of(name, index):
    x = torch.ones(4, 3, device="ocl", requires_grad=True)
    return LOSSES[name](x, torch.tensor([0, 1, index], device="ocl"))


def read(gradient):
    gradient.sum().item()


def unrelated_pass():
    """A backward pass whose own thread waits."""
    z = torch.ones(3, device="ocl", requires_grad=True)
    y = z * z
    y.register_hook(read)
    y.sum().backward()
    assert z.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("name", LOSSES)
def test_a_bad_index_is_told_once(name):
    for bad in (30, 40):
        with pytest.raises(IndexError, match=str(bad)):
            loss = loss_of(name, bad)
            loss.backward()
            loss.item()
        for _ in range(2):
            unrelated_pass()
            torch.ocl.synchronize()
            loss_of(name, 2).backward()
            assert torch.ones(2, device="ocl").sum().item() == 2


def test_a_bad_index_is_told_where_a_backward_pass_reads():
    x = torch.ones(4, 3, device="ocl", requires_grad=True)
    y = x * 1
    y.register_hook(read)
    with pytest.raises(IndexError, match="30"):
        y[torch.tensor([30], device="ocl")].sum().backward()
    unrelated_pass()
    torch.ocl.synchronize()


def test_a_bad_index_of_a_second_derivative_is_told_once():
    x = torch.ones(4, 3, device="ocl", requires_grad=True)
    with pytest.raises(IndexError, match="30"):
        y = x.square()[torch.tensor([30], device="ocl")].sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        first.square().sum().backward()
        x.grad.sum().item()
    for _ in range(2):
        unrelated_pass()


def test_threads_are_told_of_their_own_backward_passes():
    told = []

    def train(bad):
        try:
            for step in range(3):
                loss = loss_of("embedding", bad if step == 1 else 1)
                loss.backward()
                loss.item()
        except IndexError as error:
            told.append((bad, str(error)))
        unrelated_pass()

    threads = [threading.Thread(target=train, args=(bad,)) for bad in (1, 30, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bad for bad, _ in told) == [30, 40]
    assert all(f"out of range: {bad}" in text and "thread" not in text for bad, text in told)
    unrelated_pass()


@pytest.mark.parametrize(
    "name", ["hardswish", "logsigmoid", "hardtanh", "gelu", "silu", "relu", "elu", "softplus"]
)
@pytest.mark.parametrize("transform", ["jacrev", "jacfwd"])
def test_jacobians_of_activations(name, transform):
    x = torch.linspace(-2, 2, 5)
    function = getattr(F, name)
    jacobian = getattr(torch.func, transform)(function)
    torch.testing.assert_close(jacobian(x.to("ocl")).cpu(), jacobian(x), rtol=1e-5, atol=1e-6)


def test_a_jacobian_of_prelu():
    x, weight = torch.linspace(-2, 2, 5), torch.tensor([0.3])
    theirs = torch.func.jacrev(F.prelu, argnums=(0, 1))(x, weight)
    ours = torch.func.jacrev(F.prelu, argnums=(0, 1))(x.to("ocl"), weight.to("ocl"))
    for a, e in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.cpu(), e)


def test_gradients_of_other_shapes():
    for device in ("cpu", "ocl"):
        x = torch.tensor([1.0, -1.0, 2.0], device=device)
        grad = torch.ones(2, 3, device=device)
        assert torch.ops.aten.threshold_backward(grad, x, 0).tolist() == [[1, 0, 1], [1, 0, 1]]
        with pytest.raises(RuntimeError):
            torch.ops.aten.threshold_backward(x, torch.zeros(0, 2, device=device), 0)


def test_pickled_tensors_come_back():
    net = torch.nn.Linear(3, 2).to("ocl")
    for thing in (torch.arange(6.0, device="ocl").reshape(2, 3).t(), net.weight):
        back = pickle.loads(pickle.dumps(thing))
        assert type(back) is type(thing) and back.device == thing.device and back.tolist() == thing.tolist()
    assert pickle.loads(pickle.dumps(net)).bias.tolist() == net.bias.tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_uniform_numbers_stay_below_their_end(dtype):
    for low, high in ((0, 1), (2, 3), (-3, -2), (-1, 1)):
        drawn = torch.empty(200_000, device="ocl", dtype=dtype).uniform_(low, high).cpu()
        assert drawn.min() >= low and drawn.max() < high
        off = torch.finfo(dtype).eps * max(abs(low), abs(high))  # rounded downwards
        assert abs(drawn.double().mean() - (low + high) / 2) < 0.005 + off
    with pytest.raises(RuntimeError):
        torch.empty(3, device="ocl", dtype=dtype).uniform_(-3e38, 3e38)


def test_small_corners():
    def both(function):
        return [function(device) for device in ("cpu", "ocl")]

    for theirs, ours in (
        both(
            lambda d: torch.heaviside(
                torch.tensor([float("nan"), -1, 0, 2.0], device=d), torch.tensor(2.0, device=d)
            )
        ),
        both(lambda d: torch.tensor([5, -9], device=d) << torch.tensor([2, 70], device=d)),
        both(lambda d: torch.tensor([5, -9], device=d).__ilshift__(2).__irshift__(1) >> 1),
        both(lambda d: torch.empty(0, dtype=torch.int64, device=d).median()),
        both(
            lambda d: torch.ones(2, device=d).index_put_(
                (torch.tensor([True, False], device=d),), torch.tensor(2)
            )
        ),
    ):
        assert ours.tolist() == theirs.tolist() and ours.dtype == theirs.dtype
    out = torch.zeros(1, device="ocl").expand(3)
    for call in (torch.cumsum, torch.cumprod, torch.softmax):
        with pytest.raises(RuntimeError, match="single memory location"):
            call(torch.ones(3, device="ocl"), 0, out=out)
