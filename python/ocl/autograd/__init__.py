"""Recording of gradients: what torch.autograd has, and its context managers."""

from __future__ import annotations

import importlib
import threading
import warnings
from collections.abc import Callable, Sequence

from ocl import _C
from ocl._C import Tensor, is_grad_enabled
from ocl.autograd import functional
from ocl.autograd.function import Function, once_differentiable
from ocl.autograd.gradcheck import gradcheck, gradgradcheck
from ocl.autograd.variable import Variable
from ocl.batching import derivatives
from ocl.batching.example import current
from ocl.modes import Mode, Switch
from ocl.sparse import arriving

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
]


class set_grad_enabled(Switch):  # noqa: N801  (PyTorch's name)
    """Switches recording on or off: from the call on, in a ``with`` block, or inside a decorated function."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        super().__init__()

    def _switch(self) -> bool:
        return _record(self._mode)

    def _restore(self, before: bool) -> None:
        _C._set_grad_enabled(before)


def _record(mode: bool) -> bool:
    """Whether anything was recorded before ``mode`` says so."""
    before = is_grad_enabled()
    _C._set_grad_enabled(mode)
    return before


class _GradMode(Mode):
    """Records, or does not, inside."""

    _mode: bool

    def __new__(cls, function: Callable | None = None):
        mode = super().__new__(cls)
        return mode if function is None else mode(function)

    def _switch(self) -> bool:
        return _record(self._mode)

    def _restore(self, before: bool) -> None:
        _C._set_grad_enabled(before)


class no_grad(_GradMode):  # noqa: N801
    """Records nothing inside: ``with ocl.no_grad():``, ``@ocl.no_grad()`` or ``@ocl.no_grad``."""

    _mode = False


class enable_grad(_GradMode):  # noqa: N801
    """Records inside, also within no_grad."""

    _mode = True


class _AnomalyMode(Mode):
    """Anomaly detection as ``_mode`` and ``_check_nan`` say."""

    _mode: bool
    _check_nan: bool

    def _switch(self) -> tuple[bool, bool]:
        before = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        _C._set_detect_anomaly(self._mode, self._check_nan)
        return before

    def _restore(self, before: tuple[bool, bool]) -> None:
        _C._set_detect_anomaly(*before)


class set_detect_anomaly(_AnomalyMode, Switch):  # noqa: N801
    """Switches anomaly detection (``detect_anomaly``) on or off: from the call on, in a ``with`` block, or
    inside a decorated function."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._mode, self._check_nan = mode, check_nan
        super().__init__()


class detect_anomaly(_AnomalyMode):  # noqa: N801
    """Finds the operator whose gradient is not finite (torch.autograd.detect_anomaly).

    Inside, every operator notes where the program called it, and a backward pass looks at each gradient as
    it comes out. The first with NaN or an infinity (PyTorch: NaN alone) raises RuntimeError with the
    operator, its module and the lines of the forward call. With ``check_nan=False`` nothing is looked at,
    the notes stay. Slow: each look waits for the device.
    """

    _mode = True

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan


_inference = threading.local()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``."""
    return getattr(_inference, "enabled", False)


class inference_mode(Mode):  # noqa: N801
    """Like no_grad, for code that has nothing to do with training; with ``mode=False`` as enable_grad.

    Unlike PyTorch's, its results may enter a graph later: they are ordinary tensors without a history.
    """

    def __new__(cls, mode: bool | Callable = True):
        self = super().__new__(cls)
        self._mode = True if callable(mode) else mode
        return self(mode) if callable(mode) else self

    def _switch(self) -> tuple[bool, bool]:
        before = is_grad_enabled(), is_inference_mode_enabled()
        _C._set_grad_enabled(not self._mode)
        _inference.enabled = self._mode
        return before

    def _restore(self, before: tuple[bool, bool]) -> None:
        recorded, _inference.enabled = before
        _C._set_grad_enabled(recorded)


def _sequence(tensors: Tensor | Sequence[Tensor | None] | None) -> list[Tensor]:
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Adds the gradients of ``tensors`` to ``.grad`` of the leaves below them (torch.autograd.backward).

    With ``inputs``, to those alone. With ``create_graph`` the pass is recorded, so that the gradients can be
    differentiated in turn; ``retain_graph`` is what ``create_graph`` is where it is not given.
    """
    if current() is not None:
        raise RuntimeError(
            "backward() called inside of vmap. This is not supported, please call backward() outside of it "
            "or use ocl.func.grad"
        )
    inputs = _sequence(inputs)
    with arriving.passing(inputs):
        _C.backward(_sequence(tensors), _sequence(grad_tensors), retain_graph, bool(create_graph), inputs)


def _of_batched_weights(outputs, inputs, weights, retain_graph, create_graph, allow_unused, materialize):
    """``grad`` for each entry of the weights."""
    from ocl.func import vmap  # which imports this module

    unused: set[int] = set()

    def of_one(given):
        found = grad(outputs, inputs, given, True, create_graph, True, allow_unused, False, materialize)
        unused.update(i for i, g in enumerate(found) if g is None)
        return tuple(g for g in found if g is not None)

    found = iter(vmap(of_one, in_dims=(0,))(tuple(_sequence(weights))))
    return tuple(None if i in unused else next(found) for i in range(len(_sequence(inputs))))


def _with_sparse(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused):
    """``grad`` towards tensors that may get sparse gradients, which the tape does not carry."""
    with arriving.captured(inputs) as captured:
        dense = derivatives.gradients(outputs, inputs, grad_outputs, retain_graph, create_graph, True)
    found = [arriving.joined(x, g, captured.get(id(x))) for g, x in zip(dense, inputs, strict=True)]
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "grad: One of the differentiated Tensors appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    return found


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """Gradients of ``outputs`` with respect to ``inputs``, a tuple; touches no ``.grad`` (as in torch).

    With ``create_graph`` the gradients have a history, and can be differentiated in turn. An input that the
    outputs do not depend on raises RuntimeError, or gives None with ``allow_unused`` and zeros with
    ``materialize_grads``. ``only_inputs=False``, deprecated in PyTorch, warns and changes nothing. With
    ``is_grads_batched`` the ``grad_outputs`` have one dimension more, the first, and so have the gradients:
    it is vmap over them.
    """
    if is_grads_batched:
        return _of_batched_weights(
            outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use ocl.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    inputs = _sequence(inputs)
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    if materialize_grads and not allow_unused:
        raise ValueError("grad: expected allow_unused to be True or not passed when materialize_grads=True")
    tensors = _sequence(outputs), inputs, _sequence(grad_outputs)
    if any(map(arriving.is_watched, inputs)):
        found = _with_sparse(*tensors, retain_graph, bool(create_graph), bool(allow_unused))
    else:
        found = derivatives.gradients(*tensors, retain_graph, bool(create_graph), bool(allow_unused))
    if materialize_grads:
        found = [_C.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]
    return tuple(found)


def __getattr__(name):
    if name in ("forward_ad", "graph", "profiler"):  # imported when first asked for: they are seldom needed
        return importlib.import_module(f"ocl.autograd.{name}")
    raise AttributeError(f"module 'ocl.autograd' has no attribute {name!r}")
