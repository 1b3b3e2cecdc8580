"""Who is asked about a call, in which order, and the functions and methods that ask."""

from __future__ import annotations

import functools
import importlib
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ocl._C import Tensor

__all__ = [
    "Asked",
    "AskedProperty",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "answer",
    "asks",
    "computed",
    "current_modes",
    "default_torch_function",
    "disabled_torch_function_impl",
    "refusal",
    "replaces",
    "state",
    "those_asked",
]


class _State(threading.local):
    modes: tuple = ()  # those entered, the innermost last
    classes_are_asked = True
    modes_are_asked = True


state = _State()


class DisableTorchFunctionSubclass:
    """Within it no class is asked, and results are plain tensors. (torch._C.DisableTorchFunctionSubclass)"""

    def __enter__(self) -> None:
        self._before = state.classes_are_asked, state.modes_are_asked
        state.classes_are_asked = False

    def __exit__(self, *exception: object) -> None:
        state.classes_are_asked, state.modes_are_asked = self._before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Within it neither a class nor a mode is asked. (torch._C.DisableTorchFunction)"""

    def __enter__(self) -> None:
        super().__enter__()
        state.modes_are_asked = False


def disabled_torch_function_impl(
    func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
) -> Any:
    """The ``__torch_function__`` of a class that is not asked. (torch._C._disabled_torch_function_impl)"""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _of_class(result: Any, kind: type) -> Any:
    if isinstance(result, (tuple, list)):
        each = [_of_class(item, kind) for item in result]
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*each)
        return type(result)(each)
    return result.as_subclass(kind) if isinstance(result, Tensor) and not isinstance(result, kind) else result


def default_torch_function(
    cls: type, func: Callable, kinds: Any, args: tuple = (), kwargs: dict | None = None
) -> Any:
    """The function itself; its tensors become of the class. (torch.Tensor.__torch_function__)"""
    if not all(issubclass(cls, kind) for kind in kinds):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if cls is Tensor or _keeps_result(func) else _of_class(result, cls)


def _keeps_result(function: Any) -> bool:
    """Whether a result is the object that is stored, of whatever class."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, AskedProperty) and owner.name in ("grad", "_base", "_grad")


def _is_pytorchs(kind: type) -> bool:
    """Whether it is a class of PyTorch's own tensors, whose functions are PyTorch's."""
    return any(base.__name__ == "Tensor" and base.__module__ == "torch" for base in kind.__mro__)


def asks(kind: type) -> bool:
    """Whether a class has a ``__torch_function__`` that is not switched off."""
    method = getattr(kind, "__torch_function__", None)
    return method is not None and method is not disabled_torch_function_impl and not _is_pytorchs(kind)


def replaces(kind: type) -> bool:
    """Whether a class has a ``__torch_function__`` of its own."""
    method = getattr(kind, "__torch_function__", None)
    is_own = method is not None and getattr(method, "__func__", None) is not default_torch_function
    return is_own and not _is_pytorchs(kind)


def _leaves(values: Any) -> Iterator[Any]:
    """The arguments, and the elements of those that are lists."""
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple:
            yield from value
        elif kind is not Tensor:
            yield value


def those_asked(arguments: Any, *, plain_too: bool = False) -> list[Any]:
    """One argument of each class that is asked, subclasses first, otherwise from left to right.

    ``plain_too``: and a plain tensor, as functions written in Python have it.
    """
    if not state.classes_are_asked:
        return []
    found: list[Any] = []
    kinds: list[type] = []
    for value in arguments if plain_too else _leaves(arguments):
        kind = type(value)
        if (kind is Tensor and not plain_too) or kind in kinds or not asks(kind):
            continue
        place = next((i for i, other in enumerate(kinds) if issubclass(kind, other)), len(kinds))
        found.insert(place, value)
        kinds.insert(place, kind)
    return found


def current_modes() -> tuple:
    return state.modes if state.modes_are_asked else ()


