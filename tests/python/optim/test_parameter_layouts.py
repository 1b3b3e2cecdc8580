"""Parameters, gradients and averages that lie in memory otherwise than row by row: parts of larger tensors,
transposed, channels last. Every optimizer, clipping and averages, beside PyTorch with the same layouts."""

import copy

import numpy as np
import pytest
import torch
from test_optimizers import OPTIMIZERS

import ocl

LIBRARIES = (ocl, torch)
# How a tensor is cut out of a larger one, and a larger one's shape.
LAYOUTS = {
    "a corner": ((6, 8), lambda t: t[:3, :3]),
    "from the middle": ((6, 8), lambda t: t[2:5, 3:6]),
    "every other": ((6, 8), lambda t: t[::2, 1::3]),
    "a column": ((6, 8), lambda t: t[:, 2]),
    "an element": ((6, 8), lambda t: t[3, 4]),
    "transposed": ((6, 8), lambda t: t.t()),
    "a transposed corner": ((6, 8), lambda t: t[:3, 1:4].t()),
    "channels last": ((2, 3, 4, 5), lambda t: t.permute(0, 3, 1, 2)),
    "a part, channels last": ((2, 3, 4, 6), lambda t: t.permute(0, 3, 1, 2)[:, 1:4, :, ::2]),
}
each_layout = pytest.mark.parametrize(("shape", "view"), LAYOUTS.values(), ids=LAYOUTS.keys())
# One set of options of each class, with most of its states.
CHOSEN = {name: {**options, "lr": 0.02} for name, options in OPTIMIZERS.values()}
CHOSEN["Adafactor"] = {"lr": 0.02}


def numbers(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def cut(library, shape, view, seed=0):
    """The whole tensor and a leaf that is a part of its memory."""
    whole = library.tensor(numbers(shape, seed))
    return whole, view(whole).detach().requires_grad_()


def like(library, p, seed, shape=None, view=None):
    """A gradient for p: of its layout, or of one that is asked for."""
    if view is None:
        return library.tensor(numbers(tuple(p.shape), seed))
    part = view(library.tensor(numbers(shape, seed)))
    return part if tuple(part.shape) == tuple(p.shape) else like(library, p, seed)


def stepped(library, name, options, shape, view, gradient_view):
    whole, p = cut(library, shape, view)
    optimizer = getattr(library.optim, name)([p], **options)
    for number in range(4):
        p.grad = like(library, p, 100 + number, shape, gradient_view)
        optimizer.step()
    assert tuple(p.stride()) == tuple(view(whole).stride())
    return whole.numpy(), p.detach().numpy()


def expect_close(ours, theirs):
    for actual, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-6)


@each_layout
@pytest.mark.parametrize("gradients", ["contiguous", "alike"])
@pytest.mark.parametrize("name", CHOSEN)
def test_every_optimizer(name, gradients, shape, view):
    gradient_view = view if gradients == "alike" else None
    expect_close(*(stepped(lib, name, CHOSEN[name], shape, view, gradient_view) for lib in LIBRARIES))


@each_layout
def test_lbfgs(shape, view):
    def train(library):
        whole, p = cut(library, shape, view)
        if library is torch:  # which takes gradients row by row alone
            p = p.detach().contiguous().requires_grad_()
        optimizer = library.optim.LBFGS([p], lr=0.5, max_iter=5)

        def closure():
            optimizer.zero_grad()
            loss = ((p - 0.3) ** 2 * 1.5).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        view(whole).copy_(p.detach())
        return whole.numpy(), p.detach().numpy()

    expect_close(*map(train, LIBRARIES))


def test_muon():
    def train(library):
        whole, p = cut(library, (6, 8), LAYOUTS["a corner"][1])
        optimizer = library.optim.Muon([p], lr=0.1)
        for number in range(3):
            p.grad = like(library, p, number)
            optimizer.step()
        return whole.numpy(), p.detach().numpy()

    for ours, theirs in zip(*map(train, LIBRARIES), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-2, atol=2e-2)


def test_several_parts_of_one_tensor():
    def train(library):
        whole = library.tensor(numbers((6, 8), 0))
        parts = [part.detach().requires_grad_() for part in (whole[:3, :3], whole[3:, :3], whole[:, 5:])]
        optimizer = library.optim.AdamW(parts, lr=0.1)
        for number in range(3):
            for k, p in enumerate(parts):
                p.grad = like(library, p, 10 * number + k)
            optimizer.step()
        return (whole.numpy(),)

    expect_close(*map(train, LIBRARIES))


