"""DistributedDataParallel, by what one process computes that accumulates as many batches."""

import json

import pytest
from fifty_steps import ALONE, NET, PARALLEL
from ranks import run_ranks


def test_fifty_steps_are_those_of_one_process_that_accumulates():
    """Bit for bit: losses of every step and the weights at the end."""
    ranks = [json.loads(text) for text in run_ranks(PARALLEL, 4)]
    losses, weights = json.loads(run_ranks(ALONE, 1, ALONE=1)[0])
    assert len(ranks[0][2]) > 1  # several buckets
    assert sorted(sum(ranks[0][2], [])) == list(range(6))
    for rank, (own_losses, own_weights, _) in enumerate(ranks):
        assert own_losses == losses[rank]
        assert own_weights == weights
    assert losses[0][-1] != losses[0][0]


def test_no_sync_accumulates_and_reduces_the_sum():
    run_ranks(
        NET
        + """
ocl.manual_seed(0)
net = DistributedDataParallel(Net())
with net.no_sync():
    for step in range(2):
        x, y = batch(step, rank)
        F.cross_entropy(net(x), y).backward()
local = [p.grad.numpy().copy() for p in net.parameters()]
x, y = batch(2, rank)
F.cross_entropy(net(x), y).backward()
alone = Net()
alone.load_state_dict(net.module.state_dict())
sums = []
for part in range(size):
    for step in range(3):
        x, y = batch(step, part)
        F.cross_entropy(alone(x), y).backward()
    sums.append([p.grad.numpy() for p in alone.parameters()])
    alone.zero_grad()
for i, p in enumerate(net.parameters()):
    np.testing.assert_array_equal(p.grad.numpy(), (sums[0][i] + sums[1][i]) / 2)
    assert (local[i] != p.grad.numpy()).any()
""",
        2,
    )


@pytest.mark.parametrize("option", ["find_unused_parameters", "static_graph"])
def test_unused_parameters(option):
    run_ranks(
        f"option = {option!r}"
        + NET
        + """
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.never = (nn.Linear(3, 1) for _ in range(4))
    def forward(self, x, use):
        return sum(getattr(self, name)(x) for name in use)

static = option == "static_graph"
ocl.manual_seed(0)
net = DistributedDataParallel(Two(), **{option: True})
x = ocl.full((2, 3), 1.0 + rank)
for use in [["a"], ["a", "b"], ["c"]]:
    if static:
        use = ["a", "c"]
    elif rank == 1 and use == ["a"]:
        use = ["a", "b"]
    net.zero_grad()
    net(x, use).sum().backward()
    assert net.module.never.weight.grad is None
    mean = (2 + 4) / 2
    if static:
        assert (net.module.a.weight.grad.numpy() == mean).all() and net.module.b.weight.grad is None
    elif use[0] == "c":
        assert net.module.a.weight.grad is None and (net.module.c.weight.grad.numpy() == mean).all()
    else:
        assert (net.module.a.weight.grad.numpy() == mean).all()
        assert (net.module.b.weight.grad.numpy() > 0).all()  # rank 1 has used it each time
""",
        2,
    )


def test_a_pass_that_misses_parameters_is_an_error():
    run_ranks(
        """
from ocl import nn
from ocl.nn.parallel import DistributedDataParallel
net = DistributedDataParallel(nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)]))
net.module.forward = lambda x: net.module[0](x)
net(ocl.ones(1, 2)).sum().backward()
try:
    net(ocl.ones(1, 2))
    raise SystemExit("accepted")
except RuntimeError as error:
    assert "brought no gradient of 2 parameters" in str(error), error
try:
    DistributedDataParallel(nn.ReLU())
    raise SystemExit("accepted")
except ValueError as error:
    assert "no parameter requires a gradient" in str(error)
""",
        2,
    )


def test_buffers_follow_rank_0_and_state_starts_alike():
    run_ranks(
        NET
        + """
ocl.manual_seed(rank)
module = Net(batch_norm=True)
module.norm.running_mean += rank
net = DistributedDataParallel(module)
assert "module.norm.running_mean" in net.state_dict()
def everywhere(t):
    both = [ocl.zeros_like(t) for _ in range(size)]
    dist.all_gather(both, t)
    return [one.numpy() for one in both]
for p in [*module.parameters(), *module.buffers()]:
    first, second = everywhere(p.detach())
    np.testing.assert_array_equal(first, second)
for step in range(3):
    x, y = batch(step, rank)
    own = module.norm.running_mean.numpy()
    F.cross_entropy(net(x), y).backward()
    first, second = everywhere(module.norm.running_mean)
    np.testing.assert_array_equal(first, second)
    assert (first != own).any()
assert module.norm.num_batches_tracked.item() == 3
with ocl.no_grad():
    net.eval()
    if rank == 0:
        net(x)  # alone: evaluation takes nobody else
""",
        2,
    )


def test_channels_last_and_several_dtypes():
    run_ranks(
        NET
        + """
ocl.manual_seed(0)
module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2))
module[0].to(memory_format=ocl.channels_last)
module.half_scale = nn.Parameter(ocl.ones(2, dtype=ocl.float16))
net = DistributedDataParallel(module)
assert len(net._reducer.buckets()) == 2
drawn = np.random.default_rng(0).standard_normal((size, 2, 3, 8, 8), dtype=np.float32)
inputs = [ocl.tensor(one) for one in drawn]
def loss_of(m, x):
    return (m(x) * (module if m is net else m).half_scale.float()).square().sum()
loss_of(net, inputs[rank]).backward()
reduced = [p.grad.numpy() for p in module.parameters()]
grads = []
for x in inputs:
    module.zero_grad()
    loss_of(module, x).backward()
    grads.append([p.grad.numpy() for p in module.parameters()])
for own, first, second in zip(reduced, *grads):
    expected = (first.astype(np.float32) + second.astype(np.float32)) / 2
    np.testing.assert_array_equal(own, expected.astype(own.dtype))
""",
        2,
    )


def test_other_parameters_on_a_rank_are_an_error():
    run_ranks(
        """
from ocl import nn
try:
    nn.parallel.DistributedDataParallel(nn.Linear(3, 4 + rank))
    raise SystemExit("accepted")
except dist.DistBackendError as error:
    assert "rank 0 has 2" in str(error) and "rank 1 has 2" in str(error), error
    assert "of 16" in str(error) and "of 20" in str(error), error
""",
        2,
    )
