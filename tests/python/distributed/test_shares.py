"""Global batches that ranks share unequally: the shares, and the gradients of one process with the batch."""

import itertools

import numpy as np
import pytest
import torch
from ranks import run_ranks
from support import expect_near

import ocl
from ocl import distributed as dist


def test_the_slowest_process_is_ready_as_soon_as_can_be():
    for speeds, batch in itertools.product(([1, 1], [3, 1], [5, 2, 2.5], [1, 100, 30]), (3, 8, 17)):
        shares = dist.split_batch(batch, speeds)
        assert sum(shares) == batch and min(shares) >= 1
        ways = itertools.product(range(1, batch), repeat=len(speeds))
        best = min(max(n / s for n, s in zip(w, speeds, strict=True)) for w in ways if sum(w) == batch)
        assert max(n / s for n, s in zip(shares, speeds, strict=True)) == best
    assert dist.split_batch(16, [3, 1]) == [12, 4]
    assert dist.split_batch(64, [1e-9, 1]) == [1, 63]


def test_refuses_what_cannot_be_split():
    with pytest.raises(ValueError, match="a batch of 1 for 2 processes"):
        dist.split_batch(1, [1, 1])
    for speeds in ([], [1, 0], [1, -2], [1, float("nan")], [1, float("inf")]):
        with pytest.raises(ValueError, match="positive speeds"):
            dist.split_batch(8, speeds)
    with pytest.raises(ValueError, match="there is no group"):
        dist.measure_shares(lambda samples: None, 8)


def test_measured_shares():
    """The last rank takes four times as long for a sample as the others."""
    shares = {
        tuple(map(int, text.split()))
        for text in run_ranks(
            """
asked = []
def step(samples):
    asked.append(samples)
    time.sleep(samples * (0.04 if rank == 2 else 0.01))
shares = dist.measure_shares(step, 27)
assert asked[:4] == [9] * 4 and asked[4:] == [asked[4]] * 4 and len(asked) == 8
try:
    dist.measure_shares(step, 27, rounds=0)
    raise SystemExit("accepted")
except ValueError as error:
    assert "positive rounds" in str(error)
print(*shares)
""",
            3,
        )
    }
    assert len(shares) == 1  # the same on all ranks
    first, second, slow = shares.pop()
    assert first + second + slow == 27 and abs(first - 12) <= 1 and abs(slow - 3) <= 1


NET = """
from pathlib import Path
from ocl import nn
import ocl.nn.functional as F
from ocl.nn.parallel import DistributedDataParallel
from ocl.utils.data import DataLoader, DistributedSampler, TensorDataset
folder, devices = Path(sys.argv[1]), sys.argv[2].split(",")
ocl.set_default_device(devices[rank % len(devices)])
given = {name: array for name, array in np.load(folder / "given.npz").items()}
net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
net.load_state_dict({name: ocl.tensor(given[name]) for name in net.state_dict()})
net = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net))
data = TensorDataset(given["x"], given["y"])
sampler = DistributedSampler(data, shuffle=False, shares=[3, 1])
for x, y in DataLoader(data, sampler.shares[rank], sampler=sampler):
    assert len(x) == (3, 1)[rank]
    (F.cross_entropy(net(x), y) * sampler.weight).backward()
found = {name: p.grad.numpy() for name, p in net.module.named_parameters()}
found |= {name: b.numpy() for name, b in net.module.named_buffers()}
np.savez(folder / f"{rank}.npz", **found)
"""


def check_like_one_process(folder, devices):
    """Ranks with batches of 3 and 1 add up the gradients of two steps of one process with batches of 4."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 3),
    )
    rng = np.random.default_rng(0)
    given = {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()}
    given |= {"x": rng.standard_normal((8, 2, 6, 6)).astype(np.float32), "y": rng.integers(0, 3, 8)}
    np.savez(folder / "given.npz", **given)
    run_ranks(NET, 2, folder, ",".join(devices))
    results = []
    for dtype in (torch.float64, torch.float32):
        net.load_state_dict({name: torch.from_numpy(given[name]) for name in net.state_dict()})
        net.to(dtype).zero_grad()
        for x, y in zip(np.split(given["x"], 2), np.split(given["y"], 2), strict=True):
            x, y = torch.from_numpy(x).to(dtype), torch.from_numpy(y)
            torch.nn.functional.cross_entropy(net(x), y).backward()
        found = {name: p.grad.numpy().copy() for name, p in net.named_parameters()}
        results.append(found | {name: b.numpy().copy() for name, b in net.named_buffers()})
    truth, single = results
    for rank in range(2):
        ours = np.load(folder / f"{rank}.npz")
        assert set(ours.files) == set(truth)
        for name in ours.files:
            if name != "1.num_batches_tracked":
                expect_near(ours[name], truth[name], single[name], name)


def test_gradients_of_3_to_1_are_those_of_one_process_with_the_batch(tmp_path):
    check_like_one_process(tmp_path, [str(ocl.get_default_device())])


def test_ranks_on_drivers_of_different_makers(tmp_path):
    """Both have the numbers of one process, and the same bits of gradients."""
    by_platform = {}
    for number in range(ocl.device_count()):
        by_platform.setdefault(ocl.get_device_properties(number)["platform_name"], f"ocl:{number}")
    if len(by_platform) < 2:
        pytest.skip(f"needs OpenCL drivers of two makers; there are {list(by_platform)}")
    check_like_one_process(tmp_path, list(by_platform.values())[:2])
    first, second = (np.load(tmp_path / f"{rank}.npz") for rank in range(2))
    for name in first.files:
        if "running" not in name:
            np.testing.assert_array_equal(first[name], second[name])


def test_bits_where_sums_have_the_same_order():
    """A sum over the batch of all, divided by its length: powers of two change no bits."""
    run_ranks(
        """
from ocl import nn
from ocl.nn.parallel import DistributedDataParallel
ocl.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
x = ocl.tensor(np.random.default_rng(0).standard_normal((4, 5), dtype=np.float32))
parts = [x[:3], x[3:]]
parallel = DistributedDataParallel(net)
(parallel(parts[rank]).square().sum() * size / 4).backward()
reduced = [p.grad.numpy() for p in net.parameters()]
net.zero_grad()
for part in parts:
    (net(part).square().sum() / 4).backward()
for own, p in zip(reduced, net.parameters()):
    np.testing.assert_array_equal(own, p.grad.numpy())
""",
        2,
    )
