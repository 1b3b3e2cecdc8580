"""Norms of weights by hooks: torch.nn.utils.weight_norm and spectral_norm, and their removal.

They are PyTorch's older way; ``nn.utils.parametrizations`` has the newer one.
"""

from __future__ import annotations

from typing import Any

from ocl import _C, autograd
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn import functional
from ocl.nn.handles import Handle
from ocl.nn.parameter import Parameter
from ocl.nn.utils import norms

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

_HOOKS = "_norm_hooks"  # in the module's __dict__: (kind, name of the tensor) to the hook and its handle


def _is_registered(module: Module, kind: str, name: str) -> bool:
    return (kind, name) in module.__dict__.get(_HOOKS, {})


class _WeightNorm:
    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        return norms.weight_of(getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v"), self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        if _is_registered(module, "weight_norm", self.name):
            setattr(module, self.name, self.compute_weight(module))


class _SpectralNorm:
    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module: Module, improve: bool) -> Tensor:
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = norms.as_matrix(weight, self.dim)
        if improve:
            with autograd.no_grad():
                for _ in range(self.n_power_iterations):  # v first, then u: the older order
                    v.copy_(functional.normalize(_C.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(functional.normalize(_C.mv(matrix, v), dim=0, eps=self.eps))
        return weight / _C.dot(u.clone(), _C.mv(matrix, v.clone()))

    def __call__(self, module: Module, inputs: Any) -> None:
        if _is_registered(module, "spectral_norm", self.name):
            setattr(module, self.name, self.compute_weight(module, module.training))


def _register(module: Module, kind: str, hook: Any) -> None:
    hooks = module.__dict__.setdefault(_HOOKS, {})
    if any(name == hook.name for _, name in hooks):
        raise RuntimeError(f"Cannot register two {kind} hooks on the same parameter {hook.name}")
    hooks[kind, hook.name] = (hook, Handle(module.register_forward_pre_hook(hook)))


def _unregister(module: Module, kind: str, name: str) -> Any:
    found = module.__dict__.get(_HOOKS, {}).pop((kind, name), None)
    if found is None:
        raise ValueError(f"{kind} of '{name}' not found in {module}")
    hook, handle = found
    handle.remove()
    return hook


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Computes a weight before every call from its length ``weight_g`` and its direction ``weight_v``. Gives
    the module. (torch.nn.utils.weight_norm)
    """
    hook = _WeightNorm(name, dim)
    _register(module, "weight_norm", hook)
    weight = getattr(module, name)
    delattr(module, name)
    length = norms.norm_except_dim(weight.detach(), hook.dim)
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    hook(module, ())
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Makes a parameter of the weight again. ValueError where it has no weight_norm."""
    hook = _unregister(module, "weight_norm", name)
    weight = hook.compute_weight(module).detach()
    for gone in (name, f"{name}_g", f"{name}_v"):
        delattr(module, gone)
    setattr(module, name, Parameter(weight))
    return module


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Computes a weight before every call: ``weight_orig`` divided by an estimate of its greatest singular
    value, which calls in training improve. Gives the module. (torch.nn.utils.spectral_norm)

    ValueError for ``n_power_iterations`` below 1.
    """
    if n_power_iterations <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
        )
    hook = _SpectralNorm(name, n_power_iterations, norms.default_dim(module, dim), eps)
    _register(module, "spectral_norm", hook)
    weight = module._parameters[name]
    u, v = norms.start_vectors(norms.as_matrix(weight.detach(), hook.dim), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes a parameter of the weight again. ValueError where it has no spectral_norm."""
    hook = _unregister(module, "spectral_norm", name)
    with autograd.no_grad():
        weight = hook.compute_weight(module, False).detach()
    for gone in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
        delattr(module, gone)
    module.register_parameter(name, Parameter(weight))
    return module
