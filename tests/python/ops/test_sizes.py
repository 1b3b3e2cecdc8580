"""Sizes beyond what memory, 64 bits or a kernel's 32 hold: an error or PyTorch's result."""

import numpy as np
import pytest
import torch
from support import assert_same, check_like_torch

import ocl
from ocl import nn

LARGE = 2**31 - 1
HUGE = 2**62
REFUSED = (ValueError, ocl.OutOfMemoryError)


def ones(*shape):
    return ocl.ones(1).expand(*shape)


def more_numbers_than_memory():
    if ocl.get_device_properties()["total_memory"] >= 2**35:
        pytest.skip("the device has the memory, and the host would take minutes")
    ocl.randperm(2**32 - 1)


TOO_LARGE = {
    "zeros": lambda: ocl.zeros(HUGE),
    "empty with a size of 0": lambda: ocl.empty(0, HUGE, 4),
    "full": lambda: ocl.full((2**40, 2**40), 1),
    "rand": lambda: ocl.rand(2**32, 2**32),
    "eye": lambda: ocl.eye(2**32, 2**32),
    "arange": lambda: ocl.arange(0, HUGE),
    "arange over all of int64": lambda: ocl.arange(-(2**63), 2**63 - 1),
    "arange of reals": lambda: ocl.arange(0, 1e30),
    "linspace": lambda: ocl.linspace(0, 1, HUGE),
    "randperm": more_numbers_than_memory,
    "randperm of too many": lambda: ocl.randperm(HUGE),
    "one_hot": lambda: nn.functional.one_hot(ocl.arange(3), HUGE),
    "one_hot of a huge class": lambda: nn.functional.one_hot(ocl.tensor([2**63 - 1])),
    "expand": lambda: ones(HUGE, 2),
    "expand to nothing": lambda: ones(HUGE, 2, 0),
    "clone of an expanded one": lambda: ones(HUGE).clone(),
    "a sum with an expanded one": lambda: ones(HUGE) + 1,
    "broadcast": lambda: ones(2**40, 1) * ones(1, 2**40),
    "numpy of an expanded one": lambda: ones(HUGE).flip(0),
    "as_strided": lambda: ocl.ones(4).as_strided((HUGE,), (1,)),
    "as_strided by 4": lambda: ocl.ones(4).as_strided((HUGE,), (4,)),
    "as_strided with a long stride": lambda: ocl.ones(4).as_strided((4,), (HUGE,)),
    "as_strided from far": lambda: ocl.ones(4).as_strided((2,), (1,), 2**63 - 1),
    "as_strided in place": lambda: ocl.ones(4).as_strided((2**32, 2**32), (0, 0)),
    "as_strided past a view": lambda: ocl.ones(4)[2:].as_strided((3,), (1,)),
    "repeat": lambda: ocl.ones(2).repeat(HUGE),
    "repeat to less than 0": lambda: ocl.ones(2).repeat(2**63 - 1),
    "repeat to 2^64": lambda: ocl.ones(4).repeat(HUGE),
    "tile": lambda: ocl.ones(2, 2).tile(2**32, 2**32),
    "cat": lambda: ocl.cat([ones(HUGE)] * 2),
    "cat to more than 2^64": lambda: ocl.cat([ones(HUGE)] * 5),
    "stack": lambda: ocl.stack([ones(HUGE)] * 4),
    "view": lambda: ocl.ones(4).view(2**32, 2**32),
    "view to 2^64 + 4": lambda: ocl.ones(4).view(2**62 + 1, 4),
    "reshape": lambda: ocl.ones(0).reshape(2**32, 2**32),
    "unflatten": lambda: ocl.ones(0).unflatten(0, (2**32, 2**32)),
    "tril": lambda: ones(2**32, 2**32 - 1).tril(),
    "pixel_shuffle": lambda: nn.functional.pixel_shuffle(ocl.ones(1, 4, 2, 2), 2**32),
    "pixel_unshuffle": lambda: nn.functional.pixel_unshuffle(ocl.ones(1, 4, 0, 0), 2**32),
    "pad": lambda: nn.functional.pad(ocl.ones(2), (HUGE, HUGE)),
    "pad with 2^31": lambda: nn.functional.pad(ocl.ones(2), (2**31, 0)),
    "pad by more than there is": lambda: nn.functional.pad(ocl.ones(2), (2**31 - 1, -(2**31))),
    "interpolate": lambda: nn.functional.interpolate(ocl.ones(1, 1, 4), size=HUGE),
    "interpolate by infinity": lambda: nn.functional.interpolate(ocl.ones(1, 1, 4), scale_factor=np.inf),
    "interpolate by 1e30": lambda: nn.functional.interpolate(ocl.ones(1, 1, 4), scale_factor=1e30),
    "interpolate by NaN": lambda: nn.functional.interpolate(ocl.ones(1, 1, 4), scale_factor=np.nan),
    "adaptive_avg_pool2d": lambda: nn.functional.adaptive_avg_pool2d(ocl.ones(1, 1, 4, 4), (2**32, 2**32)),
    "adaptive_max_pool2d": lambda: nn.functional.adaptive_max_pool2d(ocl.ones(1, 1, 4, 4), 2**31),
    "adaptive_avg_pool3d": lambda: nn.functional.adaptive_avg_pool3d(ocl.ones(1, 1, 2, 2, 2), 2**21),
    "adaptive_max_pool3d": lambda: nn.functional.adaptive_max_pool3d(ocl.ones(1, 1, 2, 2, 2), (1, 1, HUGE)),
    "affine_grid": lambda: nn.functional.affine_grid(ocl.ones(1, 2, 3), (1, 1, 2**32, 2**31)),
    "unfold": lambda: nn.functional.unfold(ocl.ones(1, 1, 4, 4), 2**30, padding=2**29),
    "fold": lambda: nn.functional.fold(ocl.ones(1, 4, 1), LARGE, 2, stride=LARGE),
    "multinomial": lambda: ocl.multinomial(ocl.ones(3), HUGE, replacement=True),
    "group_norm of nothing": lambda: nn.functional.group_norm(ocl.ones(4, 0, 3), HUGE),
    "matmul": lambda: ones(2**33, 2) @ ocl.ones(2, 2),
    "softmax": lambda: ones(2**33).softmax(0),
    "sort": lambda: ones(2**40).sort(),
    "Linear": lambda: nn.Linear(HUGE, 1),
    "Linear with outputs": lambda: nn.Linear(HUGE, 4),
    "Conv2d": lambda: nn.Conv2d(2**31, 2**31, 2),
    "Embedding": lambda: nn.Embedding(HUGE, HUGE),
    "BatchNorm1d": lambda: nn.BatchNorm1d(HUGE),
    "LayerNorm": lambda: nn.LayerNorm((2**32, 2**32)),
    "MultiheadAttention": lambda: nn.MultiheadAttention(HUGE, 1),
}


