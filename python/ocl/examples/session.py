"""Helpers of a small training beside its loop: shared options, a log, and files of its results."""

import argparse
import contextlib
import importlib.util
import itertools
import os
import sys
import time
from pathlib import Path

import ocl
from ocl.datasets import MNIST, Digits, DownloadError

from .precision import Precision, add_amp_option
from .program import number, positive

__all__ = ["Session", "make_parser", "mnist_or_digits"]


def make_parser(description):
    """A parser with the options that a ``Session`` needs."""
    parser = argparse.ArgumentParser(description=description)
    option = parser.add_argument
    option("--device", default="ocl:0", help="as `clinfo --list` counts them, default %(default)s")
    option("--seed", type=number(int, 0), default=1, help="default %(default)s")
    add_amp_option(parser)
    option("--log-interval", type=positive, default=10, metavar="N", help="default %(default)s")
    option("--dry-run", action="store_true", help="train a single step")
    option("--save-model", metavar="FILE", help="write the trained weights")
    option("--plot", metavar="FILE.png", help="draw the loss curve")
    option("--profile", metavar="FILE.json", help="write a trace for chrome://tracing, print a summary")
    return parser


def mnist_or_digits(folder=None):
    """The training set and the test set of MNIST: of the folder, else cached, else downloaded.

    Where MNIST cannot be downloaded, scikit-learn's small digits take its place, and a line says so. Raises
    DownloadError where there is no scikit-learn either.
    """
    if folder is not None:
        return MNIST(folder, train=True, download=False), MNIST(folder, train=False, download=False)
    try:
        return MNIST(train=True), MNIST(train=False)
    except DownloadError as reason:
        error = f"{reason}, here by --data DIR"
        if importlib.util.find_spec("sklearn") is None:
            raise DownloadError(f"{error}, or install scikit-learn for its small digits") from reason
        print(f"{error}; training on scikit-learn's small digits instead", file=sys.stderr)
        return Digits(train=True), Digits(train=False)


class Session:
    """The run of a training on the device and with the seed of the options.

    Args:
        options: those of ``make_parser``.
    """

    def __init__(self, options):
        self.options = options
        self.precision = Precision(options.amp)
        self.losses = []
        self.epoch = 0
        ocl.set_default_device(options.device)
        ocl.manual_seed(options.seed)

    def batches(self, loader):
        """The batches of one more epoch; a dry run has one batch."""
        self.epoch += 1
        self._steps = 1 if self.options.dry_run else len(loader)
        for step, batch in enumerate(itertools.islice(loader, self._steps), start=1):
            self._step = step
            yield batch

    def log(self, loss):
        """Prints the loss at the interval of the options and after the last batch; only then does it wait."""
        if self.epoch == self._step == 1:
            ocl.synchronize(self.options.device)
            print(f"first step done after {_seconds_since_start():.2f} s", flush=True)
        if self._step % self.options.log_interval == 0 or self._step == self._steps:
            self.losses.append(loss.item())
            place = f"epoch {self.epoch}: step {self._step}/{self._steps}"
            print(f"{place}, loss {self.losses[-1]:.4f}", flush=True)

    @contextlib.contextmanager
    def writing_results(self, net):
        """Around the training: a profile, the weights, the curve and the count of built kernels."""
        with ocl.profiler.profile() if self.options.profile else contextlib.nullcontext() as profile:
            yield
        if self.options.profile:
            profile.export_chrome_trace(self.options.profile)
            print(profile.table())
        if self.options.save_model:
            ocl.save(net.state_dict(), self.options.save_model)
        if self.options.plot:
            self._plot()
        cache = ocl.kernel_cache_info()
        print(f"kernels: {cache['built']} programs built in {cache['build_seconds']:.2f} s")

    def _plot(self):
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        axes = figure.subplots()
        axes.plot(self.losses)
        axes.set(xlabel="printed step", ylabel="training loss", yscale="log")
        figure.savefig(self.options.plot)


def _seconds_since_start():
    """Seconds since this process began, imports included, as Linux counts them."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
