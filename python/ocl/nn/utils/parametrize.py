"""Parameters that are computed from others whenever they are asked for: torch.nn.utils.parametrize.

::

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ocl import autograd
from ocl._C import Tensor
from ocl._C._nn import Module, ModuleDict, ModuleList
from ocl.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, a parametrized tensor is computed once, and kept until the outermost block ends."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if _cache_depth == 0:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors that they start from: ``original``, or
    ``original0`` and so on where ``right_inverse`` gives several.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        is_parameter = isinstance(original, Parameter)
        with autograd.no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):  # then the original stands as it is
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor and new is not original:
            original.data = new.data
        for name, tensor in zip(self._names(), [original] if self.is_tensor else new, strict=True):
            if is_parameter and not isinstance(tensor, Parameter):
                tensor = Parameter(tensor.detach(), original.requires_grad)
            if is_parameter:
                self.register_parameter(name, tensor)
            else:
                self.register_buffer(name, tensor)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrized tensor becomes ``value``, as far as they allow it.

        RuntimeError where a parametrization has no ``right_inverse``.
        """
        with autograd.no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                new = module.right_inverse(new)
            for name, tensor in zip(self._names(), [new] if self.is_tensor else new, strict=True):
                getattr(self, name).data = tensor.data

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *rest = list(self)
        value = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def _property(name: str) -> property:
    def read(self: Module) -> Tensor:
        if _cache_depth == 0:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _class_of(base: type, names: tuple[str, ...]) -> type:
    """A class of the module's with a property for each parametrized name."""

    def reduce(self: Module, protocol: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See "
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        )

    members: dict[str, Any] = {name: _property(name) for name in names}
    members["_parametrized_base"] = base
    members["__reduce_ex__"] = reduce
    members["__deepcopy__"] = _copied
    return type(f"Parametrized{base.__name__}", (base,), members)


def _copied(self: Module, memo: dict) -> Module:
    import copy

    kind = type(self)
    self.__class__ = kind._parametrized_base
    try:
        twin = copy.deepcopy(self, memo)
    finally:
        self.__class__ = kind
    twin.__class__ = kind
    return twin


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Computes ``module.tensor_name`` by ``parametrization`` from what stood there, or after the
    parametrizations that it has already. Gives the module.

    Matches torch.nn.utils.parametrize.register_parametrization.

    ValueError where there is no parameter or buffer of that name, or where ``parametrization`` changes the
    shape or the dtype and not ``unsafe``.
    """
    parametrization.train(module.training)
    names = tuple(getattr(module, "parametrizations", {}).keys()) if is_parametrized(module) else ()
    if tensor_name in names:
        entries = module.parametrizations[tensor_name]
        _require_alike(getattr(module, tensor_name), parametrization, unsafe)
        if hasattr(parametrization, "right_inverse"):
            value = getattr(module, tensor_name)
            entries.append(parametrization)
            entries.right_inverse(value)
        else:
            entries.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{type(module).__name__}()' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    before = original.detach().clone()
    entries = ParametrizationList([parametrization], original, unsafe)
    if not unsafe:
        with autograd.no_grad():
            _require_same(entries(), before)
    delattr(module, tensor_name)
    if not names:
        module.parametrizations = ModuleDict()
    base = type_before_parametrizations(module)
    module.parametrizations[tensor_name] = entries
    module.__class__ = _class_of(base, (*names, tensor_name))
    return module


def _require_alike(value: Tensor, parametrization: Module, unsafe: bool) -> None:
    if not unsafe:
        with autograd.no_grad():
            _require_same(parametrization(value), value)


def _require_same(result: Any, value: Tensor) -> None:
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(result, what) != getattr(value, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` "
                f"flag is enabled: {getattr(value, what)} became {getattr(result, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module, or its tensor of that name, is parametrized."""
    if not hasattr(type(module), "_parametrized_base"):
        return False
    return tensor_name is None or tensor_name in module.parametrizations


def type_before_parametrizations(module: Module) -> type:
    """The class that the module had before it was parametrized."""
    return getattr(type(module), "_parametrized_base", type(module))


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a plain tensor of a parametrized one: of its value, or of ``original`` unless
    ``leave_parametrized``. Gives the module. (torch.nn.utils.parametrize.remove_parametrizations)

    ValueError where the tensor is not parametrized, and where there are several originals to be left.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {type(module).__name__}() does not have a parametrization on {tensor_name}")
    entries = module.parametrizations[tensor_name]
    if not leave_parametrized and not entries.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    names = tuple(name for name in module.parametrizations if name != tensor_name)
    originals = [getattr(entries, name) for name in entries._names()]
    kept = originals[0] if entries.is_tensor else None
    is_parameter = any(isinstance(tensor, Parameter) for tensor in originals)
    if leave_parametrized:
        with autograd.no_grad():
            value = getattr(module, tensor_name)
        if kept is None:
            kept = Parameter(value.detach(), originals[0].requires_grad) if is_parameter else value
        else:
            kept.data = value.detach()
    base = type_before_parametrizations(module)
    module.__class__ = _class_of(base, names) if names else base
    del module.parametrizations[tensor_name]
    if not names:
        del module.parametrizations
    if is_parameter:
        module.register_parameter(tensor_name, kept)
    else:
        module.register_buffer(tensor_name, kept)
    return module
