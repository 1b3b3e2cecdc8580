"""Modules and functions, written once for torch and ocl, that tests trace."""

import operator


def programs(torch):
    """By their names: what is traced, and the shapes of its inputs."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3)
            self.bnNorm = nn.BatchNorm2d(4)
            pooled = nn.Sequential(nn.MaxPool2d(2), nn.Tanh())
            self.layers = nn.Sequential(nn.Conv2d(4, 4, 3), nn.ReLU(), pooled)
            self.heads = nn.ModuleList([nn.Linear(16, 5), nn.Linear(16, 2)])

        def forward(self, x):
            y = torch.relu(self.bnNorm(self.conv1(x)))
            y = self.layers(y) + 1
            y = y.flatten(1)
            return {"a": self.heads[0](y), "b": [self.heads[1](y).sum(dim=-1), y.shape[0]]}

    class Tensors(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.arange(12.0).reshape(3, 4) / 12)
            self.register_buffer("scale", torch.ones(4) * 2)
            self.plain = torch.ones(4) * 3
            self.inner = nn.Linear(4, 4)

        def forward(self, x, y=2, *, z=None):
            a = x @ self.weight.t() + self.inner.weight.sum()
            b = (a @ self.weight) * self.scale - self.plain
            return torch.cat([b, -b], dim=1) / y, torch.add(torch.ones(1), x[0, 0])

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return x + torch.tanh(self.linear(x))

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return self.block(self.block(x))

    class Stack(nn.Sequential):
        pass

    def operators(x, y):
        a = (x + y) * 2 - y / 3
        b = (a**2) % 5 // 1
        mask = (b > 0) & (x <= y) | ~(x == y)
        return torch.where(mask, 1 - b, abs(b))[0], x[:, 1:3], x[..., None], 2**x

    def methods(x):
        a = x.view(-1).mean()
        b = x.transpose(0, 1).reshape(x.size(0), -1)
        c, d = b.chunk(2, dim=1)
        return c.clamp(min=0), d.to(torch.float64), x.T, a, x.shape[0] + x.ndim

    def functions(x, max, out1):
        a = torch.max(x, dim=1)
        b = torch.sum(x), sum([x, max])
        return a, b, torch.stack((x, max, out1), 0), operator.add(x, 1)

    def typed(x: torch.Tensor, k: int = 3) -> torch.Tensor:
        return torch.softmax(x, dim=-1) * k

    def starred(x, *args, **kwargs):
        return x + args[0] * kwargs["scale"]

    def unused(x, y):
        x.exp()
        return y * 1

    return {
        "net": (Net(), [(2, 3, 8, 8)]),
        "tensors": (Tensors(), [(3, 4)]),
        "shared": (Shared(), [(2, 4)]),
        "stack": (Stack(nn.Linear(4, 3), nn.GELU()), [(2, 4)]),
        "operators": (operators, [(3, 4), (3, 4)]),
        "methods": (methods, [(4, 6)]),
        "functions": (functions, [(3, 4), (3, 4), (3, 4)]),
        "typed": (typed, [(3, 4)]),
        "starred": (starred, None),
        "unused": (unused, [(3, 4), (3, 4)]),
    }
