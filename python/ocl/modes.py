"""A switch for a stretch of code, as recording by no_grad: context manager and decorator in one."""

from __future__ import annotations

import functools
import inspect
import threading
import types
import warnings
from collections.abc import Callable, Generator
from typing import Any

__all__ = ["Mode", "Switch"]


class Mode:
    """A context manager that is a decorator, too.

    One object may be entered again before it is left, by any thread. A decorated function runs inside the
    mode. In a generator, a coroutine or an asynchronous generator every step does, and code that waits
    between two steps has the mode that was there before.
    """

    def __new__(cls, *args: Any, **kwargs: Any):
        mode = super().__new__(cls)
        mode._entered = {}  # what was there before, by thread, the last one last
        return mode

    def _switch(self) -> Any:
        """Switches, and gives what was there before."""
        raise NotImplementedError

    def _restore(self, before: Any) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        self._entered.setdefault(threading.get_ident(), []).append(self._switch())

    def __exit__(self, *exception: object) -> None:
        thread = threading.get_ident()
        if thread not in self._entered:  # a generator may go on in another thread than it began in
            thread = next(reversed(self._entered), None)
        if thread is None:
            raise RuntimeError(f"{type(self).__name__} is left, but was not entered")
        before = self._entered[thread].pop()
        if not self._entered[thread]:
            del self._entered[thread]
        self._restore(before)

    def __call__(self, function: Callable) -> Callable:
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self(function.__func__))
        if not callable(function):
            raise TypeError(
                f"{type(self).__name__}: expected a function to decorate, got {type(function).__name__}"
            )
        if inspect.isclass(function):
            warnings.warn(
                f"{type(self).__name__} decorates the constructor of class {function.__name__}, and gives a "
                "function in place of the class. Decorate __init__ or other methods instead.",
                FutureWarning,
                stacklevel=2,
            )
            return functools.wraps(function, updated=())(_within(self, function))
        return functools.wraps(function)(_within(self, function))


class Switch(Mode):
    """A mode that is on from its construction: by itself until it is switched again, in ``with`` or as a
    decorator until that ends."""

    def __init__(self) -> None:
        self._constructed = {threading.get_ident(): self._switch()}

    def __enter__(self) -> None:
        thread, before = threading.get_ident(), self._switch()
        self._entered.setdefault(thread, []).append(self._constructed.pop(thread, before))

    def __call__(self, function: Callable) -> Callable:
        thread = threading.get_ident()
        if thread in self._constructed:  # decorating switches nothing
            self._restore(self._constructed.pop(thread))
        return super().__call__(function)


def _within(mode: Mode, function: Callable) -> Callable:
    """``function`` inside ``mode``, by steps where it runs by steps."""
    # A callable that is no function runs by steps if its __call__ does; partial functions inspect knows.
    is_plain = inspect.isroutine(function) or inspect.isclass(function)
    written = function if is_plain or isinstance(function, functools.partial) else type(function).__call__

    if inspect.isgeneratorfunction(written):

        def within(*args, **kwargs):
            return (yield from _steps(mode, function(*args, **kwargs)))

    elif inspect.iscoroutinefunction(written):

        async def within(*args, **kwargs):
            return await _steps(mode, function(*args, **kwargs))

    elif inspect.isasyncgenfunction(written):

        async def within(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                given = await _steps(mode, generator.asend(None))
                while True:
                    try:
                        received = yield given
                    except GeneratorExit:
                        await _steps(mode, generator.aclose())
                        raise
                    except BaseException as error:
                        given = await _steps(mode, generator.athrow(error))
                    else:
                        given = await _steps(mode, generator.asend(received))
            except StopAsyncIteration:
                return

    else:

        def within(*args, **kwargs):
            with mode:
                return function(*args, **kwargs)

    return within


@types.coroutine
def _steps(mode: Mode, inner: Any) -> Generator:
    """Passes on values of ``inner``, a generator or a coroutine, with each of its steps inside ``mode``."""
    try:
        with mode:
            given = inner.send(None)
        while True:
            try:
                received = yield given
            except GeneratorExit:
                with mode:
                    inner.close()
                raise
            except BaseException as error:
                with mode:
                    given = inner.throw(error)
            else:
                with mode:
                    given = inner.send(received)
    except StopIteration as done:
        return done.value
