"""Denoising diffusion: a small U-Net with attention, an average of its weights, and sampling."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import floats, integers, report, seeded, uniform

T = 50
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=time.device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class ResnetBlock(nn.Module):
    def __init__(self, dim, dim_out, *, time_emb_dim, groups=4):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_emb_dim, dim_out * 2))
        self.norm1, self.norm2 = nn.GroupNorm(groups, dim_out), nn.GroupNorm(groups, dim_out)
        self.proj1 = nn.Conv2d(dim, dim_out, 3, padding=1)
        self.proj2 = nn.Conv2d(dim_out, dim_out, 3, padding=1)
        self.res_conv = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, t):
        scale, shift = self.mlp(t)[:, :, None, None].chunk(2, dim=1)
        h = F.silu(self.norm1(self.proj1(x)) * (scale + 1) + shift)
        return F.silu(self.norm2(self.proj2(h))) + self.res_conv(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=2, dim_head=8):
        super().__init__()
        self.scale, self.heads = dim_head**-0.5, heads
        self.norm = nn.GroupNorm(1, dim)
        self.to_qkv = nn.Conv2d(dim, dim_head * heads * 3, 1, bias=False)
        self.to_out = nn.Conv2d(dim_head * heads, dim, 1)

    def forward(self, x):
        b, _, h, w = x.shape
        q, k, v = (t.reshape(b, self.heads, -1, h * w) for t in self.to_qkv(self.norm(x)).chunk(3, dim=1))
        sim = torch.einsum("b h d i, b h d j -> b h i j", q * self.scale, k)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        out = torch.einsum("b h i j, b h d j -> b h i d", sim.softmax(dim=-1), v)
        return self.to_out(out.permute(0, 1, 3, 2).reshape(b, -1, h, w)) + x


class Unet(nn.Module):
    def __init__(self, dim=8, channels=1):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(dim), nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, 4 * dim)
        )
        self.init_conv = nn.Conv2d(channels, dim, 7, padding=3)
        self.down1 = ResnetBlock(dim, dim, time_emb_dim=4 * dim)
        self.downsample = nn.Conv2d(dim, 2 * dim, 4, 2, 1)
        self.mid1 = ResnetBlock(2 * dim, 2 * dim, time_emb_dim=4 * dim)
        self.mid_attn = Attention(2 * dim)
        self.upsample = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(2 * dim, dim, 3, padding=1)
        )
        self.up1 = ResnetBlock(2 * dim, dim, time_emb_dim=4 * dim)
        self.final_conv = nn.Conv2d(dim, channels, 1)

    def forward(self, x, time):
        t = self.time_mlp(time)
        x = self.init_conv(x)
        h = self.down1(x, t)
        x = self.mid_attn(self.mid1(self.downsample(h), t))
        return self.final_conv(self.up1(torch.cat((self.upsample(x), h), dim=1), t))


def cosine_beta_schedule(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * torch.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return torch.clip(betas, 0.0001, 0.9999)


betas = cosine_beta_schedule(T)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, axis=0)
alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
posterior_variance = betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod)


def extract(a, t, x_shape):
    out = a.gather(-1, t.cpu())
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1))).to(t.device)


def q_sample(x_start, t, noise):
    return (
        extract(torch.sqrt(alphas_cumprod), t, x_start.shape) * x_start
        + extract(torch.sqrt(1.0 - alphas_cumprod), t, x_start.shape) * noise
    )


@torch.no_grad()
def p_sample(model, x, t, t_index):
    predicted = model(x, t)
    mean = extract(torch.sqrt(1.0 / alphas), t, x.shape) * (
        x - extract(betas, t, x.shape) * predicted / extract(torch.sqrt(1.0 - alphas_cumprod), t, x.shape)
    )
    if t_index == 0:
        return mean
    return mean + torch.sqrt(extract(posterior_variance, t, x.shape)) * floats(*x.shape).to(x.device)


model = seeded(Unet()).to(device)
ema = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(5):
    optimizer.zero_grad()
    batch = (uniform(4, 1, 8, 8) * 2 - 1).to(device)
    t = integers(T, 4).to(device).long()
    noise = floats(4, 1, 8, 8).to(device)
    loss = F.smooth_l1_loss(noise, model(q_sample(x_start=batch, t=t, noise=noise), t))
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for averaged, now in zip(ema.parameters(), model.parameters(), strict=False):
            averaged.lerp_(now, 0.1)
    report(loss.item())
img = floats(2, 1, 8, 8).to(device)
for i in reversed(range(T - 4, T)):
    img = p_sample(ema, img, torch.full((2,), i, device=device, dtype=torch.long), i)
    report(img.abs().mean())
