"""Functions that are products of matrices and stay on the device."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from ocl import _C
from ocl._C import ArgumentValueError, Tensor, matmul
from ocl.late_numpy import np
from ocl.linalg import checks
from ocl.linalg.inverse import inv
from ocl.linalg.precision import PreciseFunction, full_precision
from ocl.numpy_names import takes_numpy_names
from ocl.shapes import is_shapes_only

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "multi_dot",
    "vander",
    "vecdot",
]

# Taylor's polynomial of this degree is exact to rounding for 1-norms up to these (Higham 2008, table 10.2).
_DEGREE = 16
_LARGEST_NORM = {_C.float32: 2.2, _C.float64: 0.78}


def matrix_power(A: Tensor, n: int) -> Tensor:
    """A (*, m, m) to the whole power n; a negative one of the inverse (torch.linalg.matrix_power)."""
    checks.square("linalg.matrix_power", A)
    n = operator.index(n)
    if n == 0:
        return A.clone().copy_(_C.eye(A.shape[-1], dtype=A.dtype, device=A.device))
    if n < 0:
        A, n = inv(A), -n
    result, square = None, A
    while True:
        if n % 2:
            result = square if result is None else result @ square
        n //= 2
        if n == 0:
            return result.clone() if result is A else result
        square = square @ square


class _MatrixExp(PreciseFunction):
    """exp A by scaling and squaring. Its gradient is a block of the exponential of [[A^H, G], [0, A^H]].
    (Higham 2008, "Functions of matrices", 3.2 and 10.3; derivatives.yaml: linalg_matrix_exp)"""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        squarings, factors = _squarings(a)
        if (factors == 1).all():
            return _taylor(a)
        counts = _C.tensor(squarings.astype(np.int32), device=a.device)[..., None, None]
        scales = _C.tensor(factors, dtype=a.dtype.to_real(), device=a.device)[..., None, None]
        result = _taylor(a * scales)
        for i in range(squarings.max()):
            result = _C.where(counts > i, result @ result, result)
        return result

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        n = a.shape[-1]
        above = _C.cat([a.mH, g], -1)
        below = _C.cat([_C.zeros_like(a), a.mH], -1)
        return _MatrixExp.apply(_C.cat([above, below], -2))[..., :n, n:]


def _squarings(a: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """How often each matrix is halved to come below the largest norm, and the factor that does it.

    The factor of a matrix that is not finite is NaN.
    """
    batch = a.shape[:-2]
    if is_shapes_only() or a.numel() == 0:
        return np.zeros(batch, np.int64), np.ones(batch)
    norms = a.abs().sum(-2).amax(-1).numpy(force=True).astype(np.float64)
    is_finite = np.isfinite(norms)
    ratios = np.where(is_finite, norms, 0) / _LARGEST_NORM[a.dtype.to_real()]
    squarings = np.ceil(np.log2(np.maximum(ratios, 1))).astype(np.int64)
    return squarings, np.where(is_finite, np.ldexp(1.0, -squarings), np.nan)


def _taylor(a: Tensor) -> Tensor:
    """The sum of a^i / i! up to i = 16, in six products (Paterson & Stockmeyer 1973)."""
    identity = _C.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    second = a @ a
    powers = [identity, a, second, second @ a]
    fourth = second @ second

    def part(first: int) -> Tensor:
        return sum(power / math.factorial(first + i) for i, power in enumerate(powers))

    result = part(_DEGREE - 4) + fourth / math.factorial(_DEGREE)
    for first in range(_DEGREE - 8, -1, -4):
        result = part(first) + fourth @ result
    return result


@full_precision
def matrix_exp(A: Tensor) -> Tensor:
    """The exponentials of A (*, n, n) (torch.linalg.matrix_exp).

    They are computed on the device; the norms are read, which waits. A matrix that is not finite gives NaN.
    """
    checks.square_floats("linalg.matrix_exp", A)
    return _MatrixExp.apply(A)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of matrices, in the order that takes the fewest operations (torch.linalg.multi_dot).

    The first and the last may be vectors, (n,).
    """
    tensors = list(tensors)
    count = len(tensors)
    if count < 2:
        raise ArgumentValueError(f"multi_dot(): expected at least 2 tensors but got {count}")
    for i, tensor in enumerate(tensors):
        allowed = (1, 2) if i in (0, count - 1) else (2,)
        if tensor.ndim not in allowed:
            which = "1D or 2D" if len(allowed) == 2 else "2D"
            raise ArgumentValueError(f"multi_dot(): tensor {i} must be {which} but got {tensor.ndim}D")
    dropped = [dim for dim, tensor in ((-2, tensors[0]), (-1, tensors[-1])) if tensor.ndim == 1]
    if tensors[0].ndim == 1:
        tensors[0] = tensors[0].unsqueeze(0)
    if tensors[-1].ndim == 1:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    for i, (left, right) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if left.shape[1] != right.shape[0]:
            raise ArgumentValueError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(left.shape)} and "
                f"{list(right.shape)} cannot be multiplied"
            )
    result = _product(tensors, _splits([t.shape[0] for t in tensors] + [tensors[-1].shape[1]]), 0, count - 1)
    for dim in dropped:
        result = result.squeeze(dim)
    return result


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """The matrix behind which each product of neighbours is split, for the fewest multiplications."""
    count = len(sizes) - 1
    costs, splits = {(i, i): 0 for i in range(count)}, {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            options = (
                (costs[first, k] + costs[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            )
            costs[first, last], splits[first, last] = min(options)
    return splits


def _product(tensors: list[Tensor], splits: dict[tuple[int, int], int], first: int, last: int) -> Tensor:
    if first == last:
        return tensors[first]
    split = splits[first, last]
    return _product(tensors, splits, first, split) @ _product(tensors, splits, split + 1, last)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of x (*, n) as rows: (*, n, N); N is n by default (torch.linalg.vander)."""
    count = N if N is not None else (x.shape[-1] if x.ndim else 1)
    if count <= 1:
        raise ArgumentValueError("N must be greater than 1.")
    if x.ndim == 0:
        x = x.reshape(1)
    powers = x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)
    return _C.cat([_C.ones((*x.shape, 1), dtype=powers.dtype, device=x.device), powers], -1)


@takes_numpy_names
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of 3 elements along ``dim``; other dimensions broadcast
    (torch.linalg.cross)."""
    if input.ndim != other.ndim:
        raise ArgumentValueError("linalg.cross: inputs must have the same number of dimensions.")
    return _C.cross(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices, as the last dimension (torch.linalg.diagonal)."""
    return _C.diagonal(A, offset, dim1, dim2)


@takes_numpy_names
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The inner products of vectors along ``dim``, of complex ones with x's conjugates; batches broadcast
    (torch.linalg.vecdot)."""
    return (x.conj() * y).sum(dim)
