"""Nets that torch.compile makes for ocl: losses and gradients of steps beside PyTorch's CPU and float64."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
from comparisons import find_torchvision, load_torchvision  # noqa: E402

nn, F = torch.nn, torch.nn.functional


@pytest.fixture(autouse=True)
def fresh_compiler():
    yield
    torch._dynamo.reset()


class Block(nn.Module):
    """resnet18's, smaller."""

    def __init__(self, inner=12):
        super().__init__()
        self.stem = nn.Conv2d(3, inner, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(inner) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(inner, inner, 3, padding=1, bias=False) for _ in range(2))
        self.head = nn.Linear(inner, 10)

    def forward(self, x):
        x = F.silu(self.norms[0](self.stem(x)))
        y = F.silu(self.norms[1](self.convs[0](x)))
        x = F.silu(x + self.norms[2](self.convs[1](y)))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Attention(nn.Module):
    """A small transformer with embeddings."""

    def __init__(self, words=50, width=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(20, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 48, dropout=0.0, batch_first=True, activation="gelu")
            for _ in range(2)
        )
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def digits_net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.GELU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 3),
        nn.GELU(),
        nn.Flatten(),
        nn.Linear(12 * 16, 32),
        nn.LayerNorm(32),
        nn.Tanh(),
        nn.Linear(32, 10),
    )


def image_batch(shape):
    def batch(seed):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(shape, generator=generator), torch.randint(0, 10, (shape[0],), generator=generator)

    return batch


def token_batch(seed):
    tokens = torch.randint(0, 50, (4, 13), generator=torch.Generator().manual_seed(seed))
    return tokens, tokens.roll(1, 1)


def class_loss(net, x, labels):
    return F.cross_entropy(net(x).flatten(0, -2), labels.flatten(), label_smoothing=0.1)


CASES = {
    "digits": (digits_net, image_batch((9, 1, 14, 14)), class_loss),
    "resnet block": (Block, image_batch((6, 3, 11, 13)), class_loss),
    "transformer": (Attention, token_batch, class_loss),
}


def trained(
    net, batch, loss_of, steps, device, dtype, compiled=False, optimizer=torch.optim.AdamW, **options
):
    """Losses of some steps, and the gradients of the last."""
    net = copy.deepcopy(net).to(device, dtype)
    run = torch.compile(net, **options) if compiled else net
    update = optimizer(net.parameters(), 1e-3)
    losses = []
    for step in range(steps):
        tensors = [t.to(device, dtype if t.is_floating_point() else t.dtype) for t in batch(step)]
        update.zero_grad()
        loss = loss_of(run, *tensors)
        loss.backward()
        update.step()
        losses.append(loss.item())
    gradients = [p.grad.double().cpu() for p in net.parameters() if p.grad is not None]
    buffers = [b.double().cpu() for b in net.buffers() if b.is_floating_point()]
    return np.array(losses), gradients, buffers


def assert_as_near(net, batch, loss_of, steps=4, **options):
    """Within four times the distance that PyTorch's float32 on the CPU has from float64."""
    truth = trained(net, batch, loss_of, steps, "cpu", torch.float64)
    theirs = trained(net, batch, loss_of, steps, "cpu", torch.float32)
    ours = trained(net, batch, loss_of, steps, "ocl", torch.float32, compiled=True, **options)
    assert len(ours[1]) == len(theirs[1])
    rounding = 4 * np.finfo(np.float32).eps
    assert (
        np.abs(ours[0] - truth[0]) <= 4 * np.abs(theirs[0] - truth[0]).max() + rounding * np.abs(truth[0])
    ).all()
    largest = max(float(t.norm()) for t in truth[1])
    for which in (1, 2):
        for mine, other, exact in zip(ours[which], theirs[which], truth[which], strict=True):
            allowed = 4 * float((other - exact).norm()) + 2 * rounding * max(
                float(exact.norm()), 1e-4 * largest
            )
            assert float((mine - exact).norm()) <= allowed, (mine - exact).norm() / exact.norm()


@pytest.mark.parametrize("name", CASES)
def test_training(name):
    make, batch, loss_of = CASES[name]
    assert_as_near(make(), batch, loss_of)


def test_training_with_changing_batches():
    def batch(seed):
        return image_batch((5 + 3 * seed, 1, 14, 14))(seed)

    assert_as_near(digits_net(), batch, class_loss, dynamic=True)


@pytest.mark.parametrize("name", CASES)
def test_inference(name):
    make, batch, _ = CASES[name]
    net = make().eval()
    x = batch(0)[0]
    with torch.no_grad():
        truth = copy.deepcopy(net).double()(x.double() if x.is_floating_point() else x)
        theirs, mine = net(x), torch.compile(copy.deepcopy(net).to("ocl"))(x.to("ocl")).cpu()
    assert (mine - truth).abs().max() <= 4 * (theirs - truth).abs().max() + 1e-6


def test_mixed_precision():
    net, (x, labels) = digits_net().to("ocl"), [t.to("ocl") for t in image_batch((9, 1, 14, 14))(0)]

    def gradients(run, is_mixed=True):
        net.zero_grad()
        with torch.autocast("ocl", torch.bfloat16, enabled=is_mixed):
            loss = F.cross_entropy(run(x), labels)
        loss.backward()
        return [loss.detach(), *(p.grad.clone() for p in net.parameters())]

    everything = zip(gradients(torch.compile(net)), gradients(net), gradients(net, False), strict=True)
    for mine, eager, exact in everything:
        assert (mine - exact).norm() <= 1.5 * (eager - exact).norm() + 1e-3 * exact.norm()


def test_dropout_trains():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.Dropout(0.3), nn.Linear(64, 2)).to("ocl")
    run, update = torch.compile(net), torch.optim.AdamW(net.parameters(), 1e-2)
    x = torch.randn(200, 20, device="ocl")
    labels = (x[:, 0] > 0).long()
    for _ in range(30):
        update.zero_grad()
        loss = F.cross_entropy(run(x), labels)
        loss.backward()
        update.step()
    net.eval()
    assert (torch.compile(net)(x).argmax(1) == labels).float().mean() > 0.95


def test_a_compiled_step_in_a_graph():
    """OCLGraph captures compiled kernels as it captures all others."""
    net = torch.compile(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16)).to("ocl"))
    x = torch.randn(5, 8, device="ocl")
    with torch.no_grad():
        net(x), net(x)
        graph = torch.ocl.OCLGraph()
        with torch.ocl.graph(graph):
            y = net(x)
        x.copy_(torch.randn(5, 8))
        graph.replay()
        torch.testing.assert_close(y, net(x))


@pytest.mark.slow
def test_gpt2():
    if find_torchvision():
        load_torchvision()  # before transformers, which reads it
    transformers = pytest.importorskip("transformers", reason="NOT TESTED: transformers is not installed")
    sizes = {"n_embd": 48, "n_layer": 2, "n_head": 4, "vocab_size": 90, "n_positions": 32}
    config = transformers.GPT2Config(**sizes, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    net = transformers.GPT2LMHeadModel(config)

    def batch(seed):
        tokens = torch.randint(0, 90, (3, 17), generator=torch.Generator().manual_seed(seed))
        return tokens, tokens

    assert_as_near(net, batch, lambda net, x, labels: net(x, labels=labels).loss)
