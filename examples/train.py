"""Trains a net to tell the classes of pictures, on any OpenCL device.

python examples/train.py                                        # a small net on pictures made for it
python examples/train.py --net resnet18 --data DIR --epochs 90  # DIR/train/CLASS/*.jpg, DIR/val/CLASS/*.jpg
python examples/train.py --mnist DIR --net mobilenet_v3_small
python examples/train.py … --resume                             # goes on where it was stopped or killed
python -m ocl.distributed.run --nproc-per-node 2 examples/train.py …  # on two devices

Writes into --output: model.safetensors for examples/predict.py, log.csv, curves.png and the checkpoints.
"""

import argparse
from pathlib import Path

from training.checkpoint import load_checkpoint
from training.classifier import Classifier, save_classifier
from training.data import AUGMENTATIONS, load_pictures
from training.nets import make_net, net_names
from training.processes import Processes, own_device
from training.record import plot_curves, write_csv
from training.trainer import Trainer

import ocl
from ocl.examples.precision import add_amp_option
from ocl.examples.program import ends_in_one_line, not_negative, number, positive
from ocl.utils.data import DataLoader, Subset

# Options that may be different when a training goes on; everything else decides what comes out.
FREE = {"device", "output", "resume", "checkpoint_every", "log_interval", "workers", "list_nets"}


class Options(argparse.Namespace):
    def fixed(self):
        """Options that a checkpoint and the training that goes on from it must share."""
        return {name: value for name, value in vars(self).items() if name not in FREE}


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    share = number(float, 0, 1)

    option("--device", default=own_device(), help="default %(default)s")
    option("--net", default="small", metavar="NAME", help="default %(default)s")
    option("--list-nets", action="store_true", help="show the names and exit")
    option("--output", default="training-output", metavar="DIR", help="default %(default)s")
    option("--resume", action="store_true", help="go on from the checkpoint in --output")

    source = parser.add_mutually_exclusive_group()
    source.add_argument("--data", metavar="DIR", help="a folder of classes, or of train and val with classes")
    source.add_argument("--mnist", metavar="DIR", help="a folder with MNIST's files")
    source.add_argument("--fake-data", action="store_true", help="pictures made for the purpose: the default")
    option("--fake-size", type=positive, default=2400, metavar="N", help="how many to train on")
    option(
        "--test-share", type=share, default=0.1, help="kept back of a folder without val, default %(default)s"
    )
    option(
        "--side",
        type=positive,
        metavar="PIXELS",
        help="default 224 for a folder, 28 for MNIST, else 32, and more for nets that need it",
    )
    option("--channels", type=int, choices=[1, 3], help="of the net's input, default 1 for MNIST, else 3")
    option("--augment", choices=list(AUGMENTATIONS), default="none", help="default %(default)s")
    option("--least-scale", type=share, default=0.5, help="of a random crop's area, default %(default)s")
    option("--erase", type=share, default=0.0, metavar="P", help="probability of random erasing")
    option("--mixup", type=not_negative, default=0.0, metavar="ALPHA", help="0.2 is usual")
    option("--cutmix", type=not_negative, default=0.0, metavar="ALPHA", help="1 is usual")
    option("--workers", type=number(int, 0), metavar="N", help="processes, default 2 for a folder, else 1")

    option("--epochs", type=positive, default=5, metavar="N", help="default %(default)s")
    option("--batch-size", type=positive, default=32, metavar="N", help="default %(default)s")
    option("--accumulate", type=positive, default=1, metavar="N", help="batches for one update")
    option("--optimizer", choices=["adamw", "sgd"], default="adamw", help="default %(default)s")
    option("--lr", type=not_negative, default=3e-3, help="highest learning rate, default %(default)s")
    option(
        "--schedule",
        choices=["cosine", "constant"],
        default="cosine",
        help="of the learning rate; with constant, --resume may ask for more --epochs; default %(default)s",
    )
    option("--momentum", type=share, default=0.9, help="of sgd, default %(default)s")
    option("--weight-decay", type=not_negative, default=0.01, help="default %(default)s")
    option("--warm-up", type=not_negative, default=0.5, metavar="EPOCHS", help="default %(default)s")
    option("--label-smoothing", type=share, default=0.1, help="default %(default)s")
    option(
        "--ema",
        type=share,
        default=0.0,
        metavar="DECAY",
        help="test and keep averaged weights; 0.999 is usual",
    )
    option("--clip", type=not_negative, default=0.0, metavar="NORM", help="of all gradients; 0 for none")
    add_amp_option(parser)
    option("--seed", type=number(int, 0), default=1, help="default %(default)s")
    option(
        "--checkpoint-every",
        type=number(int, 0),
        default=0,
        metavar="UPDATES",
        help="besides each epoch's end",
    )
    option("--log-interval", type=positive, default=10, metavar="UPDATES", help="default %(default)s")
    option("--dry-run", action="store_true", help="one epoch of two updates")
    options = parser.parse_args(arguments, Options())
    if options.workers is None:
        options.workers = 2 if options.data else 1
    if options.dry_run:
        options.epochs = 1
    return options


