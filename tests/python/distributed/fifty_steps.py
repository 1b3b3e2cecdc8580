"""A training of 50 steps, by ranks and by one process that accumulates as many batches."""

NET = """
import json
from ocl import nn
import ocl.nn.functional as F
from ocl.nn.parallel import DistributedDataParallel

class Net(nn.Module):
    def __init__(self, batch_norm=False):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4) if batch_norm else nn.Identity()
        self.hidden = nn.Linear(4 * 6 * 6, 33)
        self.out = nn.Linear(33, 5)
    def forward(self, x):
        return self.out(F.relu(self.hidden(F.relu(self.norm(self.conv(x))).flatten(1))))

def batch(step, part):
    drawn = np.random.default_rng((step, part))
    x = drawn.standard_normal((3, 1, 8, 8), dtype=np.float32)
    return ocl.tensor(x), ocl.tensor(drawn.integers(0, 5, 3))
"""

STEPS = 50

PARALLEL = (
    f"STEPS = {STEPS}"
    + NET
    + """
ocl.manual_seed(rank)  # what rank 0 draws counts
net = DistributedDataParallel(Net(), bucket_cap_mb=0.01)
optimizer = ocl.optim.Adam(net.parameters(), lr=0.01)
losses = []
for step in range(STEPS):
    x, y = batch(step, rank)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
buckets = net._reducer.buckets()
weights = [p.detach().numpy().tobytes().hex() for p in net.module.parameters()]
print(json.dumps([losses, weights, buckets]))
"""
)

ALONE = (
    f"STEPS = {STEPS}"
    + NET
    + """
ocl.manual_seed(0)
net = Net()
optimizer = ocl.optim.Adam(net.parameters(), lr=0.01)
losses = [[] for _ in range(4)]
for step in range(STEPS):
    for part in range(4):
        x, y = batch(step, part)
        loss = F.cross_entropy(net(x), y)
        (loss / 4).backward()
        losses[part].append(loss.item())
    optimizer.step()
    optimizer.zero_grad()
print(json.dumps([losses, [p.detach().numpy().tobytes().hex() for p in net.parameters()]]))
"""
)
