"""Hooks of all modules, hooks that run after errors, and hooks before a backward pass.

C++ calls the hooks that stand in a module's dicts (``_forward_hooks`` and its kin), first to last. A watched
module has an entry of this file at the beginning and at the end of these dicts. The entries run the hooks of
all modules, and note which modules a thread is in. After an error these modules' hooks that are registered
with ``always_call=True`` are called. While hooks of all modules exist, a call from Python watches all modules
below the one that it calls.
"""

from __future__ import annotations

import functools
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.autograd.function import Function

__all__ = [
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]

_FIRST, _LAST = -1, -2  # the keys of this file's entries in a module's dicts
_forward, _forward_pre = OrderedDict(), OrderedDict()
_backward, _backward_pre = OrderedDict(), OrderedDict()
_with_kwargs: dict[int, bool] = {}
_always: dict[int, bool] = {}
_watched: weakref.WeakSet = weakref.WeakSet()
_threads = threading.local()
_numbers = iter(range(2**62))


class Handle:
    """Takes a hook away again; also a context manager."""

    def __init__(self, hooks: dict, changed: Callable[[], None]) -> None:
        self.id = next(_numbers)
        self._hooks, self._changed = hooks, changed

    def remove(self) -> None:
        """Takes the hook away."""
        self._hooks.pop(self.id, None)
        self._changed()

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


class _Call:
    """A module that a thread is in: its arguments, its output so far, and the hooks that have run."""

    def __init__(self, module: Module, args: tuple, kwargs: dict) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.output: Any = None
        self.has_run: set[int] = set()


def _calls() -> list[_Call]:
    if not hasattr(_threads, "calls"):
        _threads.calls = []
    return _threads.calls


