"""The output of a training while it runs."""

import sys
import time
from datetime import timedelta

from tqdm import tqdm

__all__ = ["Bar", "TimeLeft"]


class TimeLeft:
    """The rest of a training's time, from its pace since it was started or resumed, tests included."""

    def __init__(self, done, total):
        self._start, self._total, self._since = done, total, time.perf_counter()

    def after(self, done):
        """Hours, minutes and seconds, when so many of all pictures are done."""
        pace = (time.perf_counter() - self._since) / max(1, done - self._start)
        return timedelta(seconds=round(pace * (self._total - done)))


class Bar:
    """tqdm's bar of an epoch with images per second; lines where the output is no terminal."""

    def __init__(self, trainer):
        self._progress, self._batches = trainer.progress, len(trainer.loader)
        self._is_seen, self._processes = trainer.processes.is_first, trainer.processes.size
        self._prefix = f"epoch {self._progress.epoch}/{trainer.options.epochs}"
        self._bar = tqdm(
            total=trainer.images_of_epoch,
            initial=self._progress.images,
            desc=self._prefix,
            unit=" images",
            leave=False,
            disable=not (self._is_seen and sys.stderr.isatty()),
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{rate_fmt}{postfix}]",
        )
        self._images, self._since = self._progress.images, time.perf_counter()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._bar.close()

    def advance(self, images):
        self._bar.update(images)

    def show(self, loss, time_left):
        if not self._bar.disable:
            self._bar.set_postfix_str(f"loss {loss:.4f}, {time_left} left")
            return
        if not self._is_seen:
            return
        now, images = time.perf_counter(), self._progress.images
        speed = self._processes * (images - self._images) / (now - self._since)
        self._images, self._since = images, now
        print(
            f"{self._prefix}: batch {self._progress.batch}/{self._batches}, loss {loss:.4f}, "
            f"{speed:.0f} images/s, {time_left} left",
            flush=True,
        )
