import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, report, uniform


class PositionalEncoder(nn.Module):
    def __init__(self, d_input, n_freqs, log_space=False):
        super().__init__()
        self.embed_fns = [lambda x: x]
        self.d_output = d_input * (1 + 2 * n_freqs)
        freq_bands = (
            2.0 ** torch.linspace(0.0, n_freqs - 1, n_freqs)
            if log_space
            else torch.linspace(2.0**0.0, 2.0 ** (n_freqs - 1), n_freqs)
        )
        for freq in freq_bands:
            self.embed_fns.append(lambda x, freq=freq: torch.sin(x * freq))
            self.embed_fns.append(lambda x, freq=freq: torch.cos(x * freq))

    def forward(self, x):
        return torch.concat([fn(x) for fn in self.embed_fns], dim=-1)


def get_rays(height, width, focal_length, c2w):
    i, j = torch.meshgrid(
        torch.arange(width, dtype=torch.float32).to(c2w),
        torch.arange(height, dtype=torch.float32).to(c2w),
        indexing="ij",
    )
    i, j = i.transpose(-1, -2), j.transpose(-1, -2)
    directions = torch.stack(
        [(i - width * 0.5) / focal_length, -(j - height * 0.5) / focal_length, -torch.ones_like(i)], dim=-1
    )
    rays_d = torch.sum(directions[..., None, :] * c2w[:3, :3], dim=-1)
    rays_o = c2w[:3, -1].expand(rays_d.shape)
    return rays_o, rays_d


def cumprod_exclusive(tensor):
    cumprod = torch.cumprod(tensor, -1)
    cumprod = torch.roll(cumprod, 1, -1)
    cumprod[..., 0] = 1.0
    return cumprod


def raw2outputs(raw, z_vals, rays_d):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, 1e10 * torch.ones_like(dists[..., :1])], dim=-1)
    dists = dists * torch.norm(rays_d[..., None, :], dim=-1)
    alpha = 1.0 - torch.exp(-nn.functional.relu(raw[..., 3]) * dists)
    weights = alpha * cumprod_exclusive(1.0 - alpha + 1e-10)
    rgb = torch.sigmoid(raw[..., :3])
    rgb_map = torch.sum(weights[..., None] * rgb, dim=-2)
    depth_map = torch.sum(weights * z_vals, dim=-1)
    acc_map = torch.sum(weights, dim=-1)
    return rgb_map, depth_map, acc_map, weights


def sample_pdf(bins, weights, n_samples):
    pdf = (weights + 1e-5) / torch.sum(weights + 1e-5, -1, keepdim=True)
    cdf = torch.cumsum(pdf, dim=-1)
    cdf = torch.concat([torch.zeros_like(cdf[..., :1]), cdf], dim=-1)
    u = (
        torch.linspace(0.0, 1.0, n_samples, device=cdf.device)
        .expand(list(cdf.shape[:-1]) + [n_samples])
        .contiguous()
    )
    inds = torch.searchsorted(cdf, u, right=True)
    below, above = torch.clamp(inds - 1, min=0), torch.clamp(inds, max=cdf.shape[-1] - 1)
    inds_g = torch.stack([below, above], dim=-1)
    matched_shape = list(inds_g.shape[:-1]) + [cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(-2).expand(matched_shape), dim=-1, index=inds_g)
    bins_g = torch.gather(bins.unsqueeze(-2).expand(matched_shape), dim=-1, index=inds_g)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    t = (u - cdf_g[..., 0]) / denom
    return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])


enc = PositionalEncoder(3, 4, True)
net = fill(
    nn.Sequential(
        nn.Linear(enc.d_output, 32), nn.ReLU(), nn.Linear(32, 32), nn.Softplus(beta=2), nn.Linear(32, 4)
    ),
)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
pose = torch.eye(4)[:3]
pose[:, 3] = torch.tensor([0.0, 0.0, 4.0])
o, d = get_rays(5, 6, 7.0, pose)
target = uniform(30, 3)
for _ in range(4):
    ro, rd = o.reshape([-1, 3]), d.reshape([-1, 3])
    z = torch.linspace(2.0, 6.0, 8).expand(30, 8)
    mids = 0.5 * (z[:, 1:] + z[:, :-1])
    upper = torch.concat([mids, z[:, -1:]], -1)
    lower = torch.concat([z[:, :1], mids], -1)
    z = lower + (upper - lower) * uniform(30, 8)
    pts = ro[..., None, :] + rd[..., None, :] * z[..., :, None]
    raw = torch.cat([net(enc(c)) for c in pts.reshape(-1, 3).split(64)], 0).reshape(30, 8, 4)
    rgb, depth, acc, w = raw2outputs(raw, z, rd)
    zs = sample_pdf(0.5 * (z[:, 1:] + z[:, :-1]), w[..., 1:-1], 5).detach()
    z2, _ = torch.sort(torch.cat([z, zs], dim=-1), dim=-1)
    raw2 = net(enc(ro[..., None, :] + rd[..., None, :] * z2[..., :, None]))
    rgb2, *_ = raw2outputs(raw2, z2, rd)
    loss = F.mse_loss(rgb, target) + F.mse_loss(rgb2, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
