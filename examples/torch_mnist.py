"""PyTorch's own MNIST example on an OpenCL device: torch.ocl stands where it has torch.cuda.

python examples/torch_mnist.py                          # downloads MNIST on its first run
python examples/torch_mnist.py --data DIR --device ocl:1 --epochs 5
"""

import argparse
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader

from ocl.datasets import MNIST  # plain files; nothing of it runs on a device


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = self.dropout2(F.relu(self.fc1(torch.flatten(x, 1))))
        return F.log_softmax(self.fc2(x), dim=1)


def train_step(model, optimizer, data, target):
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    return loss


class GraphedStep:
    """Training steps that are captured once, then replayed: next to nothing is left for the host."""

    warm_up = 3  # steps, in which kernels are built and the optimizer gets its state

    def __init__(self, model, optimizer, device):
        self.model, self.optimizer, self.device = model, optimizer, device
        self.graph, self.steps = None, 0

    def __call__(self, data, target):
        self.steps += 1
        if self.steps <= self.warm_up or (self.graph and data.shape != self.data.shape):
            return train_step(self.model, self.optimizer, data.to(self.device), target.to(self.device))
        if self.graph is None:
            self.data, self.target = data.to(self.device), target.to(self.device)
            self.graph = torch.ocl.OCLGraph()
            with torch.ocl.graph(self.graph):
                self.loss = train_step(self.model, self.optimizer, self.data, self.target)
        else:
            self.data.copy_(data, non_blocking=True)
            self.target.copy_(target, non_blocking=True)
        self.graph.replay()
        return self.loss


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    # The learning rate is part of what is captured, and changes with the epoch.
    graphed_step = GraphedStep(model, optimizer, device) if args.graph else None
    for batch, (data, target) in enumerate(loader):
        if graphed_step:
            loss = graphed_step(data, target)
        else:
            data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
            loss = train_step(model, optimizer, data, target)
        if batch % args.log_interval == 0:
            done = f"{batch * len(data)}/{len(loader.dataset)}"
            print(f"Train Epoch: {epoch} [{done}]\tLoss: {loss.item():.6f}", flush=True)
            if args.dry_run:
                break


def test(model, device, loader):
    """The accuracy in percent."""
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1).eq(target).sum().item()
    count = len(loader.dataset)
    accuracy = 100 * correct / count
    print(f"Test set: Average loss: {loss / count:.4f}, Accuracy: {correct}/{count} ({accuracy:.2f} %)")
    return accuracy


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("--device", default="ocl:0", help="as `clinfo --list` counts them, or cpu; default %(default)s")
    option("--data", metavar="DIR", help="folder of MNIST's files; without it they are cached or downloaded")
    option("--batch-size", type=int, default=64, metavar="N", help="default %(default)s")
    option("--test-batch-size", type=int, default=1000, metavar="N", help="default %(default)s")
    option("--epochs", type=int, default=14, metavar="N", help="default %(default)s")
    option("--lr", type=float, default=1.0, help="learning rate of Adadelta, default %(default)s")
    option("--gamma", type=float, default=0.7, help="learning rate factor per epoch, default %(default)s")
    option("--seed", type=int, default=1, help="default %(default)s")
    option("--log-interval", type=int, default=10, metavar="N", help="default %(default)s")
    option("--dry-run", action="store_true", help="train a single step an epoch")
    option("--graph", action="store_true", help="capture a training step and replay it (ocl devices)")
    option("--save-model", metavar="FILE", help="write the trained weights")
    return parser.parse_args()


def main():
    args = parse_arguments()
    device = torch.device(args.device)
    if args.graph and device.type != "ocl":
        raise ValueError("--graph captures on ocl devices")
    torch.manual_seed(args.seed)
    if device.type == "ocl":
        torch.ocl.set_device(device)
        print(f"training on {torch.ocl.get_device_name(device)}")

    sets = [
        MNIST(args.data, train=part, **({"download": False} if args.data else {})) for part in (True, False)
    ]
    pinned = {"pin_memory": device.type != "cpu"}
    train_loader = DataLoader(sets[0], args.batch_size, shuffle=True, **pinned)
    test_loader = DataLoader(sets[1], args.test_batch_size, **pinned)

    model = Net().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr, capturable=args.graph)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    accuracy = 0.0
    start = time.perf_counter()
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        accuracy = test(model, device, test_loader)
        scheduler.step()
    print(f"{args.epochs} epochs in {time.perf_counter() - start:.1f} s")
    print(f"test accuracy {accuracy:.2f} %")
    if args.save_model:
        torch.save(model.state_dict(), args.save_model)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"torch_mnist.py: {error}")
