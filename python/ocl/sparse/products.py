"""Matrix products of which one factor, or both, are sparse."""

from __future__ import annotations

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.sparse.coo import SparseTensor, made, summed


def _is_sparse(x: object) -> bool:
    return type(x) is SparseTensor


def _check(name: str, a: Tensor, b: Tensor, ranks: tuple[int, int]) -> None:
    for x in (a, b):
        if not isinstance(x, Tensor):
            raise ArgumentTypeError(f"{name}: expected tensors, got {type(x).__name__}")
        if _is_sparse(x) and x.dense_dim():
            raise ArgumentValueError(
                f"{name}: expected a sparse tensor without dense dimensions, got {x.sparse_dim()} sparse and "
                f"{x.dense_dim()} dense ones"
            )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0] if b.ndim else None
    if (a.ndim, b.ndim) != ranks or a.shape[-1] != inner or (a.ndim == 3 and a.shape[0] != b.shape[0]):
        raise ArgumentValueError(
            f"{name}: expected factors of {ranks[0]} and {ranks[1]} dimensions that fit, got shapes "
            f"{tuple(a.shape)} and {tuple(b.shape)}"
        )
    if a.dtype != b.dtype:
        raise ArgumentTypeError(f"{name}: expected factors of one dtype, got {a.dtype} and {b.dtype}")


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices [n, m] and [m, p], of which at least one is sparse. (torch.mm)

    With a dense factor the result is dense, and memory for nnz * p (nnz * n) elements is needed meanwhile.
    The product of two sparse ones is sparse, and waits. Gradients flow to the values and to the dense factor.
    """
    _check("mm", input, mat2, (2, 2))
    if _is_sparse(input) and _is_sparse(mat2):
        return _sparse_product(input, mat2)
    if _is_sparse(mat2):
        rows, columns = mat2._parts.indices
        parts = input.t().index_select(0, rows) * mat2._parts.values.unsqueeze(1)
        return summed(parts, columns, mat2.shape[1]).t()
    rows, columns = input._parts.indices
    parts = mat2.index_select(0, columns) * input._parts.values.unsqueeze(1)
    return summed(parts, rows, input.shape[0])


def repeated(counts: Tensor) -> Tensor:
    """0, 1, 2, ... each as often as its count says. Waits for the sum."""
    return _C.repeat_interleave(_C.arange(counts.shape[0], device=counts.device), counts, 0)


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    left, right = a.coalesce()._parts, b.coalesce()._parts
    starts_of = right.indices[0].contiguous()
    columns = left.indices[1].contiguous()
    # Each element of a meets the row of b that its column names.
    first = _C.searchsorted(starts_of, columns)
    counts = _C.searchsorted(starts_of, columns, right=True) - first
    pair = repeated(counts)
    before = counts.cumsum(0) - counts
    position = _C.arange(pair.shape[0], device=pair.device) + (first - before).index_select(0, pair)
    values = left.values.index_select(0, pair) * right.values.index_select(0, position)
    indices = _C.stack([left.indices[0].index_select(0, pair), right.indices[1].index_select(0, position)])
    return made(indices, values, (a.shape[0], b.shape[1]), False).coalesce()


def mv(input: SparseTensor, vec: Tensor) -> Tensor:
    """The product of a sparse matrix [n, m] and a vector [m]. (torch.mv)"""
    if not _is_sparse(input) or _is_sparse(vec):
        raise ArgumentTypeError("mv: expected a sparse matrix and a dense vector")
    _check("mv", input, vec, (2, 1))
    rows, columns = input._parts.indices
    return summed(input._parts.values * vec.index_select(0, columns), rows, input.shape[0])


def bmm(input: SparseTensor, mat2: Tensor) -> Tensor:
    """The products [b, n, p] of sparse matrices [b, n, m] and dense ones [b, m, p]. (torch.bmm)"""
    if not _is_sparse(input) or _is_sparse(mat2):
        raise ArgumentTypeError("bmm: expected a sparse first factor and a dense second one")
    _check("bmm", input, mat2, (3, 3))
    batch, rows, columns = input._parts.indices
    count, n, m = input.shape
    factors = mat2.reshape(count * m, mat2.shape[2]).index_select(0, batch * m + columns)
    parts = factors * input._parts.values.unsqueeze(1)
    return summed(parts, batch * n + rows, count * n).reshape(count, n, mat2.shape[2])


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of a sparse matrix and a matrix or a vector, or of a matrix and a sparse one.
    (torch.matmul)
    """
    for x in (input, other):
        if not isinstance(x, Tensor):
            raise ArgumentTypeError(f"matmul: expected tensors, got {type(x).__name__}")
    if (input.ndim, other.ndim) == (2, 2):
        return mm(input, other)
    if (input.ndim, other.ndim) == (2, 1):
        return mv(input, other)
    if (input.ndim, other.ndim) == (1, 2):
        return mv(other.t(), input)
    if (input.ndim, other.ndim) == (3, 3):
        return bmm(input, other)
    raise ArgumentValueError(
        f"matmul: with layout ocl.sparse_coo expected two matrices, or a matrix and a vector, got shapes "
        f"{tuple(input.shape)} and {tuple(other.shape)}"
    )


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2) with a sparse factor; `input` [n, p] is dense and broadcasts.
    (torch.addmm, torch.sparse.addmm)
    """
    if _is_sparse(input) or (_is_sparse(mat1) and _is_sparse(mat2)):
        raise ArgumentTypeError("addmm: expected a dense summand, and one sparse and one dense factor")
    product = mm(mat1, mat2)
    try:
        summand = input.expand(*product.shape)
    except (RuntimeError, ValueError) as error:
        raise ArgumentValueError(
            f"addmm: expected a summand that broadcasts to {tuple(product.shape)}, got {tuple(input.shape)}"
        ) from error
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (summand if beta == 1 else summand * beta)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A sparse input [n, in] times weight [out, in] transposed, plus bias. (torch.nn.functional.linear)"""
    product = mm(input, weight.t())
    return product if bias is None else product + bias
