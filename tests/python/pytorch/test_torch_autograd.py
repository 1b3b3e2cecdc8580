"""What autograd is told of, and gets from, the device: versions, transforms of functions, bad indices."""

import pickle

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


def test_a_bad_index_is_told_once():
    torch.manual_seed(0)
    embedding, linear = torch.nn.Embedding(10, 4).to("ocl"), torch.nn.Linear(4, 3).to("ocl")
    target = torch.tensor([0, 1, 2], device="ocl")

    def step(index):
        loss = F.cross_entropy(linear(embedding(torch.tensor(index, device="ocl"))), target)
        loss.backward()
        return loss.item(), embedding.weight.grad.sum().item()

    for bad in (30, 40):
        with pytest.raises(IndexError, match=f"index out of bounds: {bad}"):
            step([1, 2, bad])
        for _ in range(3):
            try:
                step([1, 2, 3])
                break
            except IndexError:
                continue  # what the backward pass met of the same step
        for _ in range(3):
            step([1, 2, 3])
    # The thread of backward passes has its own when it waits first, as in a hook that reads.
    x = torch.ones(1, device="ocl", requires_grad=True)

    def read(gradient):
        gradient.item()

    for is_first in (True, False):
        y = x * 2
        y.register_hook(read)
        try:
            y.backward()
        except IndexError as error:
            assert is_first and "index out of bounds: 40" in str(error)


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
