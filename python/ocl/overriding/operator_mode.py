"""Modes that are asked before operators do their work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.seam import parts, performing

__all__ = ["OperatorMode"]


class OperatorMode:
    """While it is entered, its ``answer`` is asked before each operator of the thread does its work.

    It hears of every operator of the tables in docs/operators.md by its name there, also of those that layers
    and other functions in C++ call. It does not hear of operators within operators, of writes in place, nor
    of backward passes. The innermost of several modes is asked first, and the next one when it has no answer.
    Autocast changes tensors after all modes were asked. ::

        class Counting(ocl.overrides.OperatorMode):
            counts = collections.Counter()

            def answer(self, name, arguments):
                self.counts[name] += 1
    """

    def __init__(self) -> None:
        self._interceptors: list[_C._Interceptor] = []

    def answer(self, name: str, arguments: dict[str, Any]) -> Tensor | Sequence[Tensor] | None:
        """The results of the operator in place of its work, with the history that they have; or None.

        arguments: by the names of the parameters in C++, the tensors with their history. Pointwise operators
        have ``inputs`` and ``parameters``. Operators that this method calls go to the modes outside this one.
        """
        raise NotImplementedError

    @staticmethod
    def perform(name: str, arguments: dict[str, Any]) -> Any:
        """Call the operator with these arguments, which may be others than ``answer`` was given.

        Raises NotImplementedError for an operator that Python has no function of.
        """
        return performing.perform(name, arguments)

    def __enter__(self) -> OperatorMode:
        interceptor = _C._Interceptor(self._ask, True)
        interceptor.start()
        self._interceptors.append(interceptor)
        return self

    def __exit__(self, *exception: object) -> None:
        self._interceptors[-1].stop()
        self._interceptors.pop()

    def _ask(
        self, name: str, tensors: list[Tensor | None], arguments: Callable[[], dict[str, Any]]
    ) -> Tensor | Sequence[Tensor] | None:
        given = iter([tensor for tensor in tensors if tensor is not None])
        with_history = parts.mapped(
            lambda value: next(given) if isinstance(value, Tensor) else value, arguments()
        )
        return self.answer(name, with_history)
