"""PyTorch on ocl devices, against PyTorch on the CPU."""

import copy
import io

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional


def assert_close(ours, theirs):
    torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_copies_keep_every_bit(dtype):
    x = torch.randint(0, 2, (3, 5, 4)).to(dtype)
    there = x.to("ocl:0")
    assert there.device == torch.device("ocl:0")
    for view in (lambda t: t, lambda t: t[1:, ::2], lambda t: t.permute(2, 0, 1), lambda t: t[:0]):
        assert torch.equal(view(there).cpu(), view(x))
    there[1:, ::2] = x[:2, :3].to("ocl")
    x[1:, ::2] = x[:2, :3].clone()
    assert torch.equal(there.cpu(), x)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA: tensors of it beside ocl's, unchecked")
def test_tensors_move_between_cuda_and_ocl():
    x = torch.randn(3, 5, 4)
    for view in (lambda t: t, lambda t: t[1:, ::2], lambda t: t.permute(2, 0, 1), lambda t: t[:0]):
        assert torch.equal(view(x.to("ocl")).to("cuda").cpu(), view(x))
        assert torch.equal(view(x.to("cuda")).to("ocl").cpu(), view(x))
    there = torch.zeros(5, 4, dtype=torch.float16, device="ocl").t()
    there.copy_(x[0].t().to("cuda"))
    assert torch.equal(there.cpu(), x[0].t().half())


@pytest.mark.parametrize("to", ["ocl", "cpu"])
@pytest.mark.parametrize("of", ["ocl", "cpu"])
def test_files_of_the_old_format(of, to, tmp_path):
    """Those before PyTorch 1.6 wrote no zip; many are still about. They are read straight to the device."""
    x = torch.arange(24.0).reshape(4, 6)
    net = torch.nn.Linear(3, 2)
    saved = {"part": x.to(of)[1:, ::2], "half": x.half().to(of), "net": net.to(of).state_dict()}
    torch.save(saved, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    read = torch.load(tmp_path / "old.pth", map_location=to)
    assert {t.device.type for t in (read["part"], read["half"], *read["net"].values())} == {to}
    assert torch.equal(read["part"].cpu(), x[1:, ::2]) and torch.equal(read["half"].cpu(), x.half())
    assert torch.equal(read["net"]["weight"].cpu(), net.weight.detach().cpu())


def test_saved_tensors_come_back():
    x = torch.randn(3, 4)
    file = io.BytesIO()
    torch.save(x.to("ocl"), file)
    for location in (None, "cpu"):
        file.seek(0)
        loaded = torch.load(file, map_location=location)
        assert loaded.device.type == (location or "ocl")
        assert torch.equal(loaded.cpu(), x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + 2 * y,
        lambda x, y: torch.add(x, y, alpha=3) / (y.abs() + 1),
        lambda x, y: F.relu(x) * torch.sigmoid(y) - torch.tanh(x),
        lambda x, y: F.gelu(x) + F.gelu(y, approximate="tanh") + F.hardswish(x) + F.relu6(4 * x),
        lambda x, y: torch.clamp(x, -0.5) + F.silu(y),
        lambda x, y: torch.where(x > 0, x, y).exp(),
        lambda x, y: torch.softmax(x, 1) + torch.log_softmax(y, -1),
        lambda x, y: torch.cat([x, y.expand(3, 4)], 1).mean(0),
        lambda x, y: x @ x.t() + x.sum(1, keepdim=True),
        lambda x, y: F.layer_norm(x, (4,), y, y),
    ],
)
def test_functions_and_gradients(function):
    x, y = torch.randn(3, 4), torch.randn(4)
    theirs = [t.clone().requires_grad_(True) for t in (x, y)]
    ours = [t.to("ocl").requires_grad_(True) for t in (x, y)]
    expected, actual = function(*theirs), function(*ours)
    assert_close(actual, expected)
    weights = torch.randn(expected.shape)
    (expected * weights).sum().backward()
    (actual * weights.to("ocl")).sum().backward()
    for a, e in zip(ours, theirs, strict=True):
        assert (a.grad is None) == (e.grad is None)
        if a.grad is not None:
            assert_close(a.grad, e.grad)


def test_in_place_and_out():
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    a, b = x.to("ocl"), y.to("ocl")
    out = torch.empty(0, device="ocl")
    torch.mul(a, b, out=out)
    assert_close(out, x * y)
    a.t().add_(b.t()).sub_(1)
    assert_close(a, x + y - 1)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.zeros(3, dtype=torch.int64, device="ocl").add_(0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **out: torch.mm(x, x.t(), **out),
        lambda x, **out: torch.addmm(x[0, :3], x, x.t(), **out),
        lambda x, **out: torch.sum(x, 1, keepdim=True, **out),
        lambda x, **out: torch.mean(x, (0, 1), **out),
        lambda x, **out: torch.amax(x, 0, **out),
        lambda x, **out: torch.cat([x, x[:1]], **out),
        lambda x, **out: torch.softmax(x, 1, **out),
        lambda x, **out: torch._C._nn.gelu(x, **out),
        lambda x, **out: torch._C._nn.avg_pool2d(x[None], 2, **out),
    ],
)
def test_an_empty_out_gets_the_shape(call):
    x = torch.randn(3, 4)
    out = torch.empty(0, device="ocl")
    call(x.to("ocl"), out=out)
    assert_close(out, call(x))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3),
            torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8, 8, 3, padding=1, groups=8),
            torch.nn.MaxPool2d(2),
            torch.nn.AvgPool2d(3, 2, 1),
            torch.nn.Flatten(),
            torch.nn.Linear(8 * 7 * 7, 10),
        )

    def forward(self, x):
        return F.log_softmax(self.layers(x), 1)


def test_training_follows_the_cpu():
    theirs = Net()
    ours = copy.deepcopy(theirs).to("ocl")
    x, target = torch.randn(8, 1, 28, 28), torch.randint(0, 10, (8,))
    optimizers = [torch.optim.SGD(net.parameters(), 0.1, momentum=0.9) for net in (theirs, ours)]
    for _ in range(5):
        losses = []
        for net, optimizer, device in zip((theirs, ours), optimizers, ("cpu", "ocl"), strict=True):
            optimizer.zero_grad()
            loss = F.nll_loss(net(x.to(device)), target.to(device))
            loss.backward()
            optimizer.step()
            losses.append(loss)
        assert_close(losses[1], losses[0])
    for (name, a), e in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(a.cpu(), e, rtol=1e-3, atol=1e-3, msg=name)


def test_what_has_no_kernel_says_so(monkeypatch):
    x = torch.randn(5, device="cpu").to("ocl")
    with pytest.raises(NotImplementedError, match=r"aten::special_bessel_j0.* has no kernel for ocl devices"):
        torch.special.bessel_j0(x)
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "warn")
    with pytest.warns(UserWarning, match=r"aten::special_bessel_j0.* runs on the CPU"):
        y = torch.special.bessel_j0(x)
    assert_close(y, torch.special.bessel_j0(x.cpu()))
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "maybe")
    with pytest.raises(ValueError, match="TORCH_OCL_FALLBACK must be"):
        torch.special.bessel_j0(x)


def test_what_there_is_not():
    with pytest.raises((TypeError, NotImplementedError), match="no quantized dtype|empty.memory_format"):
        torch.empty(3, dtype=torch.qint8, device="ocl")
    with pytest.raises(RuntimeError, match="ocl:99"):
        torch.zeros(3, device="ocl:99")
