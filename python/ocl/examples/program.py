"""Options and errors of a program: numbers within bounds, and one line for what a user can mend."""

import argparse
import contextlib
import os
import signal
import sys
import threading

import ocl
from ocl._C._distributed import DistBackendError

__all__ = ["ends_in_one_line", "not_negative", "number", "parse_epochs", "positive"]


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


def parse_epochs(parser, arguments=None):
    """Options of a program with ``--epochs``: a dry run has one."""
    options = parser.parse_args(arguments)
    if options.dry_run:
        options.epochs = 1
    return options


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
