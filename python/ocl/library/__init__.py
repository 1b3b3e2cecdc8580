"""Operators that programs define, as torch.library: a name, functions that compute it, and its gradient.

    @ocl.library.custom_op("mylib::scaled", mutates_args=())
    def scaled(x: ocl.Tensor, factor: float) -> ocl.Tensor:
        return x * factor

    scaled.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=keep_factor)

Afterwards ``scaled(x, 2.0)`` calls it, and under ``as_torch()`` ``torch.ops.mylib.scaled(x, 2.0)`` does. All
devices are OpenCL devices: a kernel of any device type serves them. A fake function gives the result within
``ocl.shapes_only()``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ocl.library import schemas
from ocl.library.operators import OpOverload, defined, operator_of, remove
from ocl.library.schemas import infer_schema

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
]

_KEYS = {"cpu": "CPU", "cuda": "CUDA", "ocl": "ocl", "default": "CompositeExplicitAutograd"}


def _keys_of(types: Any) -> list[str]:
    """The names of kernels that device types, or names of dispatch keys, stand for."""
    if types is None:
        return [_KEYS["default"]]
    each = [types] if isinstance(types, str) else types
    return [_KEYS.get(name, name) for name in each]


class Library:
    """Operators of one namespace: it defines them ("DEF", "FRAGMENT") or adds functions to them ("IMPL").

    (torch.library.Library)
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported library kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[OpOverload] = []
        self._added: list[tuple[OpOverload, str]] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Defines the operator of ``name(arguments) -> results``, and returns its name."""
        if self.kind == "IMPL":
            raise RuntimeError("define: a library of the kind IMPL defines no operators")
        name = schema.partition("(")[0].strip()
        self._defined.append(defined(f"{self.ns}::{name}", schemas.parsed(schema[schema.index("(") :])))
        return name

    def impl(
        self,
        op_name: str | OpOverload,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Has the function compute the operator; RuntimeError where another does for that key already."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if with_keyset:
            raise NotImplementedError("Library.impl: with_keyset is not there, as there is no dispatcher")
        named = op_name if isinstance(op_name, OpOverload) or "::" in op_name else f"{self.ns}::{op_name}"
        operator = operator_of(named)
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key == "Meta":
            operator.fake = fn
            return
        if key in operator.kernels and not allow_override:
            raise RuntimeError(f"a kernel of {operator.name()} for {key} is registered already")
        operator.kernels[key] = fn
        self._added.append((operator, key))

    def _register_fake(self, op_name: str, fn: Callable, _stacklevel: int = 1, **options: Any) -> None:
        operator_of(op_name if "::" in op_name else f"{self.ns}::{op_name}").fake = fn

    def _destroy(self) -> None:
        """Takes back what the library defined and added."""
        for operator, key in self._added:
            operator.kernels.pop(key, None)
        for operator in self._defined:
            remove(operator)
        self._added, self._defined = [], []


def define(qualname: str, schema: Any, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Defines the operator ``namespace::name`` with a schema; without one it decorates the function whose
    annotations say it. (torch.library.define)
    """
    if callable(schema):
        raise TypeError(f"define: expected a schema as a str, got {type(schema).__name__}")
    operator = defined(qualname, schemas.parsed(schema))
    if lib is not None:
        lib._defined.append(operator)


def _registered(func: Callable | None, register: Callable[[Callable], None]) -> Any:
    """Registers the function at once, or gives the decorator that does."""
    if func is not None:
        register(func)
        return func

    def decorate(function: Callable) -> Callable:
        register(function)
        return function

    return decorate


def impl(qualname: Any, types: Any, func: Callable | None = None, *, lib: Library | None = None) -> Any:
    """Has a function compute the operator on device types, "default" for all. (torch.library.impl)

    ``impl(lib, name, dispatch_key)`` decorates a function for a library, as PyTorch's does.
    """
    if isinstance(qualname, Library):
        key = "" if func is None else func
        return _registered(None, lambda function: qualname.impl(types, function, key))
    return _registered(func, functools.partial(_put_kernels, qualname, types, lib))


def _put_kernels(op: Any, types: Any, lib: Library | None, function: Callable) -> None:
    operator = operator_of(op)
    for key in _keys_of(types):
        operator.kernels[key] = function
        if lib is not None:
            lib._added.append((operator, key))


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """Has a function compute the operator on device types, None for all. (torch.library.register_kernel)"""
    return _registered(func, functools.partial(_put_kernels, op, device_types, lib))


def register_fake(
    op: Any, func: Callable | None = None, /, *, lib: Any = None, _stacklevel: int = 1, **options: Any
) -> Any:
    """The function that gives the operator's result within ``shapes_only``. (torch.library.register_fake)"""
    operator = operator_of(op)
    return _registered(func, lambda function: setattr(operator, "fake", function))


impl_abstract = register_fake


def get_ctx() -> NoReturn:
    """Raises NotImplementedError: within ``shapes_only`` no size depends on elements."""
    raise NotImplementedError(
        "get_ctx is not there: within ocl.shapes_only() no result can have a size that depends on elements"
    )


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None
) -> None:
    """The operator's gradient: ``backward(ctx, *gradients)`` gives one for each argument, and
    ``setup_context(ctx, inputs, output)`` keeps what it needs. (torch.library.register_autograd)

    An operator whose kernel is "CompositeImplicitAutograd" has the gradient of what it calls.
    """
    operator_of(op).register_autograd(backward, setup_context)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """The dtype that the operator takes its floating tensors in under autocast.
    (torch.library.register_autocast)
    """
    from ocl.amp.autocast_mode import autocast
    from ocl.func.trees import mapped

    operator = operator_of(op)

    def cast(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = mapped(
            lambda value: value.to(cast_inputs) if _is_floating(value) else value, [tuple(args), kwargs]
        )
        with autocast(enabled=False):
            return operator(*args, **kwargs)

    key = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA", "ocl": "AutocastPrivateUse1"}.get(device_type)
    if key is None:
        raise ValueError(f"Unknown device type: {device_type}")
    operator.kernels[key] = cast


def _is_floating(value: Any) -> bool:
    return hasattr(value, "is_floating_point") and value.is_floating_point()


class CustomOpDef:
    """The operator that ``custom_op`` makes of a function; a call calls it. (torch.library.CustomOpDef)"""

    def __init__(self, operator: OpOverload, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self._opoverload, self._init_fn, self._qualname = operator, function, operator.name()

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Any:
        """Has another function compute the operator on device types, None for all."""
        return register_kernel(self._opoverload, device_types, fn)

    def register_fake(self, fn: Callable, /) -> Callable:
        """The function that gives the operator's result within ``shapes_only``."""
        return register_fake(self._opoverload, fn)

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """The operator's gradient, as the function ``register_autograd`` of this module takes it."""
        register_autograd(self._opoverload, backward, setup_context=setup_context)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """The dtype that the operator takes its floating tensors in under autocast."""
        register_autocast(self._opoverload, device_type, cast_inputs)


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Makes a function the operator ``namespace::name``; a decorator without ``fn``.

    Its annotations say the schema where none is given. Results carry gradients once ``register_autograd`` is
    called; before, backward raises RuntimeError. (torch.library.custom_op)
    """

    def make(function: Callable) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        operator = defined(name, schemas.parsed(text))
        for key in _keys_of(device_types):
            operator.kernels[key] = function
        return CustomOpDef(operator, function)

    return make if fn is None else make(fn)
