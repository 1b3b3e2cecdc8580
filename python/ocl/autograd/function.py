"""Differentiable functions written in Python: what torch.autograd.Function is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import Tensor, is_grad_enabled
from ocl.batching import derivatives


class FunctionCtx:
    """The values that forward hands to backward: saved tensors, and any attributes that are set on it."""

    needs_input_grad: tuple[bool, ...] = ()

    def __init__(self) -> None:
        self._saved: list[tuple[_C._SavedTensor, Tensor | int | None] | None] = []
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materializes = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for ``saved_tensors``, where one written in place since raises RuntimeError."""
        self._saved = [None if tensor is None else (_C._SavedTensor(tensor), tensor) for tensor in tensors]

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that save_for_backward was given."""
        return tuple(None if saved is None else self._unpacked(*saved) for saved in self._saved)

    @staticmethod
    def _unpacked(saved: _C._SavedTensor, given: Tensor | int | None) -> Tensor:
        if isinstance(given, int):
            return saved.output(given)
        unchanged = saved.unpack()  # raises if it was written in place
        return unchanged if given is None else given

    def _forget_results(self, results: tuple, flowing: list[bool]) -> None:
        """Keeps of results the elements and which output of the node they are: with a history they would
        hold themselves alive."""
        places = [sum(flowing[:i]) if flows else None for i, flows in enumerate(flowing)]

        def remembered(saved):
            if saved is None:
                return None
            found = [i for i, result in enumerate(results) if saved[1] is result]
            return (saved[0], places[found[0]]) if found else saved

        self._saved = [remembered(saved) for saved in self._saved]

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Results that gradients do not flow through."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward sees zeros (the default) or None for gradients that nobody sent."""
        self._materializes = value


def once_differentiable(function: Callable) -> Callable:
    """Marks a backward whose operators are not to be recorded: RuntimeError where its gradients are
    differentiated in turn."""

    @functools.wraps(function)
    def once(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        recorded = is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            results = function(ctx, *grad_outputs)
        finally:
            _C._set_grad_enabled(recorded)
        if not recorded:
            return results
        refuse = lambda g: _Once.apply(g.detach().requires_grad_()) if isinstance(g, Tensor) else g  # noqa: E731
        return tuple(map(refuse, results)) if isinstance(results, (tuple, list)) else refuse(results)

    return once


class Function:
    """A function with a derivative of its own::

        class Cube(ocl.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 3 * x**2 * grad

        y = Cube.apply(x)

    forward takes ``ctx`` and the arguments of ``apply`` and returns a tensor or a tuple; it records nothing.
    A class that has ``setup_context(ctx, inputs, output)`` has a forward without ``ctx``. backward takes a
    gradient for each result and returns one for each argument, None for those that have none.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method forward")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method backward")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """The results of forward, on the tape. Under vmap it runs once per example."""
        return derivatives.opaque(cls._apply, *args)

    @classmethod
    def _apply(cls, *args: Any) -> Any:
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recorded = is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            if hasattr(cls, "setup_context"):
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            _C._set_grad_enabled(recorded)
        if not (recorded and any(ctx.needs_input_grad)):
            return output
        return cls._record(ctx, args, output)

    @classmethod
    def _record(cls, ctx: FunctionCtx, args: tuple, output: Any) -> Any:
        many = isinstance(output, tuple)
        # A tensor that has a history, or is an argument, comes back as another one over the same memory.
        outputs = [
            o.detach() if isinstance(o, Tensor) and (o.requires_grad or any(o is a for a in args)) else o
            for o in (output if many else (output,))
        ]
        frozen = [
            any(given is t for t in ctx._non_differentiable) for given in (output if many else (output,))
        ]
        flowing = [
            isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex()) and not f
            for o, f in zip(outputs, frozen, strict=True)
        ]
        ctx._forget_results(output if many else (output,), flowing)
        described = [(o.shape, o.dtype, o.device) if isinstance(o, Tensor) else None for o in outputs]
        are_tensors = [isinstance(a, Tensor) for a in args]
        name = f"{cls.__name__}Backward"

        def run(gradients: list[Tensor | None]) -> list[Tensor | None]:
            arriving = iter(gradients)
            given = [next(arriving) if flows else None for flows in flowing]
            if ctx._materializes:
                given = [
                    _C.zeros(d[0], dtype=d[1], device=d[2]) if g is None and d is not None else g
                    for g, d in zip(given, described, strict=True)
                ]
            results = cls.backward(ctx, *given)
            results = list(results) if isinstance(results, (tuple, list)) else [results]
            while len(results) > len(are_tensors) and results[-1] is None:
                results.pop()
            if len(results) != len(are_tensors):
                raise RuntimeError(
                    f"function {name} returned an incorrect number of gradients "
                    f"(expected {len(are_tensors)}, got {len(results)})"
                )
            for g in results:
                if not isinstance(g, (Tensor, type(None))):
                    raise RuntimeError(f"function {name}: expected Tensor or None (got {type(g).__name__})")
            return [g for g, a in zip(results, are_tensors, strict=True) if a]

        tensors = [a for a in args if isinstance(a, Tensor)]
        roots = [o for o, flows in zip(outputs, flowing, strict=True) if flows]
        if roots:
            _C._record_function(name, tensors, roots, run, bool(ctx._saved))
        return tuple(outputs) if many else outputs[0]


class _Once(Function):
    """A gradient that has no derivative."""

    @staticmethod
    def forward(ctx: FunctionCtx, gradient: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> Tensor:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
