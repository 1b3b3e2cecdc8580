"""The common part of weight_norm and spectral_norm, new and old."""

from __future__ import annotations

from ocl import _C, autograd
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn import functional

TRANSPOSED = (_C._nn.ConvTranspose1d, _C._nn.ConvTranspose2d, _C._nn.ConvTranspose3d)


def norm_except_dim(v: Tensor, dim: int | None) -> Tensor:
    """The norms of the slices along ``dim``, with its other dimensions of size 1; of all for None or -1."""
    if dim is None or dim == -1:
        return _C.norm(v)
    others = [other for other in range(v.ndim) if other != dim % v.ndim]
    return v.square().sum(others, keepdim=True).sqrt() if others else v.abs()


def weight_of(g: Tensor, v: Tensor, dim: int | None) -> Tensor:
    """The direction v with the length g."""
    return v * (g / norm_except_dim(v, dim))


def default_dim(module: Module, dim: int | None) -> int:
    """The dimension of a weight's outputs, where none is given."""
    return dim if dim is not None else int(isinstance(module, TRANSPOSED))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with ``dim`` in front and the others as one."""
    if dim != 0:
        weight = (
            weight.transpose(0, dim)
            if weight.ndim == 2
            else weight.permute(dim, *(other for other in range(weight.ndim) if other != dim))
        )
    return weight.flatten(1) if weight.ndim > 1 else weight


def power_step(matrix: Tensor, u: Tensor, v: Tensor, count: int, eps: float) -> None:
    """Turns u and v, in place, towards the singular vectors of the greatest singular value."""
    with autograd.no_grad():
        for _ in range(count):
            u.copy_(functional.normalize(_C.mv(matrix, v), dim=0, eps=eps))
            v.copy_(functional.normalize(_C.mv(matrix.t(), u), dim=0, eps=eps))


def start_vectors(matrix: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Random vectors of length 1, for the rows and for the columns."""
    rows, columns = matrix.shape
    return tuple(
        functional.normalize(_C.randn(size, device=matrix.device).to(matrix.dtype), dim=0, eps=eps)
        for size in (rows, columns)
    )
