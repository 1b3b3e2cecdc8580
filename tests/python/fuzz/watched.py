"""Judges how a hostile file is read: by the errors, and by the memory that the file's size justifies."""

import contextlib
import functools
import re
from pathlib import Path

import ocl
from fuzz.files import Disagreement

REFUSALS = (OSError, ValueError)
# Those of a run: what an operator says of its arguments, and of the device's memory.
RUN_REFUSALS = (ValueError, TypeError, IndexError, ZeroDivisionError)
NO_MEMORY = (MemoryError, ocl.OutOfMemoryError)
# Loading may touch so much memory, and so much for each byte of the file. A run may take what the graph's
# shapes say, up to the limit of the process.
FIXED_BYTES, BYTES_A_BYTE = 128 << 20, 64


class Neighbours:
    """Tensors beside which later ones lie, to see that nothing else writes to them.

    Between them is free memory of many sizes, which the allocator gives to what comes next.
    """

    SIZES = [1 << bits for bits in (6, 8, 10, 12, 14, 6, 9, 11)]  # elements
    VALUE = 0x5A5A5A5A

    def __init__(self):
        made = [ocl.full((size,), self.VALUE, dtype=ocl.int32) for size in self.SIZES * 20]
        self.tensors = made[::2] + made[1::6]

    def check(self):
        """Raises Disagreement where one has changed, and puts it right."""
        if ocl.cat(self.tensors).ne(self.VALUE).any().item():
            for tensor in self.tensors:
                tensor.fill_(self.VALUE)
            raise Disagreement("it wrote to memory that is not its own")


neighbours = functools.cache(Neighbours)


class Refused(Exception):
    """The file was refused as it should be."""


def judged_by(read):
    """The reader for `files.run_one` that `read` is with a watch; a refusal as it should be is no error."""

    @functools.wraps(read)
    def reader(path):
        with contextlib.suppress(Refused):
            read(path)

    return reader


class Watch:
    """Judges the steps of reading one file; a step that is refused ends the case."""

    def __init__(self, path, places):
        self.path, self.places = Path(path), places
        self.most = FIXED_BYTES + BYTES_A_BYTE * self.path.stat().st_size

    def loading(self, step, names_file=True):
        """The step's result. Its error names the file and a place; it touches what is justified."""
        before = begin_peak()
        try:
            result = step()
        except Exception as error:
            self._check(
                error, REFUSALS if names_file else (*REFUSALS, *RUN_REFUSALS), self.places, names_file
            )
            raise Refused from error
        finally:
            grown = peak() - before
        if grown > self.most:
            raise Disagreement(
                f"loading touched {grown >> 20} MiB, of a file of {self.path.stat().st_size} bytes"
            )
        return result

    def running(self, step, places):
        """The step's result; its error names the call or the node, and it writes to no memory but its own."""
        beside = neighbours()
        try:
            result = step()
            beside.check()
            return result
        except Disagreement:
            raise
        except Exception as error:
            self._check(error, RUN_REFUSALS, places, False)
            beside.check()
            raise Refused from error

    def _check(self, error, kinds, places, names_file):
        text = str(error)
        if not isinstance(error, (*kinds, *NO_MEMORY)) or isinstance(error, UnicodeError):
            raise Disagreement(f"{type(error).__name__}: {text}") from error
        if isinstance(error, NO_MEMORY):
            return
        if names_file and self.path.name not in text:
            raise Disagreement(f"{type(error).__name__} does not name the file: {text}") from error
        if not re.search(places, text.replace(self.path.name, "")):
            raise Disagreement(f"{type(error).__name__} names no place: {text}") from error


def begin_peak():
    """Forgets the peak of the process's memory, and gives what it takes now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak():
    """The most memory in bytes that the process had touched at once."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10