def test_states_go_on_after_saving():
    def train(library, saves):
        whole, p = cut(library, (6, 8), LAYOUTS["a transposed corner"][1])
        optimizer = library.optim.Adam([p], lr=0.1)
        for number in range(4):
            p.grad = like(library, p, number)
            optimizer.step()
            if saves:
                state = copy.deepcopy(optimizer.state_dict())
                optimizer = library.optim.Adam([p], lr=0.1)
                optimizer.load_state_dict(state)
        return (whole.numpy(),)

    expect_close(train(ocl, True), train(torch, False))


@each_layout
@pytest.mark.parametrize("limit", ["norm", "inf norm", "value"])
def test_clipping(limit, shape, view):
    def clip(library):
        p = view(library.tensor(numbers(shape, 0))).detach().requires_grad_()
        whole = library.tensor(numbers(shape, 1))
        gradient = view(whole)
        p.grad = gradient
        utils = library.nn.utils
        total = None
        if limit == "value":
            utils.clip_grad_value_([p], 0.25)
        else:
            total = utils.clip_grad_norm_([p], 0.5, float("inf") if limit == "inf norm" else 2.0)
        assert p.grad is gradient
        return whole.numpy(), p.grad.numpy(), *([] if total is None else [total.numpy()])

    expect_close(*map(clip, LIBRARIES))


@each_layout
@pytest.mark.parametrize("kind", ["mean", "ema"])
def test_averages(kind, shape, view):
    def train(library):
        class Net(library.nn.Module):
            def __init__(self):
                super().__init__()
                self.p = library.nn.Parameter(view(library.tensor(numbers(shape, 0))))

        net, swa = Net(), library.optim.swa_utils
        averaged = swa.AveragedModel(
            net, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9) if kind == "ema" else None
        )
        for number in range(3):
            with library.no_grad():
                net.p.add_(like(library, net.p, number))
            averaged.update_parameters(net)
        return net.p.detach().numpy(), averaged.module.p.detach().numpy()

    expect_close(*map(train, LIBRARIES))


HALVES = [("float16", 300.0), ("float16", 2e4), ("bfloat16", 1e10)]


@pytest.mark.parametrize(("dtype", "size"), HALVES)
def test_clipping_half_gradients_whose_norm_is_more_than_they_hold(dtype, size):
    shape = (400,)
    values = ocl.tensor(numbers(shape, 3) * size).to(getattr(ocl, dtype))
    p = ocl.zeros(*shape, dtype=getattr(ocl, dtype), requires_grad=True)
    p.grad = values.clone()
    norm = ocl.nn.utils.clip_grad_norm_([p], 2.0)
    wide = values.float().numpy().astype(np.float64)
    truth = np.sqrt((wide**2).sum())
    assert norm.dtype == p.dtype
    expected = torch.tensor(truth).to(getattr(torch, dtype)).item()
    assert norm.item() == pytest.approx(expected, rel=1e-2)
    np.testing.assert_allclose(p.grad.float().numpy(), wide * 2 / truth, rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_adafactor_in_half(dtype, scale):
    """Products of its states leave float16; its steps do not depend on the scale of gradients."""
    shape = (5, 7)
    p = ocl.tensor(numbers(shape, 0)).to(getattr(ocl, dtype)).requires_grad_()
    before = p.detach().float().numpy()
    p.grad = (ocl.tensor(numbers(shape, 1)) * scale).to(p.dtype)
    ocl.optim.Adafactor([p], lr=0.1).step()
    moved = p.detach().float().numpy() - before
    assert np.isfinite(moved).all() and 0.01 < np.abs(moved).max() < 0.5


def test_lbfgs_in_half():
    p = ocl.tensor([300.0, -500.0, 200.0]).half().requires_grad_()
    optimizer = ocl.optim.LBFGS([p], lr=1, max_iter=10)

    def closure():
        optimizer.zero_grad()
        loss = (p.float() ** 2).sum() / 2
        loss.backward()
        return loss

    for _ in range(3):
        loss = optimizer.step(closure)
    assert np.isfinite(p.detach().float().numpy()).all() and loss.item() < 100
