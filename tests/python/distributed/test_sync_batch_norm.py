"""SyncBatchNorm over ranks, by what PyTorch's batch norm in one process computes of the joined batch."""

import numpy as np
import pytest
import torch
from ranks import run_ranks
from support import expect_near, skip_without, to_numpy

import ocl
from ocl import nn

RANK = """
from pathlib import Path
from ocl import nn
folder, settings, dtype = Path(sys.argv[1]), eval(sys.argv[2]), getattr(ocl, sys.argv[3])
counts, channels_last = eval(sys.argv[4]), sys.argv[5] == "True"
given = np.load(folder / "given.npz")
first = sum(counts[:rank])
layer = nn.SyncBatchNorm(given["x"].shape[2], **settings)
with ocl.no_grad():
    for name, parameter in layer.named_parameters():
        parameter.copy_(ocl.tensor(given[name]))
found = {}
for step, (x, g) in enumerate(zip(given["x"], given["g"])):
    own = ocl.tensor(x[first : first + counts[rank]]).to(dtype)
    if channels_last:
        own = own.to(memory_format=ocl.channels_last)
    own.requires_grad_()
    layer.zero_grad()
    y = layer(own)
    assert y.dtype == dtype and y.shape == own.shape
    if channels_last and own.numel():
        assert y.is_contiguous(memory_format=ocl.channels_last)
    y.backward(ocl.tensor(g[first : first + counts[rank]]).to(dtype))
    assert own.grad.dtype == dtype
    found |= {f"y{step}": y.detach().float().numpy(), f"x{step}": own.grad.float().numpy()}
    found |= {f"{n}{step}": p.grad.numpy() for n, p in layer.named_parameters()}
found |= {name: b.numpy() for name, b in layer.named_buffers()}
if layer.track_running_stats:
    found["evaluated"] = layer.eval()(own).detach().float().numpy()
np.savez(folder / f"{rank}.npz", **found)
"""

STEPS = 2


def of_torch(given, settings, dtype, inputs_of):
    """The results of one process with the joined batch, in `dtype`, of inputs rounded to `inputs_of`."""
    shape = given["x"].shape[1:]
    settings = {key: value for key, value in settings.items() if key != "bias"}
    kind = {
        2: torch.nn.BatchNorm1d,
        3: torch.nn.BatchNorm1d,
        4: torch.nn.BatchNorm2d,
        5: torch.nn.BatchNorm3d,
    }
    layer = kind[len(shape)](shape[1], **settings).to(dtype)
    if layer.affine and "bias" not in given:
        layer.bias = None
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.copy_(torch.from_numpy(given[name]))
    found = {}
    for step, (x, g) in enumerate(zip(given["x"], given["g"], strict=True)):
        x, g = (torch.from_numpy(a).to(inputs_of).to(dtype) for a in (x, g))
        x.requires_grad_()
        layer.zero_grad()
        y = layer(x)
        y.backward(g)
        found |= {f"y{step}": y.detach(), f"x{step}": x.grad}
        found |= {f"{n}{step}": p.grad for n, p in layer.named_parameters()}
    found |= dict(layer.named_buffers())
    if layer.track_running_stats:
        found["evaluated"] = layer.eval()(x).detach()
    return {name: tensor.numpy() for name, tensor in found.items()}


def check(tmp_path, counts, shape, settings=None, dtype="float32", channels_last=False):
    skip_without(dtype)
    settings, rng = settings or {}, np.random.default_rng(len(counts))
    whole = (STEPS, sum(counts), *shape)
    given = {"x": rng.normal(3, 2, whole), "g": rng.standard_normal(whole)}
    if settings.get("affine", True):
        given["weight"] = rng.standard_normal(shape[0])
        if settings.get("bias", True):
            given["bias"] = rng.standard_normal(shape[0])
    given = {name: array.astype(np.float32) for name, array in given.items()}
    np.savez(tmp_path / "given.npz", **given)
    run_ranks(RANK, len(counts), tmp_path, settings, dtype, counts, channels_last)
    ranks = [np.load(tmp_path / f"{rank}.npz") for rank in range(len(counts))]
    rounded = getattr(torch, dtype)
    truth, single = (of_torch(given, settings, kind, rounded) for kind in (torch.float64, torch.float32))
    assert set(ranks[0].files) == set(truth)
    for name, expected in truth.items():
        if name.startswith(("x", "y", "evaluated")):
            ours = np.concatenate([one[name] for one in ranks])
            if dtype != "float32":  # one rounding to 16 bits of a result that is as near as float32's
                unit = float(torch.finfo(rounded).eps)
                np.testing.assert_allclose(ours, expected, rtol=unit, atol=unit * np.abs(expected).max())
                continue
        elif name.startswith(("weight", "bias")):  # as PyTorch's: each rank has its own part of the sum
            ours = np.sum([one[name] for one in ranks], 0)
        else:
            ours = ranks[0][name]
            for other in ranks[1:]:
                np.testing.assert_array_equal(ours, other[name])
        if name == "num_batches_tracked":
            assert ours == expected == STEPS
        else:
            expect_near(ours, expected, single[name], name)


