"""Trains a small convolutional net on MNIST, on any OpenCL device.

python examples/mnist.py                          # downloads MNIST on its first run; or, from a wheel:
python -m ocl.examples.mnist
python examples/mnist.py --data DIR --device ocl:1 --epochs 5 --plot curves.png
"""

# ruff: noqa: E402

import time

START = time.perf_counter()  # before the imports: they are part of the wait for the first step

import argparse
import contextlib
import sys

import ocl
import ocl.nn.functional as F
from ocl import nn
from ocl.datasets import MNIST, Digits, DownloadError
from ocl.utils.data import DataLoader


def make_net():
    """A net from pictures [N, 1, 28, 28] to scores [N, 10]."""
    features = [nn.Conv2d(1, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    features += [nn.Conv2d(32, 64, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()]
    return nn.Sequential(*features, nn.Linear(64 * 5 * 5, 128), nn.ReLU(), nn.Linear(128, 10))


def train(net, loader, optimizer, scaler, autocast, epoch, args):
    """One pass over the training set; returns the losses that it prints."""
    net.train()
    losses = []
    for step, (image, target) in enumerate(loader, start=1):
        optimizer.zero_grad()
        with autocast():
            loss = F.cross_entropy(net(image), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if epoch == step == 1:
            ocl.synchronize(args.device)
            print(f"first step done after {time.perf_counter() - START:.2f} s", flush=True)
        if step % args.log_interval == 0 or step == len(loader) or args.dry_run:
            losses.append(loss.item())  # waits for the device, so only here
            print(f"epoch {epoch}: step {step}/{len(loader)}, loss {losses[-1]:.4f}", flush=True)
        if args.dry_run:
            break
    return losses


def test(net, loader, autocast):
    """The accuracy over the test set, in per cent."""
    net.eval()
    with ocl.no_grad(), autocast():
        hits = [(net(image).argmax(dim=1) == target).sum() for image, target in loader]
    return 100 * sum(hit.item() for hit in hits) / len(loader.dataset)


def load_data(folder):
    if folder is not None:
        return MNIST(folder, train=True, download=False), MNIST(folder, train=False, download=False)
    try:
        return MNIST(train=True), MNIST(train=False)
    except DownloadError as error:
        print(f"{error}; training on scikit-learn's small digits instead", file=sys.stderr)
        return Digits(train=True), Digits(train=False)


def plot(losses, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(layout="constrained")
    axes.plot(losses)
    axes.set(xlabel="printed step", ylabel="training loss", yscale="log")
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
    option("--amp", choices=["bf16", "fp16"], help="mixed precision: products and convolutions in 16 bits")
    option("--seed", type=int, default=1, help="default %(default)s")
    option("--log-interval", type=positive, default=10, metavar="N", help="default %(default)s")
    option("--dry-run", action="store_true", help="train a single step")
    option("--save-model", metavar="FILE", help="write the trained weights")
    option("--plot", metavar="FILE.png", help="draw the loss curve")
    option("--profile", metavar="FILE.json", help="write a trace for chrome://tracing, print a summary")
    return parser.parse_args()


def run(args):
    ocl.set_default_device(args.device)
    ocl.manual_seed(args.seed)
    net = make_net()
    optimizer = ocl.optim.Adam(net.parameters(), lr=args.lr)
    scheduler = ocl.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=args.gamma)
    scaler = ocl.amp.GradScaler(enabled=args.amp == "fp16")  # bfloat16 has the range of float32
    dtype = {"bf16": ocl.bfloat16, "fp16": ocl.float16}.get(args.amp)

    def autocast():
        return ocl.autocast("ocl", dtype=dtype, enabled=dtype is not None)

    train_set, test_set = load_data(args.data)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, device=args.device)
    test_loader = DataLoader(test_set, args.test_batch_size, device=args.device)
    losses = []
    with ocl.profiler.profile() if args.profile else contextlib.nullcontext() as profile:
        for epoch in range(1, 2 if args.dry_run else args.epochs + 1):
            losses += train(net, train_loader, optimizer, scaler, autocast, epoch, args)
            accuracy = test(net, test_loader, autocast)
            print(f"epoch {epoch}: test accuracy {accuracy:.2f} %", flush=True)
            scheduler.step()

    if args.profile:
        profile.export_chrome_trace(args.profile)
        print(profile.table())
    if args.save_model:
        ocl.save(net.state_dict(), args.save_model)
    if args.plot:
        plot(losses, args.plot)
    cache = ocl.kernel_cache_info()
    print(f"kernels: {cache['built']} programs built in {cache['build_seconds']:.2f} s")
    print(f"test accuracy {accuracy:.2f} %")


if __name__ == "__main__":
    try:
        run(parse_arguments())
    except (OSError, ValueError, ImportError, ocl.DeviceError) as error:
        sys.exit(f"mnist.py: {error}")
