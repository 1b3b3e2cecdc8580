"""Pruning: weights computed before every call from an original and a mask, as torch.nn.utils.prune.

A module that is pruned at ``weight`` has the parameter ``weight_orig`` and the buffer ``weight_mask``.
"""

from __future__ import annotations

import abc
import numbers
from collections.abc import Iterable, Iterator
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn.handles import Handle
from ocl.nn.utils.convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

_METHODS = "_pruning_methods_by_name"  # in the module's __dict__: the tensor's name to method and handle


class BasePruningMethod(abc.ABC):
    """A way to choose what is pruned: a class derived of it has ``compute_mask`` and ``PRUNING_TYPE``, which
    is "unstructured", "structured" or "global". (torch.nn.utils.prune.BasePruningMethod)
    """

    _tensor_name: str | None = None

    def __call__(self, module: Module, inputs: Any) -> None:
        if self._tensor_name in module.__dict__.get(_METHODS, {}):
            setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of the shape of the scores `t`, 0 where `default_mask` is."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prunes the parameter `name`, by `importance_scores` or by its own elements. Gives the method, a
        PruningContainer where the parameter was pruned before.

        AssertionError for scores of another shape.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        methods = module.__dict__.setdefault(_METHODS, {})
        earlier = methods.get(name)
        original = getattr(module, name)
        scores = _checked_scores(importance_scores, original, f"parameter {name} of {module}")
        if earlier is None:
            mask = method.compute_mask(scores.detach(), default_mask=_C.ones_like(original.detach()))
            delattr(module, name)
            module.register_parameter(f"{name}_orig", original)
        else:
            method = _joined(earlier[0], method)
            default = getattr(module, f"{name}_mask").detach().clone()
            mask = method.compute_mask(scores.detach(), default_mask=default)
            earlier[1].remove()
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        methods[name] = (method, Handle(module.register_forward_pre_hook(method)))
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """`t` with zeros for what is pruned; no module is changed."""
        scores = _checked_scores(importance_scores, t, "tensor t")
        default_mask = _C.ones_like(t.detach()) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Makes a parameter of the pruned tensor again, pruned for good. The hook stays."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        pruned = self.apply_mask(module).detach()
        original = getattr(module, f"{name}_orig")
        for gone in (name, f"{name}_orig", f"{name}_mask"):
            if hasattr(module, gone):
                delattr(module, gone)
        original.data = pruned
        setattr(module, name, original)


def _checked_scores(scores: Tensor | None, pruned: Tensor, what: str) -> Tensor:
    if scores is None:
        return pruned
    if tuple(scores.shape) != tuple(pruned.shape):
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {tuple(scores.shape)} vs "
            f"{tuple(pruned.shape)}"
        )
    return scores


def _joined(earlier: BasePruningMethod, method: BasePruningMethod) -> PruningContainer:
    container = earlier if isinstance(earlier, PruningContainer) else PruningContainer(earlier)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Methods one after the other, each of which prunes what those before have left.
    (torch.nn.utils.prune.PruningContainer)
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Appends a method. TypeError for what is none, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, which sees the elements that `default_mask` leaves."""
        method = self._pruning_methods[-1]
        place = _left(method, t, default_mask)
        mask = default_mask.to(t.dtype).clone()
        if t.numel():
            mask[place] = method.compute_mask(t[place], default_mask=default_mask[place]).to(t.dtype)
        return mask


def _left(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """The index of what a mask leaves to the next method: elements, slices or all."""
    if method.PRUNING_TYPE == "unstructured":
        return _C.eq(mask, 1)
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * t.ndim
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
        )
    if method.dim < -t.ndim:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.ndim}")
    dim = method.dim % t.ndim
    kept = _C.ne(mask.sum([d for d in range(t.ndim) if d != dim]), 0)
    return tuple(kept.nonzero()[:, 0] if d == dim else slice(None) for d in range(t.ndim))


class Identity(BasePruningMethod):
    """Prunes nothing. (torch.nn.utils.prune.Identity)"""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    def __init__(self, amount: int | float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size` are pruned."""
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return self.amount


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    in_range = amount >= 0 if isinstance(amount, numbers.Integral) else 0 <= float(amount) <= 1
    if not in_range:
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


