"""Trains a U-Net (Ronneberger et al. 2015) to say which shape each pixel of a made picture belongs to.

python examples/unet.py
"""

import sys
import time

import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm
from training.data import MadePictures, draw_shape
from training.program import make_parser, run_program, save_grid

import ocl
import ocl.nn.functional as F
from ocl import nn
from ocl.examples.program import not_negative, parse_epochs, positive
from ocl.utils.data import DataLoader, Dataset

SHAPES = MadePictures.classes
CLASSES = ["ground", *SHAPES]


class Scenes(Dataset):
    """``dataset[i]``: a picture, float32 [3, side, side], and the class of each pixel, int64 [side, side]."""

    def __init__(self, size, side, first=0):
        self.size, self.side, self.first = size, side, first

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(index)
        rng = np.random.default_rng((self.first + index, 1))
        image = Image.new("RGB", (self.side, self.side), tuple(rng.integers(0, 256, 3).tolist()))
        mask = Image.new("L", image.size)
        for _ in range(rng.integers(1, 4)):
            shape = int(rng.integers(len(SHAPES)))
            radius = self.side * rng.uniform(0.12, 0.25)
            centre = rng.uniform(radius, self.side - radius, 2)
            colour = tuple(rng.integers(0, 256, 3).tolist())
            draw_shape(ImageDraw.Draw(image), SHAPES[shape], centre, radius, colour)
            draw_shape(ImageDraw.Draw(mask), SHAPES[shape], centre, radius, shape + 1)
        pixels = np.asarray(image, np.float32) / 255 + rng.normal(0, 0.05, (self.side, self.side, 3))
        return pixels.transpose(2, 0, 1).astype(np.float32), np.asarray(mask, np.int64)


def twice(inputs, outputs):
    """Two convolutions, each with its norm and ReLU."""
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Down to an eighth of the side and up again, each level joined with the one it came from."""

    def __init__(self, classes, width=12):
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3, *widths], widths, strict=False))
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.grow = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
        self.up = nn.ModuleList(twice(2 * b, b) for _, b in pairs)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):  # [N, 3, H, W], sides divisible by 8 -> logits [N, classes, H, W]
        levels = []
        for level, convolutions in enumerate(self.down):
            x = convolutions(F.max_pool2d(x, 2) if level else x)
            levels.append(x)
        for grow, convolutions, beside in zip(self.grow, self.up, levels[-2::-1], strict=True):
            x = convolutions(ocl.cat([beside, grow(x)], 1))
        return self.head(x)


def loss_of(logits, masks):
    """Cross entropy of every pixel."""
    return F.cross_entropy(logits.permute(0, 2, 3, 1).flatten(0, 2), masks.flatten())


def tested(net, loader):
    """(share of right pixels, mean over the classes of intersection over union)."""
    net.eval()
    counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    with ocl.no_grad():
        for images, masks in loader:
            found = net(images).argmax(1).numpy()
            np.add.at(counts, (masks.numpy().ravel(), found.ravel()), 1)
    net.train()
    right = np.diag(counts)
    union = counts.sum(0) + counts.sum(1) - right
    return right.sum() / counts.sum(), np.mean(right[union > 0] / union[union > 0])


def run(options):
    size, test_size = (2 * options.batch_size, 4) if options.dry_run else (options.size, 100)
    loader = DataLoader(Scenes(size, options.side), options.batch_size, shuffle=True, device=options.device)
    test_set = Scenes(test_size, options.side, first=options.size)
    test_loader = DataLoader(test_set, options.batch_size, device=options.device)
    net = UNet(len(CLASSES), options.width)
    optimizer = ocl.optim.AdamW(net.parameters(), lr=options.lr)
    schedule = ocl.optim.lr_scheduler.OneCycleLR(optimizer, options.lr, options.epochs * len(loader))
    for epoch in range(1, options.epochs + 1):
        start, total = time.perf_counter(), ocl.zeros(())
        bar = tqdm(loader, f"epoch {epoch}", leave=False, disable=not sys.stderr.isatty())
        for images, masks in bar:
            optimizer.zero_grad()
            loss = loss_of(net(images), masks)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach() * len(images)
        seconds = time.perf_counter() - start
        right, overlap = tested(net, test_loader)
        print(
            f"epoch {epoch}: loss {total.item() / size:.4f}; {100 * right:.1f} % of the test's pixels right, "
            f"intersection over union {overlap:.3f}; {size / seconds:.0f} images/s",
            flush=True,
        )
    net.eval()
    images, masks = next(iter(test_loader))
    with ocl.no_grad():
        found = net(images).argmax(1)
    shown = [images.numpy(), *(_coloured(m.numpy()) for m in (masks, found))]
    save_grid(np.concatenate([part[:8] for part in shown]), min(8, len(masks)), options.output)
    print(f"wrote {options.output}: pictures, what they show, what the net sees")


def _coloured(masks):
    """A colour for each class, [N, 3, H, W]."""
    colours = np.random.default_rng(4).random((len(CLASSES), 3), np.float32)
    colours[0] = 0
    return colours[masks].transpose(0, 3, 1, 2)


def parse_arguments(arguments=None):
    parser = make_parser(__doc__, "unet.png")
    option = parser.add_argument
    option("--epochs", type=positive, default=10, help="default %(default)s")
    option("--size", type=positive, default=1500, help="pictures to train on, default %(default)s")
    option("--side", type=positive, default=48, help="pixels, divisible by 8, default %(default)s")
    option("--batch-size", type=positive, default=12, help="default %(default)s")
    option("--width", type=positive, default=12, help="channels of the first level, default %(default)s")
    option("--lr", type=not_negative, default=5e-3, help="highest learning rate, default %(default)s")
    options = parse_epochs(parser, arguments)
    if options.side % 8:
        parser.error("--side must be divisible by 8")
    return options


def main(arguments=None):
    run_program("unet.py", run, parse_arguments(arguments))


if __name__ == "__main__":
    main()
