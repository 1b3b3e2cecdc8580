"""Weights that stay orthogonal matrices: torch.nn.utils.parametrizations.orthogonal."""

from __future__ import annotations

from ocl import _C, linalg
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.autograd import no_grad
from ocl.linalg.torch_names import geqrf
from ocl.nn.utils import parametrize
from ocl.placement import diagonal_scatter
from ocl.type_info import finfo

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")


def _identity(like: Tensor, size: int) -> Tensor:
    return _C.eye(size, dtype=like.dtype, device=like.device)


def _is_orthogonal(q: Tensor) -> bool:
    rows, columns = q.shape[-2:]
    return _C.allclose(
        q.mT @ q,
        _identity(q, columns).expand(*q.shape[:-2], columns, columns),
        atol=10.0 * rows * finfo(q.dtype).eps,
    )


def _made_orthogonal(a: Tensor) -> Tensor:
    """Q of a = QR, where R has a positive diagonal."""
    factors, tau = geqrf(a)
    q = linalg.householder_product(factors, tau)
    return q * factors.diagonal(0, -2, -1).sgn().unsqueeze(-2)


def _signed_factors(q: Tensor) -> Tensor:
    """The factors of an orthogonal matrix, whose diagonal has the signs with which forward gives it back."""
    factors, tau = geqrf(q)
    diagonal = factors.diagonal(0, -2, -1)
    signs = diagonal.sign() * _C.where(_C.eq(tau, 0), -1.0, 1.0).to(q.dtype)
    return diagonal_scatter(factors, signs, 0, -2, -1)


class _Orthogonal(Module):
    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.shape = tuple(weight.shape)
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        is_wide = x.shape[-2] < x.shape[-1]
        x = x.mT if is_wide else x
        q = self._by_householder(x) if self.orthogonal_map == "householder" else self._by_skew(x)
        q = self.base @ q if self.use_trivialization else q
        return q.mT if is_wide else q

    def _by_skew(self, x: Tensor) -> Tensor:
        """The matrix exponential or the Cayley map of a skew-symmetric matrix, cut off to `x`'s shape."""
        rows, columns = x.shape[-2:]
        x = x.tril()
        if rows != columns:
            rest = _C.zeros((*x.shape[:-1], rows - columns), dtype=x.dtype, device=x.device)
            x = _C.cat([x, rest], -1)
        a = x - x.mT
        if self.orthogonal_map == "matrix_exp":
            q = linalg.matrix_exp(a)
        else:
            one = _identity(a, rows)
            q = linalg.solve(one - 0.5 * a, one + 0.5 * a)
        return q if rows == columns else q[..., :columns]

    def _by_householder(self, x: Tensor) -> Tensor:
        a = x.tril(-1)
        tau = 2.0 / (1.0 + (a * a).sum(-2))
        q = linalg.householder_product(a, tau)
        return q * x.diagonal(0, -2, -1).int().to(x.dtype).unsqueeze(-2)

    @no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        if tuple(q.shape) != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                f"{tuple(q.shape)}."
            )
        is_wide = q.shape[-2] < q.shape[-1]
        tall = q.mT if is_wide else q
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                    "when use_trivialization=False."
                )
            factors = _signed_factors(tall)
            return factors.mT if is_wide else factors
        self.base = self._base_of(tall)
        return -_C.eye(*q.shape[-2:], dtype=q.dtype, device=q.device).expand(q.shape).contiguous()

    def _base_of(self, tall: Tensor) -> Tensor:
        """A square orthogonal matrix that begins with the columns of `tall`, where those are orthogonal."""
        rows, columns = tall.shape[-2:]
        if rows == columns:
            return tall.clone() if _is_orthogonal(tall) else _made_orthogonal(tall)
        rest = _C.randn((*tall.shape[:-1], rows - columns), dtype=tall.dtype, device=tall.device)
        return _made_orthogonal(_C.cat([tall, rest], -1))


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Makes a weight (*, m, n) a matrix with orthonormal rows or columns. Gives the module.
    (torch.nn.utils.parametrizations.orthogonal)

    `orthogonal_map` is "matrix_exp" (the default of square ones), "cayley" or "householder". With
    `use_trivialization` the weight is a fixed orthogonal matrix times the map. ValueError where there is no
    such parameter, for another map, and for a vector.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    wrapped = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, wrapped, unsafe=True)