@pytest.mark.parametrize("make", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_what_cannot_be_is_refused(make):
    with pytest.raises(REFUSED):
        make()


def test_more_bytes_than_64_bits_count_are_out_of_memory():
    with pytest.raises(ocl.OutOfMemoryError, match="tried to allocate"):
        ocl.zeros(HUGE)
    with pytest.raises(ValueError, match="more elements than 64 bits count"):
        ocl.zeros(HUGE, 4)


def test_expanded_views_have_as_many_elements_as_64_bits_count():
    x = ones(2**63 - 1)
    assert x.numel() == 2**63 - 1 and x.nbytes == 4 * x.numel()
    assert x[HUGE].item() == 1
    assert x[5::HUGE].sum().item() == 2 and x[:: 2**63 - 1].shape == (1,)
    assert "..." in repr(x)


@pytest.mark.parametrize(
    "take_apart",
    [lambda x: x.unbind(), lambda x: x.split(1), lambda x: x.chunk(HUGE), iter, list],
    ids=["unbind", "split", "chunk", "iter", "list"],
)
def test_more_parts_than_the_host_has_room_for_are_refused(take_apart):
    with pytest.raises((ValueError, MemoryError)):
        take_apart(ones(HUGE))


def test_the_program_goes_on_after_out_of_memory():
    x = ocl.rand(64, 64, requires_grad=True)
    before = ocl.memory_allocated()
    for _ in range(3):
        for fails in (
            lambda: x.repeat(2**40, 1),
            lambda: (x * 2).expand(2**40, 64, 64).clone(),
            lambda: x.sum().expand(2**50).contiguous(),
            lambda: (x @ x).reshape(1, 1, 64, 64).tile(2**20, 2**20, 1, 1),
        ):
            with pytest.raises(ocl.OutOfMemoryError):
                fails()
        assert ocl.memory_allocated() == before
        x.sum().backward()
        assert x.grad.sum().item() == 64 * 64
        x.grad = None


def test_a_training_step_that_does_not_fit_is_followed_by_one_that_does():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = ocl.optim.Adam(net.parameters())

    def step(batch):
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()

    step(ocl.ones(4, 8))
    with pytest.raises(ocl.OutOfMemoryError):
        step(ocl.ones(1, 8).expand(2**30 - 1, 2**10, 8))
    step(ocl.ones(2, 8))
    assert all(np.isfinite(p.detach().numpy()).all() for p in net.parameters())


VIEWS = {
    "a step beyond the end": lambda lib, x: x[::HUGE],
    "from 3, a step beyond the end": lambda lib, x: x[3::HUGE],
    "a shift of 2^62": lambda lib, x: x.roll(HUGE),
    "a shift back": lambda lib, x: x.roll(-HUGE),
    "split by more than there is": lambda lib, x: x.split(2**63 - 1)[0],
    "more chunks than elements": lambda lib, x: x.chunk(HUGE)[-1],
    "a diagonal far above": lambda lib, x: x.reshape(2, 5).diagonal(2**63 - 1),
    "a diagonal far below": lambda lib, x: x.reshape(2, 5).diagonal(-(2**63)),
    "tril of all": lambda lib, x: x.reshape(2, 5).tril(2**63 - 1),
    "triu of none": lambda lib, x: x.reshape(2, 5).triu(2**63 - 1),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_by_numbers_of_64_bits(view, rng):
    check_like_torch(view, rng.uniform(-1, 1, 10).astype(np.float32))


@pytest.mark.parametrize("length", [2**63 - 1, HUGE, 10])
def test_narrow_beyond_the_end(length):
    with pytest.raises(IndexError):
        ocl.arange(10).narrow(0, 1, length)


def plane(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


# Steps, dilations and kernels that reach beyond the input.
WINDOWS = {
    "conv1d, stride": lambda f, x, w: f.conv1d(x[:, :, 0], w[:, :, 0], stride=LARGE),
    "conv1d, padding and stride": (
        lambda f, x, w: f.conv1d(x[:, :, 0], w[:, :, 0], padding=100, stride=LARGE)
    ),
    "conv1d, dilation of one tap": lambda f, x, w: f.conv1d(x[:, :, 0], w[:, :, 0, :1], dilation=LARGE),
    "conv2d, strides": lambda f, x, w: f.conv2d(x, w, stride=(1, LARGE)),
    "conv2d, depthwise": lambda f, x, w: f.conv2d(x, w[:, :1], stride=LARGE, groups=2),
    "conv_transpose2d": lambda f, x, w: f.conv_transpose2d(x[..., :1, :1], w, stride=LARGE),
    "max_pool2d, stride": lambda f, x, w: f.max_pool2d(x, 3, stride=LARGE),
    "max_pool2d, kernel": lambda f, x, w: f.max_pool2d(x, (LARGE, 1), stride=LARGE, ceil_mode=True),
    "max_pool2d, padding": lambda f, x, w: f.max_pool2d(x, 1000, stride=LARGE, padding=500),
    "max_pool2d, dilation of one": lambda f, x, w: f.max_pool2d(x, 1, stride=1, dilation=LARGE),
    "avg_pool1d, padding": lambda f, x, w: f.avg_pool1d(x[0], 100, stride=LARGE, padding=50),
    "avg_pool2d, divisor": lambda f, x, w: f.avg_pool2d(x, 2, divisor_override=2**40),
    "avg_pool2d, area of 2^31": lambda f, x, w: f.avg_pool2d(x, 46342, stride=46342, padding=23171),
    "conv3d, stride": lambda f, x, w: f.conv3d(x[:, :, None], w[:, :, None], stride=LARGE),
    "conv3d, padding and stride": (
        lambda f, x, w: f.conv3d(x[:, :, None], w[:, :, None], padding=(40, 0, 9), stride=(LARGE, 1, LARGE))
    ),
    "conv3d, dilation of one tap": (
        lambda f, x, w: f.conv3d(x[:, :, None], w[:, :, None], dilation=(LARGE, 1, 1))
    ),
    "conv_transpose3d": (
        lambda f, x, w: f.conv_transpose3d(x[:, :, None, :1, :1], w[:, :, None], stride=LARGE)
    ),
    "max_pool3d, stride": lambda f, x, w: f.max_pool3d(x, (2, 3, 3), stride=LARGE),
    "max_pool3d, kernel": lambda f, x, w: f.max_pool3d(x, (LARGE, 1, 1), stride=LARGE, ceil_mode=True),
    "max_pool3d, dilation of one": lambda f, x, w: f.max_pool3d(x, 1, stride=1, dilation=LARGE),
    "avg_pool3d, divisor": lambda f, x, w: f.avg_pool3d(x, 2, divisor_override=2**40),
    "unfold, stride": lambda f, x, w: f.unfold(x, 2, stride=LARGE),
    "unfold, dilation of one": lambda f, x, w: f.unfold(x, 1, dilation=LARGE),
    "fold, stride": lambda f, x, w: f.fold(x.reshape(1, -1, 1)[:, :8], 2, 2, stride=LARGE),
    "pad, cut by more than there is": lambda f, x, w: f.pad(x[0], (-LARGE, LARGE), mode="replicate"),
    "local_response_norm": lambda f, x, w: f.local_response_norm(x, 100),
}


@pytest.mark.parametrize("windowed", WINDOWS.values(), ids=WINDOWS.keys())
def test_windows_that_reach_beyond_the_input(windowed, rng):
    check_like_torch(
        lambda lib, x, w: windowed(lib.nn.functional, x, w),
        plane(rng, 1, 2, 4, 5),
        plane(rng, 2, 2, 3, 3),
        unit="sums",
    )


REFUSED_WINDOWS = {
    "conv1d, padding": lambda f, x: f.conv1d(x[0], x[0, :, :, :3], padding=LARGE),
    "conv1d, dilation": lambda f, x: f.conv1d(x[0], x[0, :, :, :3], dilation=LARGE),
    "conv1d, same": lambda f, x: f.conv1d(x[0], x[0], padding="same", dilation=LARGE),
    "conv1d, groups": lambda f, x: f.conv1d(x[0], x[0], groups=2**40),
    "conv_transpose1d": lambda f, x: f.conv_transpose1d(x[0], x[0, :, :, :3], stride=LARGE),
    "conv_transpose1d, padding": lambda f, x: f.conv_transpose1d(x[0], x[0, :, :, :3], padding=LARGE),
    "max_pool1d, kernel": lambda f, x: f.max_pool1d(x[0], LARGE),
    "max_pool1d, dilation": lambda f, x: f.max_pool1d(x[0], 3, dilation=LARGE),
    "max_pool1d, padding": lambda f, x: f.max_pool1d(x[0], 3, padding=LARGE),
    "max_pool2d, padding": lambda f, x: f.max_pool2d(x, LARGE, stride=LARGE, padding=LARGE // 2),
    "max_pool2d, step by step": lambda f, x: f.max_pool2d(x, LARGE, stride=1, padding=LARGE // 2),
    "avg_pool2d": lambda f, x: f.avg_pool2d(x, LARGE, stride=LARGE, padding=LARGE // 2),
    "avg_pool1d, kernel": lambda f, x: f.avg_pool1d(x[0], LARGE, stride=LARGE),
    "conv3d, padding": lambda f, x: f.conv3d(x[None], x[None, :, :, :3], padding=LARGE),
    "conv_transpose3d": lambda f, x: f.conv_transpose3d(x[None], x[None], stride=LARGE),
    "max_pool3d, padding": lambda f, x: f.max_pool3d(x, LARGE, stride=1, padding=LARGE // 2),
    "avg_pool3d, kernel": lambda f, x: f.avg_pool3d(x, LARGE, stride=LARGE),
    "unfold, padding": lambda f, x: f.unfold(x, 2, padding=LARGE),
    "unfold, kernel": lambda f, x: f.unfold(x, LARGE, padding=LARGE),
}


@pytest.mark.parametrize("windowed", REFUSED_WINDOWS.values(), ids=REFUSED_WINDOWS.keys())
def test_windows_that_cannot_be_are_refused(windowed):
    with pytest.raises(REFUSED):
        windowed(nn.functional, ocl.ones(1, 2, 4, 5))


@pytest.mark.parametrize("number", [2**31, 2**40, 2**63, -(2**31) - 1])
@pytest.mark.parametrize(
    "call",
    [
        lambda f, x, n: f.conv2d(x, x, stride=n),
        lambda f, x, n: f.conv1d(x[0], x[0], padding=n),
        lambda f, x, n: f.max_pool2d(x, (1, n)),
        lambda f, x, n: f.avg_pool1d(x[0], n),
        lambda f, x, n: f.unfold(x, 2, dilation=n),
        lambda f, x, n: nn.Conv2d(1, 1, 2, stride=n),
        lambda f, x, n: nn.MaxPool1d(n),
        lambda f, x, n: ocl.zeros(1, device=n),
    ],
    ids=["conv2d", "conv1d", "max_pool2d", "avg_pool1d", "unfold", "Conv2d", "MaxPool1d", "device"],
)
def test_numbers_of_more_than_32_bits_are_refused(call, number):
    with pytest.raises(ValueError, match="32 bits"):
        call(nn.functional, ocl.ones(1, 2, 4, 5), number)


@pytest.mark.parametrize(
    "call", [lambda n: ocl.ones(2) + n, lambda n: ocl.full((2,), n), lambda n: ocl.ones(2) == n]
)
def test_numbers_of_more_than_64_bits_are_refused(call):
    with pytest.raises(ValueError, match="64 bits"):
        call(2**64)


def test_max_pool_gives_places_of_a_window_that_reaches_beyond_the_input(rng):
    array = plane(rng, 1, 2, 4, 5)
    options = {"kernel_size": 3, "stride": LARGE, "ceil_mode": True, "return_indices": True}
    ours = nn.functional.max_pool2d(ocl.tensor(array), **options)
    theirs = torch.nn.functional.max_pool2d(torch.from_numpy(array), **options)
    assert_same(ours[0], theirs[0])
    assert_same(ours[1], theirs[1])
