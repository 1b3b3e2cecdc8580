"""Training a net of torchvision's with PyTorch on an OpenCL device, as PyTorch's ImageNet example does.

python examples/torch_imagenet.py DIR --arch resnet18 --device ocl:0     # train/ and val/, a folder a class
python examples/torch_imagenet.py --dummy --arch mobilenet_v2 --epochs 1 # made pictures, to see it run
python examples/torch_imagenet.py DIR --resume checkpoint.pth --evaluate
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import torch
import torchvision
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("data", nargs="?", metavar="DIR", help="folder with train/ and val/, in each a folder a class")
    option("--device", default="ocl:0", help="as `clinfo --list` counts them, or cpu; default %(default)s")
    option("--arch", "-a", default="resnet18", metavar="NAME", help="net of torchvision, default %(default)s")
    option("--weights", metavar="FILE", help="state dict to begin with (torch.save)")
    option("--size", type=int, default=224, metavar="PIXELS", help="of the crop, default %(default)s")
    option("--workers", "-j", type=int, default=2, metavar="N", help="of the loader, default %(default)s")
    option("--epochs", type=int, default=90, metavar="N", help="default %(default)s")
    option("--batch-size", "-b", type=int, default=64, metavar="N", help="default %(default)s")
    option("--lr", type=float, default=0.1, help="a tenth every 30 epochs, default %(default)s")
    option("--momentum", type=float, default=0.9, help="default %(default)s")
    option("--weight-decay", "--wd", type=float, default=1e-4, help="default %(default)s")
    option("--amp", action="store_true", help="mixed precision: float16 where torch.autocast says so")
    option("--channels-last", action="store_true", help="pictures and filters with channels last")
    option("--resume", metavar="FILE", help="go on from this checkpoint")
    option("--evaluate", action="store_true", help="only test")
    option("--checkpoint", default="checkpoint.pth", metavar="FILE", help="written after every epoch")
    option("--print-freq", type=int, default=10, metavar="N", help="batches, default %(default)s")
    option("--seed", type=int, help="for runs that repeat")
    option("--dummy", action="store_true", help="made pictures of 10 classes instead of a folder's")
    option("--max-pictures", type=int, metavar="N", help="at most so many of each set")
    args = parser.parse_args()
    if not args.data and not args.dummy:
        parser.error("either a folder with train/ and val/ or --dummy is needed")
    return args


def pictures(args):
    """The sets for training and testing, and the number of classes."""
    if args.dummy:
        shape, count = (3, args.size, args.size), args.max_pictures or 256
        to_tensor = transforms.ToTensor()
        sets = [
            datasets.FakeData(n, shape, 10, to_tensor, random_offset=n) for n in (count, max(count // 4, 1))
        ]
        return *sets, 10
    normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    cut = {
        "train": [transforms.RandomResizedCrop(args.size), transforms.RandomHorizontalFlip()],
        "val": [transforms.Resize(args.size * 8 // 7), transforms.CenterCrop(args.size)],
    }
    sets = [
        datasets.ImageFolder(
            os.path.join(args.data, part), transforms.Compose([*steps, transforms.ToTensor(), normalize])
        )
        for part, steps in cut.items()
    ]
    classes = len(sets[0].classes)
    if sets[1].classes != sets[0].classes:
        raise ValueError(f"train/ and val/ in {args.data} have other classes")
    if args.max_pictures:
        # Evenly spread, since the files are in the order of their classes.
        sets = [Subset(s, range(0, len(s), max(len(s) // args.max_pictures, 1))) for s in sets]
    return *sets, classes


class Mean:
    """The mean of values that are added on the device, so that the host need not wait for each."""

    def __init__(self, name):
        self.name, self.sum, self.count = name, 0.0, 0

    def add(self, value, count):
        self.sum, self.count = self.sum + value.detach() * count, self.count + count

    def value(self):
        return float(self.sum) / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {self.value():.4g}"


def hits(output, target, most):
    """Percentage of targets among the `most` likeliest classes."""
    likeliest = output.topk(min(most, output.shape[1]), dim=1).indices
    return likeliest.eq(target[:, None]).any(dim=1).float().mean() * 100


class Run:
    def __init__(self, args, classes):
        self.args = args
        self.device = torch.device(args.device)
        model = torchvision.models.get_model(args.arch, weights=None, num_classes=classes)
        if args.weights:
            model.load_state_dict(torch.load(args.weights, map_location="cpu", weights_only=True))
        self.format = torch.channels_last if args.channels_last else torch.contiguous_format
        self.model = model.to(self.device, memory_format=self.format)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.weight_decay
        )
        self.scheduler = StepLR(self.optimizer, step_size=30, gamma=0.1)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=args.amp)
        self.epoch, self.best = 0, 0.0

    def state(self):
        parts = ("model", "optimizer", "scheduler", "scaler")
        return {part: getattr(self, part).state_dict() for part in parts}

    def save(self, accuracy):
        is_best = accuracy >= self.best
        self.best = max(self.best, accuracy)
        path = Path(self.args.checkpoint)
        there = path.with_name(path.name + ".part")  # a kill leaves the last checkpoint whole
        torch.save({"arch": self.args.arch, "epoch": self.epoch, "best": self.best, **self.state()}, there)
        there.replace(path)
        if is_best:
            shutil.copyfile(path, path.with_name(f"best-{path.name}"))

    def resume(self, path):
        saved = torch.load(path, map_location=self.device, weights_only=True)
        if saved["arch"] != self.args.arch:
            raise ValueError(f"{path} is of --arch {saved['arch']}, not {self.args.arch}")
        self.epoch, self.best = saved["epoch"], saved["best"]
        for part in self.state():
            if saved[part]:  # a run without --amp has no scaler
                getattr(self, part).load_state_dict(saved[part])
        print(f"going on after epoch {self.epoch}, best accuracy {self.best:.2f} %")

    def loss_and_output(self, images, target):
        with torch.autocast(self.device.type, dtype=torch.float16, enabled=self.args.amp):
            output = self.model(images)
            if not torch.is_tensor(output):  # googlenet and inception_v3 in training, with other heads
                others = [self.criterion(other, target) for other in output[1:] if other is not None]
                return self.criterion(output[0], target) + 0.3 * sum(others), output[0]
            return self.criterion(output, target), output

    def over(self, loader, title, step=None):
        """Goes through the pictures; step(loss) after each batch. Returns the accuracy in percent."""
        means = [Mean("Loss"), Mean("Acc@1"), Mean("Acc@5")]
        start = time.perf_counter()
        for batch, (images, target) in enumerate(loader, start=1):
            images = images.to(self.device, non_blocking=True, memory_format=self.format)
            target = target.to(self.device, non_blocking=True)
            loss, output = self.loss_and_output(images, target)
            if step:
                step(loss)
            for mean, value in zip(
                means, (loss, hits(output, target, 1), hits(output, target, 5)), strict=True
            ):
                mean.add(value, len(target))
            if batch % self.args.print_freq == 0 or batch == len(loader):
                rate = means[0].count / (time.perf_counter() - start)
                numbers = "  ".join(map(str, means))
                print(f"{title} [{batch}/{len(loader)}]  {numbers}  {rate:.1f} pictures/s", flush=True)
        return means[1].value()

    def step(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def train(self, loader):
        self.model.train()
        self.over(loader, f"Epoch {self.epoch + 1}", self.step)
        self.scheduler.step()
        self.epoch += 1

    @torch.no_grad()
    def test(self, loader):
        self.model.eval()
        accuracy = self.over(loader, "Test")
        print(f"test accuracy {accuracy:.2f} %")
        return accuracy


def main():
    args = parse_arguments()
    if args.seed is not None:
        torch.manual_seed(args.seed)
    train_set, test_set, classes = pictures(args)
    run = Run(args, classes)
    if run.device.type == "ocl":
        print(f"training on {torch.ocl.get_device_name(run.device)}")
    if args.resume:
        run.resume(args.resume)
    options = {"num_workers": args.workers, "pin_memory": run.device.type != "cpu"}
    # A last batch of one picture is nothing for batch norm.
    train_loader = DataLoader(
        train_set, args.batch_size, shuffle=True, drop_last=len(train_set) > args.batch_size, **options
    )
    test_loader = DataLoader(test_set, args.batch_size, **options)
    if args.evaluate:
        run.test(test_loader)
        return
    while run.epoch < args.epochs:
        run.train(train_loader)
        run.save(run.test(test_loader))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"torch_imagenet.py: {error}")
