"""The common part of the programs: options, errors as one line, digits, grids of pictures."""

import argparse
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
from PIL import Image

import ocl
from ocl._C._distributed import DistBackendError
from ocl.datasets import MNIST, Digits

__all__ = [
    "ends_in_one_line",
    "load_digits",
    "make_parser",
    "not_negative",
    "number",
    "parse_epochs",
    "positive",
    "run_program",
    "save_grid",
]


def number(kind, least, most=None):
    """An argparse type: an int or a float within bounds."""

    def parse(text):
        value = kind(text)
        if not (least <= value and (most is None or value <= most)):
            bounds = f"at least {least}" + ("" if most is None else f" and at most {most}")
            raise argparse.ArgumentTypeError(f"must be {bounds}")
        return value

    parse.__name__ = kind.__name__  # for argparse's message about what is no number
    return parse


positive, not_negative = number(int, 1), number(float, 0)


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


def parse_epochs(parser, arguments):
    """Options of a program with ``--epochs``: a dry run has one."""
    options = parser.parse_args(arguments)
    if options.dry_run:
        options.epochs = 1
    return options


def run_program(name, run, options):
    """run(options) on its device and with its seed; that --output has a place is known before."""
    with ends_in_one_line(name):
        folder = Path(options.output).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"--output {options.output}: there is no folder {folder}")
        ocl.set_default_device(options.device)
        ocl.manual_seed(options.seed)
        return run(options)


_STOPPED = 128 + signal.SIGINT


@contextlib.contextmanager
def ends_in_one_line(name, when_stopped="stopped"):
    """An error that a user can mend is one line and exit code 2; Ctrl-C is one line, and a second one ends
    at once.
    """

    def stop(*_):
        signal.signal(signal.SIGINT, stop_at_once)
        raise KeyboardInterrupt

    def stop_at_once(*_):
        os.write(2, f"{name}: {when_stopped}\n".encode())
        os._exit(_STOPPED)

    def stop_again(lost):
        """Ctrl-C came inside of a finalizer, where Python drops what is raised: it comes again."""
        if lost.exc_type is not KeyboardInterrupt:
            return report(lost)
        signal.signal(signal.SIGINT, stop)
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()

    before, report = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if before is not signal.SIG_IGN:  # as it is in the background of a shell
        signal.signal(signal.SIGINT, stop)
        sys.unraisablehook = stop_again
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the end of the process is left
        _leave(f"{name}: {when_stopped}", _STOPPED)
    except (OSError, ValueError, ImportError, ocl.DeviceError, DistBackendError) as error:
        _leave(f"{name}: {_without_traceback(error)}", 2)
    finally:
        sys.unraisablehook = report
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, before)


def _leave(line, code):
    """Ends with that code, where SystemExit of a text has 1; the text is for callers from Python."""
    print(line, file=sys.stderr)
    leaving = SystemExit(line)
    leaving.code = code
    raise leaving


def _without_traceback(error):
    """An exception of a DataLoader's worker has its traceback there as its message."""
    is_of_worker = error.__cause__ and str(error).startswith("Caught in DataLoader worker")
    return error.__cause__ if is_of_worker else error


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
