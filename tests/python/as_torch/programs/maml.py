import math
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, floats, report, uniform
from torch.func import functional_call, grad, vmap

net = fill(
    nn.Sequential(
        OrderedDict(
            [
                ("l1", nn.Linear(1, 10)),
                ("relu1", nn.ReLU()),
                ("l2", nn.Linear(10, 10)),
                ("tanh2", nn.Tanh()),
                ("l3", nn.Linear(10, 1)),
            ]
        )
    )
)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)


def adapted(x, w):
    x = F.relu(F.linear(x, w[0], w[1]))
    x = torch.tanh(F.linear(x, w[2], w[3]))
    return F.linear(x, w[4], w[5])


def task():
    amplitude, phase = uniform(2, 1)
    x = uniform(6, 1) * 10 - 5
    y = (amplitude * 5) * torch.sin(x - math.pi * phase)
    return x.split(3), y.split(3)


for _ in range(4):
    meta = 0
    for _ in range(2):
        (xs, xq), (ys, yq) = task()
        weights = [w.clone() for w in net.parameters()]
        for _ in range(2):
            g = torch.autograd.grad(F.mse_loss(adapted(xs, weights), ys), weights, create_graph=True)
            weights = [w - 0.01 * gg for w, gg in zip(weights, g, strict=True)]
        meta = meta + F.mse_loss(adapted(xq, weights), yq) / 2
    for w, g in zip(net.parameters(), torch.autograd.grad(meta, net.parameters()), strict=True):
        w.grad = g
    optimizer.step()
    report(meta)


def inner(p, x, y):
    return F.mse_loss(functional_call(net, p, (x,)), y)


def outer(p, xs, ys, xq, yq):
    g = grad(inner)(p, xs, ys)
    return inner({k: p[k] - 0.1 * g[k] for k in p}, xq, yq)


parameters = {k: v.detach() for k, v in net.named_parameters()}
tasks = [floats(3, 5, 1) for _ in range(4)]
for loss in vmap(outer, in_dims=(None, 0, 0, 0, 0))(parameters, *tasks):
    report(loss)
gradients = grad(lambda p: vmap(outer, in_dims=(None, 0, 0, 0, 0))(p, *tasks).mean())(parameters)
for g in gradients.values():
    report(g.abs().sum())
