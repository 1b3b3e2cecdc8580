"""RealNVP: couplings with masks on two moons, and a normalizing flow as a TransformedDistribution."""

import numpy as np
import torch
from common import RNG, floats, report, seeded
from torch import distributions, nn
from torch.nn.parameter import Parameter


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super().__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, batchSize):
        z = self.prior.sample((batchSize, 1))
        return self.g(z)


def moons(count):
    angle = np.pi * RNG.random(count)
    upper = np.stack([np.cos(angle), np.sin(angle)], 1)
    lower = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], 1)
    return np.where(RNG.random((count, 1)) < 0.5, upper, lower) + RNG.normal(0, 0.05, (count, 2))


def nets():
    return nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2), nn.Tanh())


def nett():
    return nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2))


masks = torch.from_numpy(np.array([[0, 1], [1, 0]] * 2).astype(np.float32))
prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
flow = RealNVP(nets, nett, masks, prior)
for part in (flow.t, flow.s):
    seeded(part)
optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad == True], lr=1e-2)  # noqa: E712
for _ in range(6):
    loss = -flow.log_prob(torch.from_numpy(moons(60).astype(np.float32))).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    report(loss.item())
z = floats(5, 2)
back, _ = flow.f(flow.g(z))
assert torch.allclose(back, z, atol=1e-4) and flow.sample(3).shape == (3, 1, 2)
report(flow.g(z).norm())

# A flow whose transforms have parameters.
loc, scale = Parameter(torch.zeros(2)), Parameter(torch.ones(2))
base = distributions.Independent(distributions.Normal(torch.zeros(2), torch.ones(2)), 1)
optimizer = torch.optim.RMSprop([loc, scale], lr=5e-2)
for _ in range(4):
    steps = [distributions.AffineTransform(loc, scale, event_dim=1), distributions.SigmoidTransform()]
    transformed = distributions.TransformedDistribution(base, steps)
    data = torch.sigmoid(torch.tensor(moons(40)).float())
    loss = -transformed.log_prob(data).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
