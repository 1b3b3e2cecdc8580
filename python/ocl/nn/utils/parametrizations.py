"""Parametrizations of weights, by norms and as orthogonal matrices: torch.nn.utils.parametrizations."""

from __future__ import annotations

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn import functional
from ocl.nn.utils import norms, parametrize
from ocl.nn.utils.orthogonal_maps import orthogonal

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return norms.weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norms.norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Makes a weight of its length ``original0`` and its direction ``original1``, along ``dim``, or of all
    elements for None. Gives the module. (torch.nn.utils.parametrizations.weight_norm)
    """
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but "
                f"got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = norms.as_matrix(weight.detach(), self.dim)
            u, v = norms.start_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            norms.power_step(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = norms.as_matrix(weight, self.dim)
        if self.training:
            norms.power_step(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        sigma = _C.dot(self._u.clone(), _C.mv(matrix, self._v.clone()))
        return weight / sigma

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by an estimate of its greatest singular value, which every call in training improves.
    Gives the module. (torch.nn.utils.parametrizations.spectral_norm)

    ValueError where there is no such parameter, and for ``n_power_iterations`` below 1.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    wrapped = _SpectralNorm(weight, n_power_iterations, norms.default_dim(module, dim), eps)
    return parametrize.register_parametrization(module, name, wrapped)
