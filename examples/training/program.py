"""The common part of the programs: options, digits, grids of pictures."""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

import ocl
from ocl.datasets import MNIST, Digits
from ocl.examples.program import ends_in_one_line, number

__all__ = ["load_digits", "make_parser", "run_program", "save_grid"]


def make_parser(description, output):
    """A parser with the options of every example; `output` is the default name of what it writes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--device", default="ocl:0", help="default %(default)s")
    option("--seed", type=number(int, 0), default=1, help="default %(default)s")
    option("--output", default=output, metavar="FILE", help="default %(default)s")
    option("--dry-run", action="store_true", help="a few steps")
    return parser


def run_program(name, run, options):
    """run(options) on its device and with its seed; that --output has a place is known before."""
    with ends_in_one_line(name):
        folder = Path(options.output).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"--output {options.output}: there is no folder {folder}")
        ocl.set_default_device(options.device)
        ocl.manual_seed(options.seed)
        return run(options)


def load_digits(folder, train):
    """float32 [N, 1, 28, 28], 0 to 255: of MNIST's files in the folder, else scikit-learn's."""
    dataset = MNIST(folder, train, download=False) if folder else Digits(train)
    return dataset.data[:, None].astype(np.float32)


def save_grid(images, columns, path):
    """Writes arrays [N, H, W] or [N, 3, H, W] with values 0 to 1 as one picture, row by row."""
    images = np.asarray(images)
    if images.ndim == 3:
        images = images[:, None].repeat(3, 1)
    rows = -(-len(images) // columns)
    count, channels, height, width = images.shape
    padded = np.ones((rows * columns, channels, height + 2, width + 2), np.float32)
    padded[:count, :, 1:-1, 1:-1] = images
    grid = padded.reshape(rows, columns, channels, height + 2, width + 2).transpose(0, 3, 1, 4, 2)
    pixels = np.rint(255 * np.clip(grid, 0, 1)).astype(np.uint8)
    Image.fromarray(pixels.reshape(rows * (height + 2), columns * (width + 2), channels)).save(path)
