"""A mixture of Gaussians, fitted by torch.distributions."""

import numpy as np
import torch
import torch.distributions as D
from common import RNG, report
from torch.distributions import Categorical, Independent, MixtureSameFamily, MultivariateNormal, Normal

centres = np.array([[-2.0, 0.0], [1.0, 2.0], [2.0, -1.5]])
points = centres[RNG.integers(3, size=90)] + RNG.normal(0, 0.5, (90, 2))
data = torch.tensor(points, dtype=torch.float32)

mix = torch.zeros(3, requires_grad=True)
loc = torch.tensor(RNG.normal(0, 1, (3, 2)), dtype=torch.float, requires_grad=True)
log_scale = torch.zeros(3, 2, requires_grad=True)
optimizer = torch.optim.Adam([mix, loc, log_scale], lr=0.1)
for _ in range(10):
    gmm = MixtureSameFamily(Categorical(logits=mix), Independent(Normal(loc, log_scale.exp()), 1))
    optimizer.zero_grad()
    loss = -gmm.log_prob(data).mean()
    loss.backward()
    optimizer.step()
    report(loss)
report(gmm.mean.norm())
report(gmm.variance.sum())
samples = gmm.sample((7,))
assert samples.shape == (7, 2) and gmm.batch_shape == torch.Size([]) and gmm.event_shape == torch.Size([2])

# Full covariances by their Cholesky factors, with a prior and a posterior of the weights.
raw = torch.eye(2).repeat(3, 1, 1).requires_grad_()
optimizer = torch.optim.SGD([{"params": [mix]}, {"params": [loc, raw], "lr": 0.05}], lr=0.1, momentum=0.9)
prior = D.Dirichlet(torch.full((3,), 2.0))
for _ in range(5):
    scale_tril = D.transform_to(D.constraints.lower_cholesky)(raw)
    components = MultivariateNormal(loc, scale_tril=scale_tril)
    gmm = MixtureSameFamily(Categorical(logits=mix), components)
    loss = -gmm.log_prob(data).mean() - prior.log_prob(mix.softmax(0)) / len(data)
    loss = loss + 0.01 * D.kl_divergence(components, MultivariateNormal(torch.zeros(2), torch.eye(2))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss.item())

# Expectation and maximization, in closed form.
with torch.no_grad():
    weights, means, scales = mix.softmax(-1), loc.clone(), torch.ones(3, 2)
    for _ in range(3):
        joint = Normal(means, scales).log_prob(data[:, None]).sum(-1) + weights.log()
        responsibility = (joint - joint.logsumexp(1, keepdim=True)).exp()
        count = responsibility.sum(0)
        weights = count / count.sum()
        means = torch.einsum("nk,nd->kd", responsibility, data) / count[:, None]
        scales = torch.sqrt(
            torch.einsum("nk,nkd->kd", responsibility, (data[:, None] - means) ** 2) / count[:, None]
        )
        report(joint.logsumexp(1).mean())
