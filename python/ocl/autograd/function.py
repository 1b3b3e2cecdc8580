"""Differentiable functions written in Python: what torch.autograd.Function is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from ocl import _C
from ocl._C import Tensor, is_grad_enabled
from ocl.batching import derivatives


class FunctionCtx:
    """The values that forward hands to backward: saved tensors, and any attributes that are set on it."""

    needs_input_grad: tuple[bool, ...] = ()

    def __init__(self) -> None:
        self._saved: list[tuple[_C._SavedTensor, Tensor | Callable[[_C._SavedTensor], Tensor]] | None] = []
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._packs = False
        self._materializes = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for ``saved_tensors``, where one written in place since raises RuntimeError."""
        self._packs = _C._packs_saved_tensors()
        self._saved = [None if tensor is None else (_C._SavedTensor(tensor), tensor) for tensor in tensors]

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that save_for_backward was given."""
        return tuple(None if saved is None else self._unpacked(*saved) for saved in self._saved)

    @staticmethod
    def _unpacked(saved: _C._SavedTensor, given: Tensor | Callable[[_C._SavedTensor], Tensor]) -> Tensor:
        if not isinstance(given, Tensor):
            recorded = is_grad_enabled()
            _C._set_grad_enabled(True)  # the tensor has its history, as any that was not packed
            try:
                return given(saved)
            finally:
                _C._set_grad_enabled(recorded)
        saved.unpack()  # raises if it was written in place
        return given

    def _forget(self, arguments: list[Tensor], results: tuple, flowing: list[bool]) -> None:
        """Keeps of results, and of what hooks have packed, which output or input of the node they are: a
        result with a history would hold itself alive, and a packed tensor stay where it is."""

        def place_in(tensors, tensor):
            return next((i for i, other in enumerate(tensors) if other is tensor), None)

        unpacked = methodcaller("unpack")

        def remembered(saved):
            if saved is None:
                return None
            packed, tensor = saved
            if (place := place_in(results, tensor)) is not None:
                return packed, methodcaller("output", sum(flowing[:place])) if flowing[place] else unpacked
            if not self._packs:
                return saved
            place = place_in(arguments, tensor)
            return packed, unpacked if place is None else methodcaller("input", place)

        self._saved = [remembered(saved) for saved in self._saved]

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Arguments that forward has written in place; it returns them, and they become its results.

        Views cannot be marked."""
        self._dirty = tensors

    def _is_dirty(self, tensor: Any) -> bool:
        return any(tensor is t for t in self._dirty)

    def _check_dirty(self, outputs: tuple) -> None:
        for tensor in self._dirty:
            if not any(tensor is output for output in outputs):
                raise RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as output. "
                    "The inputs that are modified inplace must all be outputs of the Function."
                )
            if tensor.is_leaf and tensor.requires_grad:
                raise RuntimeError(
                    "a leaf Variable that requires grad is being used in an in-place operation."
                )
            if tensor._base is not None:
                raise RuntimeError("mark_dirty: a view cannot be marked, as its base has the history")

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
        results = output if many else (output,)
        ctx._check_dirty(results)

        def recorded(result):
            """A tensor that has a history, or is an argument, comes back as another one over the same memory,
            unless forward has written it."""
            if not isinstance(result, Tensor) or ctx._is_dirty(result):
                return result
            return result.detach() if result.requires_grad or any(result is a for a in args) else result

        outputs = [recorded(result) for result in results]
        frozen = [any(result is t for t in ctx._non_differentiable) for result in results]
        flowing = [
            isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex()) and not f
            for o, f in zip(outputs, frozen, strict=True)
        ]
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx._forget(tensors, results, flowing)
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
