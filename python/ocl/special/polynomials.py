"""Orthogonal polynomials, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np

__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]


@dataclass(frozen=True)
class _Family:
    """A family whose polynomial of degree 0 is 1: that of degree 1, and how the next follows.

    ``following(x, k, now, before)`` is the polynomial of degree k + 1, of those of degrees k and k - 1.
    """

    first: Callable
    following: Callable

    def ascending(self, x: Tensor, last: int) -> Iterator[Tensor]:
        """The polynomials of the degrees 0 to ``last``."""
        before, now = _C.ones_like(x), self.first(x)
        if last >= 0:
            yield before
        if last >= 1:
            yield now
        for k in range(1, last):
            before, now = now, self.following(x, k, now, before)
            yield now

    def of_degree(self, x: Tensor, degree: int) -> Tensor:
        """The polynomial of one degree."""
        result = _C.zeros_like(x)
        for polynomial in self.ascending(x, degree):
            result = polynomial
        return result

    def of_degrees(self, x: Tensor, degrees: Tensor) -> Tensor:
        """The polynomial of a degree for each element; both broadcast."""
        last = int(degrees.numpy(force=True).max(initial=-1))
        shape = np.broadcast_shapes(x.shape, degrees.shape)
        x, chosen = x.expand(*shape), degrees.to(_C.int64).expand(*shape)
        result = _C.zeros_like(x)
        for degree, values in enumerate(self.ascending(x, last)):
            result = _C.where(chosen == degree, values, result)
        return result


def _polynomial(name: str, family: _Family, shifted: bool = False) -> Callable:
    def polynomial(x: Tensor | float, n: Tensor | float) -> Tensor:
        if not isinstance(x, Tensor):
            if not isinstance(n, Tensor):
                kinds = f"{type(x).__name__} and {type(n).__name__}"
                raise TypeError(f"{name}: expected a tensor for x or n, got {kinds}")
            x = _C.tensor(float(x), device=n.device)
        x = x if x.is_floating_point() else x.to(_C.float32)
        x = 2 * x - 1 if shifted else x
        return family.of_degrees(x, n) if isinstance(n, Tensor) else family.of_degree(x, int(n))

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"""The polynomial of degree n at {"2x - 1" if shifted else "x"}, 0 for n < 0
    (torch.special.{name}).

    One of x and n may be a number. Tensors broadcast, and degrees are cut off to whole numbers. A tensor of
    degrees is read, which waits. The result is differentiable with respect to x, which PyTorch's is not.
    """
    return polynomial


def _doubling(x: Tensor, k: int, now: Tensor, before: Tensor) -> Tensor:
    return 2 * x * now - before


_T = _Family(lambda x: x, _doubling)
_U = _Family(lambda x: 2 * x, _doubling)
_V = _Family(lambda x: 2 * x - 1, _doubling)
_W = _Family(lambda x: 2 * x + 1, _doubling)
_H = _Family(lambda x: 2 * x, lambda x, k, now, before: 2 * (x * now - k * before))
_HE = _Family(lambda x: x, lambda x, k, now, before: x * now - k * before)
_L = _Family(lambda x: 1 - x, lambda x, k, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1))
_P = _Family(lambda x: x, lambda x, k, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1))

chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", _T)
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", _U)
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", _V)
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", _W)
hermite_polynomial_h = _polynomial("hermite_polynomial_h", _H)
hermite_polynomial_he = _polynomial("hermite_polynomial_he", _HE)
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _L)
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _P)
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_polynomial_t", _T, shifted=True)
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_polynomial_u", _U, shifted=True)
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_polynomial_v", _V, shifted=True)
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_polynomial_w", _W, shifted=True)
