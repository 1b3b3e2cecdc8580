"""Operators that are made of others, in float16 where what lies between is larger or smaller than it holds:
PyTorch's results on the CPU, rounded once. And batches without elements, NaN, parts of larger tensors."""

import math

import pytest

torch = pytest.importorskip("torch")

F = torch.nn.functional
COMPOSED = {
    "std of large": (torch.std, [600, -600, 0, 300]),
    "std of small": (torch.std, [1e-4, 3e-4]),
    "std_mean": (lambda x: sum(torch.std_mean(x)), [600, -600, 0, 300]),
    "std along a dim": (lambda x: x.reshape(2, 2).std(1).sum(), [600, -600, 20, 700]),
    "mse_loss": (lambda x: F.mse_loss(x, torch.zeros_like(x)), [300, 10, 0]),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, -x.detach()), [40000, 10, 0]),
    "huber_loss": (lambda x: F.huber_loss(x, torch.zeros_like(x), delta=400), [390, 10, 0]),
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, torch.zeros_like(x), weight=torch.full_like(x, 30000)),
        [0.9, 0.5, 0.25],
    ),
    "renorm": (lambda x: x.reshape(2, 2).renorm(2, 0, 1000).sum(), [60000, 60000, 3, 4]),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name):
    function, values = COMPOSED[name]
    rounded = torch.tensor(values, dtype=torch.float16)

    def run(device, dtype):
        x = rounded.to(device, dtype).requires_grad_()
        y = function(x)
        y.backward()
        return y.detach().cpu().double(), x.grad.cpu().double()

    results = list(zip(run("ocl", torch.float16), run("cpu", torch.float64), strict=True))
    for actual, expected in results[: 1 if name == "renorm" else 2]:  # renorm's gradient is made of halves
        torch.testing.assert_close(actual, expected.half().double(), rtol=3e-3, atol=1e-7)


@pytest.mark.parametrize("loss", [F.nll_loss, F.cross_entropy])
@pytest.mark.parametrize("weighted", [False, True])
def test_more_labels_than_float16_counts(loss, weighted):
    n = 70000
    labels = torch.arange(n) % 2
    labels[:10] = -100
    weight = torch.tensor([0.5, 2.0]) if weighted else None

    def run(device, dtype):
        x = torch.zeros(n, 2, device=device, dtype=dtype, requires_grad=True)
        given = None if weight is None else weight.to(device, dtype)
        (loss(x, labels.to(device), given) * 30000).backward()
        return x.grad.cpu().double()

    torch.testing.assert_close(run("ocl", torch.float16), run("cpu", torch.float64), rtol=3e-3, atol=1e-7)


def test_a_mean_over_more_elements_than_float16_counts():
    x = torch.full((70000,), 2.0, dtype=torch.float16, device="ocl", requires_grad=True)
    (F.mse_loss(x, torch.zeros_like(x)) * 10000).backward()
    torch.testing.assert_close(x.grad.cpu().float(), torch.full((70000,), 40000 / 70000), rtol=2e-3, atol=0)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 2, 2), (2, 3, 0)])
def test_batch_norm_of_nothing(shape, training):
    def run(device):
        norm = torch.nn.BatchNorm1d(3) if len(shape) < 4 else torch.nn.BatchNorm2d(3)
        norm.running_mean.fill_(0.5)
        norm.to(device).train(training)
        x = torch.ones(shape, device=device, requires_grad=True)
        y = norm(x)
        y.sum().backward()
        found = [y.shape, x.grad.shape, norm.weight.grad.cpu().tolist(), norm.bias.grad.cpu().tolist()]
        return [*found, *(b.cpu().tolist() for b in norm.buffers())]

    assert run("ocl") == run("cpu")


def test_the_whole_maximum_with_nan():
    for name in ("max", "min"):
        for values in ([1, math.nan, 3], [math.nan, 2, math.nan], [1.0, 1, 1]):
            gradients = []
            for device in ("ocl", "cpu"):
                x = torch.tensor(values, device=device, requires_grad=True)
                getattr(x, name)().backward()
                gradients.append(x.grad.cpu())
            torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("options", [{"fused": True}, {"foreach": True}, {"foreach": False}], ids=str)
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_parameters_cut_out_of_larger_tensors(kind, options):
    def run(device, **options):
        whole = torch.arange(48.0).reshape(6, 8).to(device)
        parts = [p.detach().requires_grad_() for p in (whole[:3, :3], whole[3:, 2:6].t(), whole[::2, 7])]
        optimizer = getattr(torch.optim, kind)(parts, lr=0.1, **options)
        for step in range(3):
            for p in parts:
                p.grad = torch.full(p.shape, 0.5 + step, device=device)
            torch.nn.utils.clip_grad_norm_(parts, 2.0)
            optimizer.step()
        return whole.cpu()

    # PyTorch's fused steps on the CPU know no gaps.
    torch.testing.assert_close(run("ocl", **options), run("cpu", foreach=False))