def answer(public: Callable, found: Sequence[Any], args: tuple, kwargs: dict) -> Any:
    """The answer of the innermost mode, or else of the first class that has one; or NotImplemented."""
    kinds = tuple(map(type, found))
    modes = current_modes()
    if modes:
        whole, state.modes = state.modes, modes[:-1]
        try:
            result = modes[-1].__torch_function__(public, kinds, args, kwargs)
        finally:
            state.modes = whole
        if result is not NotImplemented:
            return result
    for value in found:
        result = value.__torch_function__(public, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def refusal(public: Any, found: Sequence[Any]) -> TypeError:
    place = getattr(public, "place", None) or getattr(public, "__module__", None)
    name = f"{place}.{getattr(public, '__name__', public)}"
    return TypeError(
        f"no implementation found for {name!r} on types that implement __torch_function__: "
        f"{list(map(type, found))}"
    )


# Methods whose results keep their class, also where no class is asked.
_KEPT = frozenset(("__copy__", "__deepcopy__", "__reduce_ex__", "as_subclass", "grad"))


def _is_users(kind: type) -> bool:
    """Whether it is a class of tensors that the library does not have itself."""
    if kind is Tensor or not issubclass(kind, Tensor):
        return False
    return not getattr(kind, "__module__", "").startswith("ocl.")  # a class that exec makes has none


def _plain(result: Any, given: Sequence[Any]) -> Any:
    """New tensors of a user's class as plain tensors."""
    if isinstance(result, (tuple, list)):
        if not any(_is_users(type(item)) for item in result):
            return result
        each = [_plain(item, given) for item in result]
        return type(result)(*each) if hasattr(result, "_fields") else type(result)(each)
    if not _is_users(type(result)) or any(result is value for value in given):
        return result
    return result.as_subclass(Tensor)


def computed(inner: Callable, name: str, args: tuple, kwargs: dict) -> Any:
    """The call itself. Classes that are not asked do not pass on to its results."""
    result = inner(*args, **kwargs)
    if name in _KEPT:
        return result
    given = list(_leaves((*args, *kwargs.values())))
    for value in given:
        kind = type(value)
        if _is_users(kind) and not (state.classes_are_asked and asks(kind)):
            return _plain(result, given)
    return result


class _Asking:
    """It stands for a function or a member. It equals that one, so that tables made before find it."""

    def __init__(self, stands_for: Any, place: str, name: str) -> None:
        self.stands_for, self.place, self.name = stands_for, place, name
        self.__name__ = name
        self.__doc__ = getattr(stands_for, "__doc__", None)

    def __eq__(self, other: Any) -> bool:
        return self.stands_for == (other.stands_for if isinstance(other, _Asking) else other)

    def __hash__(self) -> int:
        return hash(self.stands_for)

    def __reduce__(self) -> Any:
        return _found, (self.place, self.name)

    def _ask(self, public: Any, args: tuple, kwargs: dict) -> tuple[bool, Any]:
        """Whether somebody is asked, and the answer, which may be NotImplemented."""
        found = those_asked((*args, *kwargs.values())) if self.asks_classes else []
        if not current_modes() and not any(replaces(type(value)) for value in found):
            return False, None
        result = answer(public, found, args, kwargs)
        if result is NotImplemented and not self._is_operator:
            raise refusal(public, found)
        return True, result

    asks_classes = True
    _is_operator = False


def _found(place: str, name: str) -> Any:
    return getattr(Tensor if place == "Tensor" else importlib.import_module(place), name)


_PREFIXED = (
    "ocl.fft",
    "ocl.linalg",
    "ocl.special",
)  # PyTorch's functions there are named linalg_inv and the like


class Asked(_Asking):
    """A function, or a method of Tensor, that asks the classes of its arguments and the modes."""

    def __init__(self, function: Callable, place: str, name: str) -> None:
        super().__init__(function, place, name)
        functools.update_wrapper(self, function)
        prefix = place.removeprefix("ocl.") + "_" if place in _PREFIXED else ""
        self.__name__ = prefix + name
        self.inner = function
        self.public: Asked = self  # the function that is said to be called: add for __radd__
        self._is_operator = place == "Tensor" and name.startswith("__")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        is_answered, result = self._ask(self.public, args, kwargs)
        return result if is_answered else computed(self.inner, self.name, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None or self.place != "Tensor" else types.MethodType(self, instance)

    def calling(self, wrap: Callable[[Callable], Callable]) -> Asked:
        """One that asks likewise, and calls what ``wrap`` makes of the function."""
        other = Asked(self.stands_for, self.place, self.name)
        other.inner = wrap(self.inner)
        return other

    def __repr__(self) -> str:
        return repr(self.stands_for)


class AskedProperty(_Asking):
    """An attribute of Tensor that asks the tensor's class and the modes."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        is_answered, result = self._ask(self.__get__, (instance,), {})
        if is_answered:
            return result
        return computed(self.stands_for.__get__, self.name, (instance,), {})

    def __set__(self, instance: Any, value: Any) -> None:
        if not self._ask(self.__set__, (instance, value), {})[0]:
            self.stands_for.__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        if not self._ask(self.__delete__, (instance,), {})[0]:
            self.stands_for.__delete__(instance)