class _Unstructured(_ByAmount):
    PRUNING_TYPE = "unstructured"

    def _rank(self, t: Tensor) -> Tensor:
        """Numbers of which the smallest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.numel())
        if count == 0:
            return default_mask.clone()
        pruned = _C.topk(self._rank(t).reshape(-1), count, largest=False)[1]
        return _C.index_fill(default_mask.reshape(-1), 0, pruned, 0).reshape(default_mask.shape)


class RandomUnstructured(_Unstructured):
    """Prunes `amount` elements, a number or a part, at random. (torch.nn.utils.prune.RandomUnstructured)"""

    def _rank(self, t: Tensor) -> Tensor:
        return _C.rand_like(t)


class L1Unstructured(_Unstructured):
    """Prunes the `amount` elements of the smallest magnitude. (torch.nn.utils.prune.L1Unstructured)"""

    def _rank(self, t: Tensor) -> Tensor:
        return t.abs()


class _Structured(_ByAmount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _rank(self, t: Tensor) -> Tensor:
        """A number for each entry of ``dim``, of which the smallest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{tuple(t.shape)} with {t.ndim} dims"
            )
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {tuple(t.shape)}")
        count = self._count(t.shape[self.dim])
        if count == 0:
            return default_mask
        pruned = _C.topk(self._rank(t), count, largest=False)[1]
        return _C.index_fill(default_mask.to(t.dtype), self.dim, pruned, 0)


class RandomStructured(_Structured):
    """Prunes `amount` entries of `dim` at random. (torch.nn.utils.prune.RandomStructured)"""

    def _rank(self, t: Tensor) -> Tensor:
        return _C.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Structured):
    """Prunes the `amount` entries of `dim` that have the smallest n-norm.
    (torch.nn.utils.prune.LnStructured)
    """

    def __init__(self, amount: int | float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _rank(self, t: Tensor) -> Tensor:
        return _C.norm(t, self.n, [d for d in range(t.ndim) if d != self.dim % t.ndim])


class CustomFromMask(BasePruningMethod):
    """Prunes where a mask is 0. (torch.nn.utils.prune.CustomFromMask)"""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if tuple(default_mask.shape) != tuple(self.mask.shape):
            raise AssertionError(
                f"default_mask shape {tuple(default_mask.shape)} must match self.mask shape "
                f"{tuple(self.mask.shape)}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Gives the parameter `name` a mask of ones. (torch.nn.utils.prune.identity)"""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: int | float) -> Module:
    """Prunes `amount` elements of a parameter at random. (torch.nn.utils.prune.random_unstructured)"""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: int | float, importance_scores: Tensor | None = None
) -> Module:
    """Prunes the `amount` elements that have the smallest magnitudes, or whose scores have.
    (torch.nn.utils.prune.l1_unstructured)
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: int | float, dim: int) -> Module:
    """Prunes `amount` entries of `dim` at random. (torch.nn.utils.prune.random_structured)"""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: int | float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prunes the `amount` entries of `dim` that have the smallest n-norm, or whose scores have.
    (torch.nn.utils.prune.ln_structured)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes a parameter where `mask` is 0. (torch.nn.utils.prune.custom_from_mask)"""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type,
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters, given as modules and names, as if they were one vector.

    Scores of some of them may stand in a dict. TypeError for a method that is not "unstructured".
    (torch.nn.utils.prune.global_unstructured)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    tensors = [getattr(module, name) for module, name in parameters]
    masks = [
        getattr(module, f"{name}_mask", None) if hasattr(module, f"{name}_mask") else _C.ones_like(t.detach())
        for (module, name), t in zip(parameters, tensors, strict=True)
    ]
    ranked = [scores.get(key, t).detach() for key, t in zip(parameters, tensors, strict=True)]
    mask = PruningContainer(method).compute_mask(parameters_to_vector(ranked), parameters_to_vector(masks))
    parts = mask.split([t.numel() for t in tensors])
    for (module, name), t, part in zip(parameters, tensors, parts, strict=True):
        custom_from_mask(module, name, part.reshape(t.shape))


def remove(module: Module, name: str) -> Module:
    """Makes a parameter of a pruned tensor again, pruned for good. ValueError where it is not pruned.
    (torch.nn.utils.prune.remove)
    """
    found = module.__dict__.get(_METHODS, {}).pop(name, None)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    method, handle = found
    handle.remove()
    method.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a tensor of the module or of a submodule is pruned. (torch.nn.utils.prune.is_pruned)"""
    return any(part.__dict__.get(_METHODS) for part in module.modules())