@pytest.mark.parametrize(
    "counts, shape",
    [
        ([3, 3], (4, 5, 3)),
        ([1, 4], (3,)),
        ([2, 5, 0, 1], (3, 4, 2)),
        ([0, 3], (2, 3, 2, 2)),
        ([1, 1, 1, 1], (5,)),
    ],
)
def test_statistics_and_gradients_are_those_of_the_joined_batch(tmp_path, counts, shape):
    check(tmp_path, counts, shape)


@pytest.mark.parametrize(
    "settings",
    [
        {"momentum": None},
        {"affine": False, "momentum": 0.3},
        {"bias": False, "eps": 0.1},
        {"track_running_stats": False},
    ],
    ids=str,
)
def test_settings(tmp_path, settings):
    check(tmp_path, [2, 3], (3, 4), settings)


def test_channels_last(tmp_path):
    check(tmp_path, [2, 0, 1, 3], (6, 5, 4), channels_last=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_inputs_with_float32_parameters(tmp_path, dtype):
    check(tmp_path, [3, 1], (4, 5, 3), dtype=dtype)


def test_a_net_gets_the_gradients_and_the_steps_of_one_process():
    """Within DistributedDataParallel, under autocast too; a net of 16 bits throughout keeps its dtype."""
    run_ranks(
        """
from ocl import nn
from ocl.nn.parallel import DistributedDataParallel
def make(double=False):
    ocl.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 3, 3),
                         nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 2))
drawn = np.random.default_rng(0).standard_normal((5, size * 3, 2, 6, 6), dtype=np.float32)
for autocast in (False, True):
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(make())
    alone, net = make(), DistributedDataParallel(synced, bucket_cap_mb=1e-4)  # buckets go between the sums
    optimizers = [ocl.optim.SGD(m.parameters(), lr=0.1) for m in (alone, net)]
    for x in drawn:
        parts = [ocl.tensor(x), ocl.tensor(x[rank * 3 : rank * 3 + 3])]
        for model, optimizer, part in zip((alone, net), optimizers, parts):
            optimizer.zero_grad()
            with ocl.autocast("ocl", dtype=ocl.bfloat16, enabled=autocast):
                loss = model(part).float().square().mean()
            loss.backward()
            optimizer.step()
    assert len(net._reducer.buckets()) > 2
    bound = 0.05 if autocast else 2e-5
    for (name, a), b in zip(alone.state_dict().items(), net.module.state_dict().values()):
        far = np.abs(a.numpy() - b.numpy()).max() if a.is_floating_point() else (a - b).abs().item()
        assert far <= bound * max(1, a.abs().max().item()), (name, far)

half = nn.SyncBatchNorm(3, dtype=ocl.float16)
x = ocl.randn(4, 3).half().requires_grad_()
half(x).float().square().sum().backward()
assert {t.dtype for t in (x.grad, half.weight.grad, half.running_mean)} == {ocl.float16}
assert half.running_mean.abs().sum().item() > 0
""",
        2,
    )


def test_gradients_of_gradients():
    """They are near the central differences of NumPy's formula in float64."""
    run_ranks(
        """
from ocl import nn
drawn = np.random.default_rng(0)
whole, upstream = drawn.standard_normal((2, 5, 3))
own = slice(0, 2) if rank == 0 else slice(2, 5)
layer = nn.SyncBatchNorm(3)
x = ocl.tensor(whole[own].astype("float32"), requires_grad=True)
g = ocl.tensor(upstream[own].astype("float32"))
(gradient,) = ocl.autograd.grad(layer(x), x, g, create_graph=True)
plain_gradient = gradient.detach().numpy()
gradient.square().sum().backward()

def gradient_of(x):
    centred = x - x.mean(0)
    invstd = 1 / np.sqrt((centred ** 2).mean(0) + 1e-5)
    normal = centred * invstd
    return invstd * (upstream - upstream.mean(0) - normal * (upstream * normal).mean(0))

np.testing.assert_allclose(plain_gradient, gradient_of(whole)[own], rtol=1e-4, atol=1e-5)
expected = np.zeros_like(whole)
for at in np.ndindex(whole.shape):
    moved = np.zeros_like(whole)
    moved[at] = 1e-5
    up, down = (np.square(gradient_of(whole + s * moved)).sum() for s in (1, -1))
    expected[at] = (up - down) / 2e-5
np.testing.assert_allclose(x.grad.numpy(), expected[own], rtol=1e-3, atol=1e-3 * np.abs(expected).max())
""",
        2,
    )


def test_groups_and_where_nothing_is_joined():
    run_ranks(
        """
from ocl import nn
first, second = dist.new_group([0, 1]), dist.new_group([2])
x = ocl.tensor(np.random.default_rng(rank).standard_normal((4, 3), dtype=np.float32))
alone = nn.BatchNorm1d(3)
alone(x)
for group in (first if rank < 2 else second, second if rank < 2 else first):
    layer = nn.SyncBatchNorm(3, process_group=group)
    y = layer(x)
    joined = rank < 2 and group is first
    assert (layer.running_mean.tolist() == alone.running_mean.tolist()) != joined
layer = nn.SyncBatchNorm(3)
layer.eval()
if rank == 0:
    layer(x)  # evaluation takes nobody else
layer.train()
before = layer.running_var.clone()
assert layer(x[:0]).shape == (0, 3)  # nobody has an element
assert layer.running_var.tolist() == before.tolist()
y = layer(x[:1] if rank == 1 else x[:0])  # one element of all: PyTorch accepts it as well
assert np.isfinite(layer.running_var.numpy()).all() and y.abs().sum().item() == 0
for shape, words in (((3,), "at least 2D"), ((2, 0), "non-zero"), ((2, 4), "3 channels")):
    try:
        layer(ocl.ones(shape))
        raise SystemExit("accepted")
    except ValueError as error:
        assert words in str(error), error
""",
        3,
    )


def test_convert_keeps_tensors_dtypes_and_names():
    shared = nn.BatchNorm1d(2)
    net = nn.Sequential(
        nn.BatchNorm2d(3, eps=0.5, momentum=None).half(),
        nn.Sequential(nn.BatchNorm3d(4, affine=False), nn.InstanceNorm2d(3)),
        nn.BatchNorm1d(5, track_running_stats=False),
        shared,
        shared,
    )
    net[0].eval()
    before, names = dict(net.state_dict(keep_vars=True)), list(net.state_dict())
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net, "a group")
    assert converted is net
    kinds = [type(m).__name__ for m in net.modules()]
    assert kinds == ["Sequential", "SyncBatchNorm", "Sequential", "SyncBatchNorm", "InstanceNorm2d"] + (
        ["SyncBatchNorm"] * 2
    )
    assert net[3] is net[4] and net[0].process_group == "a group"
    after = dict(net.state_dict(keep_vars=True))
    assert list(after) == names and all(after[name] is before[name] for name in names)
    assert (net[0].eps, net[0].momentum, net[0].training, net[1][0].training) == (0.5, None, False, True)
    assert net[1][0].weight is None and net[2].running_mean is None
    single = nn.BatchNorm1d(2)
    assert type(nn.SyncBatchNorm.convert_sync_batchnorm(single)) is nn.SyncBatchNorm


def test_a_converted_resnet_computes_the_same():
    net = ocl.models.resnet18().eval()
    x = ocl.randn(1, 3, 32, 32)
    expected = net(x)
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert sum(isinstance(m, nn.SyncBatchNorm) for m in converted.modules()) == 20
    np.testing.assert_allclose(to_numpy(converted(x)), to_numpy(expected), rtol=1e-4, atol=1e-4)
