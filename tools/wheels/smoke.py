"""Trains a small net with the installed wheel on ocl:0: exit code 0 when it has learned."""

import sys

import ocl
import ocl.nn.functional as F
from ocl import nn


def main():
    ocl.set_default_device("ocl:0")
    print(f"tapecl {ocl.__version__} on {ocl.get_device_name('ocl:0')}, Python {sys.version.split()[0]}")
    ocl.manual_seed(1)
    x = ocl.randn(256, 1, 12, 12)
    y = (x.mean(dim=(1, 2, 3)) > 0).to(ocl.int64)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(200, 2)
    )
    optimizer = ocl.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")
    return loss.item() > 0.1


if __name__ == "__main__":
    sys.exit(main())