def require_same_options(options, checkpoint):
    """A training goes on as it began, and beyond its end if the learning rate did not come to 0 there."""
    if not isinstance(checkpoint, dict) or not {"options", "progress", "net"} <= checkpoint.keys():
        raise ValueError(f"the checkpoint in {options.output} is none of examples/train.py")
    now, then = options.fixed(), checkpoint["options"]
    different = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if different == ["epochs"]:
        if options.schedule == "constant":
            return
        raise ValueError(
            f"--epochs was {then['epochs']}, where the cosine brings the learning rate to 0: another number "
            "would make it another training from its first update on; one of --schedule constant can go on"
        )
    if different:
        what = ", ".join(f"--{name.replace('_', '-')} was {then.get(name)}" for name in different)
        raise ValueError(f"the checkpoint in {options.output} is of another training: {what}")


def make_loaders(pictures, options, processes):
    train, test = pictures.train, pictures.test
    if options.dry_run:
        count = 2 * options.batch_size * options.accumulate
        train, test = (Subset(part, range(min(count, len(part)))) for part in (train, test))
    common = {
        "num_workers": options.workers,
        "persistent_workers": options.workers > 0,
        "device": options.device,
    }
    sampler = processes.sampler(train, options.seed)
    share = len(train if sampler is None else sampler)
    # Batch norm has nothing to learn from one picture: where that would be the last batch, it is left out.
    is_one_left = options.batch_size > 1 and share % options.batch_size == 1
    train_loader = DataLoader(
        train, options.batch_size, shuffle=sampler is None, sampler=sampler, drop_last=is_one_left, **common
    )
    if len(train_loader) == 0:
        raise ValueError(f"{len(train)} pictures are too few to train on")
    return train_loader, DataLoader(test, options.batch_size, **common)


def run(options):
    """Trains, tests, and leaves everything in --output."""
    ocl.set_default_device(options.device)
    processes = Processes()
    ocl.manual_seed(options.seed + processes.rank)  # the net's first weights are those of rank 0
    pictures = load_pictures(options)
    preparation = pictures.preparation
    net = make_net(options.net, len(pictures.classes), preparation.channels, preparation.side).to(
        options.device
    )
    trainer = Trainer(net, *make_loaders(pictures, options, processes), options, processes)
    output = Path(options.output)
    if options.resume:
        checkpoint = load_checkpoint(options.output, options.device)
        require_same_options(options, checkpoint)
        trainer.load_state_dict(checkpoint)
        if processes.is_first:
            print(f"resumed at epoch {trainer.progress.epoch}, update {trainer.progress.update}", flush=True)
            write_record(trainer.progress.rows, output)
    output.mkdir(parents=True, exist_ok=True)

    def after_epoch(rows, time_left):
        row = rows[-1]
        print(
            f"epoch {row['epoch']}/{options.epochs}: training loss {row['train_loss']:.4f}, "
            f"test loss {row['test_loss']:.4f}, top 1 {row['test_top1']:.2f} %, "
            f"top 5 {row['test_top5']:.2f} %, {row['images_per_second']:.0f} images/s, {time_left} left",
            flush=True,
        )
        write_record(rows, output)

    trainer.run(after_epoch)
    processes.end()
    if not processes.is_first:
        return
    classifier = Classifier(trainer.best_net, pictures.classes, preparation)
    save_classifier(options.net, classifier, output / "model.safetensors")
    print(f"wrote {output / 'model.safetensors'}")


def write_record(rows, output):
    if rows:
        write_csv(rows, output / "log.csv")
        plot_curves(rows, output / "curves.png")


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.list_nets:
        return print("\n".join(net_names()))
    with ends_in_one_line("train.py", "stopped; --resume goes on from the last checkpoint"):
        run(options)


if __name__ == "__main__":
    main()