def _tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def _enter(module: Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The first pre-hook."""
    if Module.__call__ is _watching_call:
        _calls().append(_Call(module, args, kwargs))
    else:  # a copy of a module whose hooks were removed
        _watch(module)
    for hook in list(_forward_pre.values()):
        replaced = hook(module, args)
        if replaced is not None:
            args = _tuple(replaced)
    return args, kwargs


def _note_arguments(module: Module, args: tuple, kwargs: dict) -> None:
    """The last pre-hook."""
    calls = _calls()
    if calls and calls[-1].module is module:
        calls[-1].args, calls[-1].kwargs = args, kwargs


def _after(module: Module, args: tuple, kwargs: dict, output: Any) -> Any:
    """The first forward hook."""
    calls = _calls()
    call = calls[-1] if calls and calls[-1].module is module else _Call(module, args, kwargs)
    call.output = output
    for number, hook in list(_forward.items()):
        call.has_run.add(number)
        replaced = (
            hook(module, args, kwargs, output) if number in _with_kwargs else hook(module, args, output)
        )
        if replaced is not None:
            call.output = output = replaced
    return output


class _BeforeBackward(Function):
    """Its inputs; their gradients go through the hooks before a backward pass."""

    @staticmethod
    def forward(ctx: Any, run: Callable, *outputs: Tensor) -> Any:
        ctx.run = run
        ctx.set_materialize_grads(False)
        views = tuple(output.view_as(output) for output in outputs)
        return views if len(views) > 1 else views[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple:
        return None, *ctx.run(gradients)


def _leave(module: Module, args: tuple, kwargs: dict, output: Any) -> Any:
    """The last forward hook."""
    calls = _calls()
    if calls and calls[-1].module is module:
        calls.pop()
    hooks = [*_backward_pre.values(), *module.__dict__.get("_backward_pre_hooks", {}).values()]
    values = _tuple(output)
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
    if not hooks or not places or not isinstance(output, (tuple, Tensor)):
        return None
    held = weakref.ref(module)

    def run(gradients: tuple) -> tuple:
        given: list[Any] = [None] * len(values)
        for place, gradient in zip(places, gradients, strict=True):
            given[place] = gradient
        for hook in hooks:
            replaced = hook(held(), tuple(given))
            if replaced is None:
                continue
            replaced = _tuple(replaced)
            if len(replaced) != len(given):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(replaced)}, but "
                    f"expected {len(given)}"
                )
            given = list(replaced)
        return tuple(given[place] for place in places)

    through = _tuple(_BeforeBackward.apply(run, *(values[place] for place in places)))
    made = list(values)
    for place, value in zip(places, through, strict=True):
        made[place] = value
    return tuple(made) if isinstance(output, tuple) else made[0]


def _at_backward(module: Module, grad_input: tuple, grad_output: tuple) -> Any:
    """The first backward hook."""
    result = None
    for hook in list(_backward.values()):
        replaced = hook(module, grad_input, grad_output)
        if replaced is not None:
            result = grad_input = _tuple(replaced)
    return result


def _put(module: Module, kind: str, first: Callable | None, last: Callable | None) -> None:
    """Places this file's entries at the beginning and at the end of a dict of hooks."""
    hooks = getattr(module, kind)
    if first is not None and next(iter(hooks), None) != _FIRST:
        others = {number: hook for number, hook in hooks.items() if number != _FIRST}
        hooks.clear()
        hooks[_FIRST] = first
        hooks.update(others)
    if last is not None and next(reversed(hooks), None) != _LAST:
        hooks.pop(_LAST, None)
        hooks[_LAST] = last
    flags = module.__dict__.setdefault(f"{kind}_with_kwargs", {})
    flags[_FIRST] = flags[_LAST] = True


def _watch(module: Module) -> None:
    _put(module, "_forward_pre_hooks", _enter, _note_arguments)
    _put(module, "_forward_hooks", _after, _leave)
    if _backward:
        _put(module, "_backward_hooks", _at_backward, None)
    _watched.add(module)
    Module.__call__ = _watching_call


def _has_own(module: Module) -> bool:
    """Whether hooks of the module's own need the entries."""
    attributes = module.__dict__
    return bool(attributes.get("_backward_pre_hooks") or attributes.get("_forward_hooks_always_called"))


def _forget_unneeded() -> None:
    """Takes the entries away where no hook needs them any more."""
    of_all = bool(_forward or _forward_pre or _backward or _backward_pre)
    for module in [] if of_all else list(_watched):
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            if kind in module.__dict__ and (kind == "_backward_hooks" or not _has_own(module)):
                for number in (_FIRST, _LAST):
                    getattr(module, kind).pop(number, None)
        if not _has_own(module):
            _watched.discard(module)
    Module.__call__ = _watching_call if of_all or _watched else _plain_call


_plain_call = Module.__call__


@functools.wraps(_plain_call)
def _watching_call(self: Module, *args: Any, **kwargs: Any) -> Any:
    calls = _calls()
    depth = len(calls)
    if _forward or _forward_pre or _backward or _backward_pre:
        # Those below it are watched from the outermost call on.
        for module in (self,) if depth else self.modules():
            _watch(module)
    try:
        return _plain_call(self, *args, **kwargs)
    except Exception:
        while len(calls) > depth:
            _call_the_rest(calls.pop())
        raise
    finally:
        del calls[depth:]


def _call_the_rest(call: _Call) -> None:
    """The hooks of a call that failed which run even so and have not yet."""
    module = call.module
    own_flags = module.__dict__.get("_forward_hooks_always_called", {})
    own_kwargs = module.__dict__.get("_forward_hooks_with_kwargs", {})
    waiting = [("global module", n, hook, n in _with_kwargs) for n, hook in _forward.items() if n in _always]
    waiting += [
        ("module", n, hook, n in own_kwargs) for n, hook in module._forward_hooks.items() if n in own_flags
    ]
    for kind, number, hook, takes_kwargs in waiting:
        if number in call.has_run:
            continue
        try:
            given = (module, call.args, call.kwargs) if takes_kwargs else (module, call.args)
            replaced = hook(*given, call.output)
            if replaced is not None:
                call.output = replaced
        except Exception as error:
            warnings.warn(
                f"{kind} forward hook with ``always_call=True`` raised an exception that was silenced as "
                f"another error was raised in forward: {error}",
                stacklevel=3,
            )


class _AlwaysCalled:
    """A hook that runs even after an error: it notes that it has run."""

    def __init__(self, hook: Callable) -> None:
        self.hook, self.number = hook, -1

    def __call__(self, module: Module, *given: Any) -> Any:
        calls = _calls()
        if calls and calls[-1].module is module:
            calls[-1].has_run.add(self.number)
        replaced = self.hook(module, *given)
        if replaced is not None and calls and calls[-1].module is module:
            calls[-1].output = replaced
        return replaced


_plain_register, _plain_register_pre = Module.register_forward_hook, Module.register_forward_pre_hook
_plain_register_backward = Module.register_full_backward_hook


class _OwnHandle:
    """Takes a hook of one module away, and what that leaves unneeded."""

    def __init__(self, handle: Any, after: Callable[[], None]) -> None:
        self._handle, self._after, self.id = handle, after, handle.id

    def remove(self) -> None:
        """Takes the hook away."""
        self._handle.remove()
        self._after()

    def __enter__(self) -> _OwnHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


def _keep_order(module: Module) -> None:
    if _FIRST in module.__dict__.get("_forward_hooks", {}):
        _watch(module)


def _register_forward_hook(
    self: Module,
    hook: Callable,
    *,
    prepend: bool = False,
    with_kwargs: bool = False,
    always_call: bool = False,
) -> Any:
    """Calls hook(module, args, output) after every forward; what it returns, unless None, replaces the
    output. (torch.nn.Module.register_forward_hook)

    With ``prepend`` before the module's other hooks, with ``with_kwargs`` as hook(module, args, kwargs,
    output), with ``always_call`` even if the forward raises, with the output None.
    """
    if not always_call:
        handle = _plain_register(self, hook, prepend=prepend, with_kwargs=with_kwargs)
        _keep_order(self)
        return handle
    called = _AlwaysCalled(hook)
    handle = _plain_register(self, called.__call__, prepend=prepend, with_kwargs=with_kwargs)
    called.number = handle.id
    flags = self.__dict__.setdefault("_forward_hooks_always_called", {})
    flags[handle.id] = True
    _watch(self)

    def forget() -> None:
        flags.pop(handle.id, None)
        _forget_unneeded()

    return _OwnHandle(handle, forget)


@functools.wraps(_plain_register_pre)
def _register_forward_pre_hook(
    self: Module, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
) -> Any:
    handle = _plain_register_pre(self, hook, prepend=prepend, with_kwargs=with_kwargs)
    _keep_order(self)
    return handle


@functools.wraps(_plain_register_backward)
def _register_full_backward_hook(self: Module, hook: Callable, prepend: bool = False) -> Any:
    handle = _plain_register_backward(self, hook, prepend)
    _keep_order(self)
    return handle


def _register_full_backward_pre_hook(self: Module, hook: Callable, prepend: bool = False) -> Handle:
    """Calls hook(module, grad_output) before every backward; what it returns, unless None, replaces
    grad_output. (torch.nn.Module.register_full_backward_pre_hook)
    """
    hooks = self.__dict__.setdefault("_backward_pre_hooks", OrderedDict())
    handle = Handle(hooks, _forget_unneeded)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    _watch(self)
    return handle


_register_forward_hook.__name__ = "register_forward_hook"
Module.register_forward_hook = _register_forward_hook
Module.register_forward_pre_hook = _register_forward_pre_hook
Module.register_full_backward_hook = _register_full_backward_hook
Module.register_full_backward_pre_hook = _register_full_backward_pre_hook


def _added(hooks: dict, hook: Callable) -> Handle:
    handle = Handle(hooks, _forget_unneeded)
    hooks[handle.id] = hook
    Module.__call__ = _watching_call
    return handle


def register_module_forward_pre_hook(hook: Callable) -> Handle:
    """Calls hook(module, args) before the forward of every module; what it returns, unless None, replaces the
    arguments. (torch.nn.modules.module.register_module_forward_pre_hook)
    """
    return _added(_forward_pre, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> Handle:
    """Calls hook(module, args, output) after the forward of every module, before the module's own hooks; what
    it returns, unless None, replaces the output. (torch.nn.modules.module.register_module_forward_hook)

    With ``with_kwargs`` as hook(module, args, kwargs, output), with ``always_call`` even if the forward
    raises.
    """
    handle = _added(_forward, hook)
    if with_kwargs:
        _with_kwargs[handle.id] = True
    if always_call:
        _always[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> Handle:
    """Calls hook(module, grad_output) before the backward of every module; what it returns, unless None,
    replaces grad_output. (torch.nn.modules.module.register_module_full_backward_pre_hook)
    """
    return _added(_backward_pre, hook)


def register_module_full_backward_hook(hook: Callable) -> Handle:
    """Calls hook(module, grad_input, grad_output) in the backward of every module; what it returns, unless
    None, replaces grad_input. (torch.nn.modules.module.register_module_full_backward_hook)
    """
    return _added(_backward, hook)
