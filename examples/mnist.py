"""Trains a small convolutional net on MNIST, on any OpenCL device.

python examples/mnist.py                          # downloads MNIST on its first run
python examples/mnist.py --data DIR --device ocl:1 --epochs 5 --plot curves.png
"""

# ruff: noqa: E402

import time

START = time.perf_counter()  # before the imports: they are part of the wait for the first step

import argparse
import contextlib
import sys
from dataclasses import dataclass, field

from tqdm import tqdm

import ocl
import ocl.nn.functional as F
from ocl import nn
from ocl.datasets import MNIST, Digits, DownloadError
from ocl.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, bias=False)  # the shift is the batch norm's
        self.norm = nn.Sequential(nn.BatchNorm2d(32), nn.ReLU())  # which run as one
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(64 * 5 * 5, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):  # (N, 1, 28, 28)
        x = F.max_pool2d(self.norm(self.conv1(x)), 2)  # (N, 32, 13, 13)
        x = F.relu(F.max_pool2d(self.conv2(x), 2))  # (N, 64, 5, 5)
        x = F.relu(self.fc1(ocl.flatten(x, 1)))
        return self.fc2(x)


# What --amp may ask for.
DTYPES = {"bf16": ocl.bfloat16, "fp16": ocl.float16}


def autocast(args):
    return ocl.autocast("ocl", dtype=DTYPES.get(args.amp), enabled=args.amp is not None)


@dataclass
class History:
    steps: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    accuracies: list = field(default_factory=list)
    first_step_seconds: float = 0.0


def train(net, loader, optimizer, scaler, epoch, args, history):
    net.train()
    bar = tqdm(
        total=len(loader.dataset),
        desc=f"epoch {epoch}",
        unit=" images",
        leave=False,
        disable=not sys.stderr.isatty(),
    )
    images, since = 0, time.perf_counter()
    for step, (image, target) in enumerate(loader, start=1):
        optimizer.zero_grad()
        with autocast(args):
            loss = F.cross_entropy(net(image), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if not history.first_step_seconds:
            ocl.synchronize(args.device)
            history.first_step_seconds = time.perf_counter() - START
        images += target.shape[0]
        bar.update(target.shape[0])
        if step % args.log_interval == 0 or step == len(loader) or args.dry_run:
            value = loss.item()  # waits for the device, so only here
            history.steps.append((epoch - 1) * len(loader) + step)
            history.losses.append(value)
            bar.set_postfix(loss=f"{value:.4f}")
            if bar.disable:
                speed = images / (time.perf_counter() - since)
                print(
                    f"epoch {epoch}: step {step}/{len(loader)}, loss {value:.4f}, {speed:.0f} images/s",
                    flush=True,
                )
            images, since = 0, time.perf_counter()
        if args.dry_run:
            break
    bar.close()


def test(net, loader, args):
    """The mean loss and the accuracy in percent over the test set."""
    net.eval()
    losses, hits = [], []
    with ocl.no_grad(), autocast(args):
        for image, target in loader:
            output = net(image)
            losses.append(F.cross_entropy(output, target, reduction="sum"))
            hits.append((output.argmax(dim=1) == target).sum())
    count = len(loader.dataset)
    return sum(loss.item() for loss in losses) / count, 100 * sum(hit.item() for hit in hits) / count


def load_data(folder):
    if folder is not None:
        return MNIST(folder, train=True, download=False), MNIST(folder, train=False, download=False)
    try:
        return MNIST(train=True), MNIST(train=False)
    except DownloadError as error:
        print(f"{error}\ntraining on scikit-learn's small digits instead", file=sys.stderr)
        return Digits(train=True), Digits(train=False)


def plot(history, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(history.steps, history.losses)
    left.set(xlabel="step", ylabel="training loss", yscale="log")
    epochs = range(1, len(history.accuracies) + 1)
    right.plot(epochs, history.accuracies, marker="o")
    right.set(xlabel="epoch", ylabel="test accuracy (%)", xticks=epochs)
    figure.savefig(path)


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("--device", default="ocl:0", help="as `clinfo --list` counts them, default %(default)s")
    option("--data", metavar="DIR", help="folder of MNIST's files; without it they are cached or downloaded")
    option("--batch-size", type=positive, default=64, metavar="N", help="default %(default)s")
    option("--test-batch-size", type=positive, default=1000, metavar="N", help="default %(default)s")
    option("--epochs", type=positive, default=3, metavar="N", help="default %(default)s")
    option("--lr", type=float, default=1e-3, help="learning rate of Adam, default %(default)s")
    option("--gamma", type=float, default=0.7, help="learning rate factor per epoch, default %(default)s")
    option("--amp", choices=list(DTYPES), help="mixed precision: products and convolutions in 16 bits")
    option("--seed", type=int, default=1, help="default %(default)s")
    option("--log-interval", type=positive, default=10, metavar="N", help="default %(default)s")
    option("--dry-run", action="store_true", help="train a single step")
    option("--save-model", metavar="FILE", help="write the trained weights")
    option("--plot", metavar="FILE.png", help="draw the loss and accuracy curves")
    option("--profile", metavar="FILE.json", help="write a trace for chrome://tracing, print a summary")
    return parser.parse_args()


def run(args):
    ocl.set_default_device(args.device)
    ocl.manual_seed(args.seed)
    net = Net().to(args.device)
    optimizer = ocl.optim.Adam(net.parameters(), lr=args.lr)
    scaler = ocl.amp.GradScaler(enabled=args.amp == "fp16")  # bfloat16 has the range of float32
    scheduler = ocl.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=args.gamma)

    train_set, test_set = load_data(args.data)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, device=args.device)
    test_loader = DataLoader(test_set, args.test_batch_size, device=args.device)

    history = History()
    with ocl.profiler.profile() if args.profile else contextlib.nullcontext() as profile:
        for epoch in range(1, 2 if args.dry_run else args.epochs + 1):
            train(net, train_loader, optimizer, scaler, epoch, args, history)
            loss, accuracy = test(net, test_loader, args)
            print(f"epoch {epoch}: test loss {loss:.4f}, accuracy {accuracy:.2f} %", flush=True)
            history.accuracies.append(accuracy)
            scheduler.step()

    if args.profile:
        profile.export_chrome_trace(args.profile)
        print(profile.table())
    if args.save_model:
        ocl.save(net.state_dict(), args.save_model)
    if args.plot:
        plot(history, args.plot)
    cache = ocl.kernel_cache_info()
    print(f"kernels: {cache['built']} programs built in {cache['build_seconds']:.2f} s")
    print(f"first step done after {history.first_step_seconds:.2f} s")
    print(f"test accuracy {accuracy:.2f} %")


if __name__ == "__main__":
    try:
        run(parse_arguments())
    except (OSError, ValueError, ImportError, ocl.DeviceError) as error:
        sys.exit(f"mnist.py: {error}")
