"""Tensors with others in a part of them, made of other operators, and where that part is."""

from __future__ import annotations

from ocl import _C
from ocl._C import Tensor

__all__ = [
    "argwhere",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal_scatter",
    "select_scatter",
    "slice_scatter",
    "where",
]


def _wrapped(name: str, dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise _C.ArgumentIndexError(
            f"{name}: dimension out of range (expected to be in range of [{-rank}, {rank - 1}], got {dim})"
        )
    return dim % rank


def _on_diagonal(src: Tensor, background: Tensor, offset: int) -> Tensor:
    """The matrices `background` [..., rows, columns] with `src` [..., length] on their diagonal."""
    rows, columns = background.shape[-2:]
    # Element i of the diagonal stands in row i, or below the main diagonal in column i.
    by_row = offset >= 0
    missing = (rows if by_row else columns) - src.shape[-1]
    if missing > 0:
        rest = _C.zeros((*src.shape[:-1], missing), dtype=src.dtype, device=src.device)
        src = _C.cat([src, rest], -1)
    across = _C.arange(columns, device=src.device) - _C.arange(rows, device=src.device).unsqueeze(1)
    return _C.where(_C.eq(across, offset), src.unsqueeze(-1 if by_row else -2), background)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Square matrices with the last dimension of input on a diagonal and 0 elsewhere. (torch.diag_embed)"""
    if input.ndim == 0:
        raise _C.ArgumentIndexError("diag_embed: expected at least one dimension, got a scalar")
    first, second = (_wrapped("diag_embed", d, input.ndim + 1) for d in (dim1, dim2))
    if first == second:
        raise _C.ArgumentValueError(f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = input.shape[-1] + abs(offset)
    background = _C.zeros((size, size), dtype=input.dtype, device=input.device)
    return _on_diagonal(input, background, offset).movedim((-2, -1), (first, second))


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a vector on its diagonal, or a copy of the diagonal of a matrix. (torch.diag)"""
    if input.ndim not in (1, 2):
        raise _C.ArgumentValueError(f"diag: expected a vector or a matrix, got shape {tuple(input.shape)}")
    return diag_embed(input, diagonal) if input.ndim == 1 else input.diagonal(diagonal).clone()


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of input on its diagonal. (torch.diagflat)"""
    return diag_embed(input.reshape(-1), offset)


def _check_place(name: str, src: Tensor, place: Tensor) -> None:
    if tuple(src.shape) != tuple(place.shape):
        raise _C.ArgumentValueError(
            f"{name}: expected src to have a size equal to the slice of self. src size = "
            f"{tuple(src.shape)}, slice size = {tuple(place.shape)}"
        )


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """input with src in the place of diagonal(input, offset, dim1, dim2). (torch.diagonal_scatter)"""
    _check_place("diagonal_scatter", src, input.detach().diagonal(offset, dim1, dim2))
    matrices = input.movedim((dim1, dim2), (-2, -1))
    return _on_diagonal(src.to(input.dtype), matrices, offset).movedim((-2, -1), (dim1, dim2))


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """input with src in the place of select(input, dim, index). (torch.select_scatter)"""
    _check_place("select_scatter", src, input.detach().select(dim, index))
    place = _C.tensor([index % input.shape[dim]], device=input.device)
    return _C.index_copy(input, dim, place, src.to(input.dtype).unsqueeze(dim % input.ndim))


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """input with src in the place of the entries start:end:step of dim. (torch.slice_scatter)"""
    if step <= 0:
        raise _C.ArgumentValueError(f"slice_scatter: slice step must be positive, got {step}")
    axis = _wrapped("slice_scatter", dim, input.ndim)
    entries = range(*slice(start, end, step).indices(input.shape[axis]))
    cut = tuple(slice(start, end, step) if d == axis else slice(None) for d in range(input.ndim))
    _check_place("slice_scatter", src, input.detach()[cut])
    places = _C.arange(entries.start, max(entries.start, entries.stop), step, device=input.device)
    return _C.index_copy(input, axis, places, src.to(input.dtype))


def argwhere(input: Tensor) -> Tensor:
    """The coordinates [count, rank] of what is not 0. Waits for their number. (torch.argwhere)"""
    return _C.nonzero(input)


def where(
    condition: Tensor | bool, input: Tensor | float | None = None, other: Tensor | float | None = None
) -> Tensor | tuple[Tensor, ...]:
    """input where the condition holds, other elsewhere. (torch.where)

    The condition alone gives the coordinates of what is not 0, a vector for each dimension, and waits for
    their number.
    """
    if input is None and other is None:
        return _C.nonzero(condition, as_tuple=True)
    return _C.where(condition, input, other)


Tensor.argwhere = argwhere
Tensor.diag = diag
Tensor.diag_embed = diag_embed
Tensor.diagflat = diagflat
Tensor.diagonal_scatter = diagonal_scatter
Tensor.select_scatter = select_scatter
Tensor.slice_scatter = slice_scatter
