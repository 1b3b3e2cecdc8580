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


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for batch, (data, target) in enumerate(loader):
        data, target = data.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
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
    option("--save-model", metavar="FILE", help="write the trained weights")
    return parser.parse_args()


def main():
    args = parse_arguments()
    device = torch.device(args.device)
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
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)
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
