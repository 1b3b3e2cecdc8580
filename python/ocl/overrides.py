"""``__torch_function__``: what a class or a mode needs that replaces functions (torch.overrides).

Functions and methods ask once a class of tensors defines ``__torch_function__``, or a mode is entered. Once
this module has been imported, and under ``as_torch()``, they also begin to ask when a function refuses an
object that is no tensor and whose class defines it.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ocl import device_names
from ocl._C import Tensor
from ocl.overriding import arming, asking
from ocl.overriding.asking import Asked, AskedProperty, state
from ocl.overriding.operator_mode import OperatorMode

__all__ = [
    "BaseTorchFunctionMode",
    "OperatorMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

arming.watch_refusals()


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode is on, or an argument is of a class that is asked: plain tensors and parameters are not.
    (torch.overrides.has_torch_function)
    """
    arguments = tuple(relevant_args)
    return bool(asking.current_modes() and arguments) or bool(asking.those_asked(arguments))


def has_torch_function_unary(value: Any) -> bool:
    """has_torch_function of one argument."""
    return has_torch_function((value,))


def has_torch_function_variadic(*values: Any) -> bool:
    """has_torch_function of the arguments."""
    return has_torch_function(values)


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """The answer of the modes and of the classes of ``relevant_args`` to a call of ``public_api``.

    Raises TypeError where all of them give NotImplemented. (torch.overrides.handle_torch_function)
    """
    found = asking.those_asked(relevant_args, plain_too=True)
    result = asking.answer(public_api, found, args, kwargs)
    if result is NotImplemented:
        raise asking.refusal(public_api, found)
    return result


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """A decorator: the function asks the arguments that ``dispatcher`` gives when it is called with the
    function's. (torch.overrides.wrap_torch_function)
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant_args = dispatcher(*args, **kwargs)
            if has_torch_function(relevant_args):
                return handle_torch_function(wrapped, relevant_args, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or has a ``__torch_function__``. (torch.overrides.is_tensor_like)"""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def _members() -> Iterator[Any]:
    """The methods of Tensor, and the getters of its attributes."""
    arming.arm()
    for member in vars(Tensor).values():
        if isinstance(member, (Asked, AskedProperty)):
            yield member if isinstance(member, Asked) else member.__get__


def _modules() -> Iterator[tuple[str, Any]]:
    for place in arming.PLACES:
        is_torch = place == "ocl" and device_names.stand_for_ocl
        yield place, sys.modules["torch"] if is_torch else importlib.import_module(place)


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that ask the classes of their arguments, by the module or class that has them.
    (torch.overrides.get_overridable_functions)
    """
    functions: dict[Any, list[Callable]] = {Tensor: list(_members())}
    for place, module in _modules():
        names = [name for name, _ in arming.functions_of(place) if name not in arming.FACTORIES]
        functions[module] = [getattr(module, name) for name in names]
    return functions


def get_ignored_functions() -> set[Callable]:
    """The functions that ask no class of arguments. (torch.overrides.get_ignored_functions)"""
    names = arming.IGNORED | arming.FACTORIES
    return {getattr(module, name) for _, module in _modules() for name in names if hasattr(module, name)}


def get_default_nowrap_functions() -> set[Callable]:
    """The functions whose results keep their class in the default ``__torch_function__``.
    (torch.overrides.get_default_nowrap_functions)
    """
    arming.arm()
    return {Tensor.grad.__get__}


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether it is a method of Tensor, or the getter of an attribute, as ``__torch_function__`` is given it.
    (torch.overrides.is_tensor_method_or_property)
    """
    return getattr(func, "__name__", None) == "__get__" or any(func == member for member in _members())


def resolve_name(f: Callable) -> str | None:
    """The name by which a function is found, as "ocl.add" or "ocl.Tensor.shape.__get__".

    None for one that does not ask. (torch.overrides.resolve_name)
    """
    if isinstance(owner := getattr(f, "__self__", None), AskedProperty):
        return f"ocl.Tensor.{owner.name}.{f.__name__}"
    if not isinstance(f, Asked):
        arming.arm()
        f = next((asked for asked in arming.all_asked() if asked == f), None)
        if f is None:
            return None
    return f"{'ocl.Tensor' if f.place == 'Tensor' else f.place}.{f.name}"


class TorchFunctionMode:
    """While it is entered, every call of a function or a method goes to its ``__torch_function__``.

    Within that method the mode is off. (torch.overrides.TorchFunctionMode)
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _push_mode(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function as it is. (torch.overrides.BaseTorchFunctionMode)"""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    arming.arm()
    state.modes = (*state.modes, mode)


def _pop_mode() -> TorchFunctionMode:
    *rest, mode = state.modes
    state.modes = tuple(rest)
    return mode


@contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_function_mode() -> TorchFunctionMode | None:
    return state.modes[-1] if state.modes else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    return list(state.modes)
