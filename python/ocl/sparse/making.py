"""How sparse tensors are made: of indices and values, and of dense tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, Tensor
from ocl.sparse.coo import SparseTensor, flat_places, made, no_elements
from ocl.sparse.layouts import sparse_coo

__all__ = ["sparse_coo_tensor"]


def _as_tensor(data: Any, dtype: Any, device: Any) -> Tensor:
    if type(data) is SparseTensor:
        raise ArgumentTypeError("sparse_coo_tensor: expected dense indices and values, got a sparse tensor")
    if isinstance(data, Tensor):
        data = data if device is None else data.to(device)
        return data if dtype is None else data.to(dtype)
    return _C.tensor(data, dtype=dtype, device=device)


def _check_invariants(indices: Tensor, sizes: Sequence[int], is_coalesced: bool) -> None:
    """Raises where an index is out of range, or not sorted though it is said to be. Waits."""
    if indices.numel() == 0:
        return
    lowest, highest = _C.amin(indices, 1).tolist(), _C.amax(indices, 1).tolist()
    for d, (low, high, size) in enumerate(zip(lowest, highest, sizes, strict=True)):
        if low < 0:
            raise ArgumentIndexError(f"sparse_coo_tensor: found negative index {low} for dim {d}")
        if high >= size:
            raise ArgumentIndexError(
                f"sparse_coo_tensor: size is inconsistent with indices: for dim {d}, size is {size} but "
                f"found index {high}"
            )
    if is_coalesced:
        places = flat_places(indices, sizes)
        if not bool((places[1:] > places[:-1]).all()):
            raise ArgumentValueError(
                "sparse_coo_tensor: expected sorted indices, each once, as is_coalesced=True says"
            )


def _inferred_sizes(indices: Tensor, values: Tensor) -> tuple[int, ...]:
    """The smallest shape that holds the elements. Waits."""
    if indices.shape[1] == 0:
        return (0,) * indices.shape[0] + tuple(values.shape[1:])
    lowest = _C.amin(indices, 1).tolist() if indices.shape[0] else []
    for d, low in enumerate(lowest):
        if low < 0:
            raise ArgumentIndexError(f"sparse_coo_tensor: found negative index {low} for dim {d}")
    highest = _C.amax(indices, 1).tolist() if indices.shape[0] else []
    return (*(high + 1 for high in highest), *values.shape[1:])


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A sparse tensor of indices [sparse_dim, nnz] and values [nnz, *dense sizes]. (torch.sparse_coo_tensor)

    ``sparse_coo_tensor(size)`` is all zeros. Values at one place are added up. Where the values require
    gradients they flow to them. Without ``size`` it is the smallest that holds the elements, and this waits
    for the device.

    Args:
        indices: whole numbers, a tensor or nested sequences; kept as int64.
        values: a tensor or a sequence; a number is one value.
        size: sparse sizes, then dense sizes.
        dtype: of the values, by default theirs.
        device: by default that of the values where they are a tensor.
        pin_memory: must be False: there are no host tensors.
        requires_grad: whether the result is a leaf that asks for gradients.
        check_invariants: True looks for indices out of range at once, and waits. Otherwise the operator that
            meets one raises, where it waits for the device.
        is_coalesced: True says that the indices are sorted, each once.

    Raises:
        ValueError: shapes do not fit each other, or indices are negative.
        IndexError: with check_invariants, an index is out of range.
    """
    if pin_memory:
        raise ArgumentValueError("sparse_coo_tensor: there are no host tensors, whose memory could be pinned")
    if values is None:
        size = indices if size is None else size
        if size is None or isinstance(size, Tensor):
            raise ArgumentTypeError("sparse_coo_tensor: expected a size, or indices and values")
        result = no_elements(tuple(size), len(tuple(size)), dtype, device)
        return result.requires_grad_() if requires_grad else result
    if device is None and isinstance(values, Tensor):
        device = values.device
    values = _as_tensor(values, dtype, device)
    indices = _as_tensor(indices, None, values.device).detach().to(_C.int64)
    if indices.ndim != 2:
        raise ArgumentValueError(
            f"sparse_coo_tensor: expected indices [sparse_dim, nnz], got shape {tuple(indices.shape)}"
        )
    if values.ndim == 0:
        values = values.reshape(1)
    if indices.shape[1] != values.shape[0]:
        raise ArgumentValueError(
            f"sparse_coo_tensor: indices and values must have same nnz, but got nnz from indices: "
            f"{indices.shape[1]}, nnz from values: {values.shape[0]}"
        )
    size = _inferred_sizes(indices, values) if size is None else tuple(size)
    if len(size) != indices.shape[0] + values.ndim - 1:
        raise ArgumentValueError(
            f"sparse_coo_tensor: expected a size of {indices.shape[0]} sparse and {values.ndim - 1} dense "
            f"dimensions, got {size}"
        )
    if any(number < 0 for number in size):
        raise ArgumentValueError(f"sparse_coo_tensor: expected sizes of at least 0, got {size}")
    if tuple(values.shape[1:]) != size[indices.shape[0] :]:
        raise ArgumentValueError(
            f"sparse_coo_tensor: expected values of shape {(indices.shape[1], *size[indices.shape[0] :])}, "
            f"got {tuple(values.shape)}"
        )
    if indices.shape[1] and math.prod(size[: indices.shape[0]]) == 0:
        raise ArgumentValueError(f"sparse_coo_tensor: there is no place for elements in size {size}")
    if check_invariants:
        _check_invariants(indices, size[: indices.shape[0]], bool(is_coalesced))
    if requires_grad or not values.requires_grad:
        values = values.detach()
    known = is_coalesced if is_coalesced is not None else indices.shape[1] < 2
    result = made(indices, values, size, bool(known))
    return result.requires_grad_() if requires_grad else result


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """The elements that are not 0, as a sparse tensor whose first ``sparse_dim`` dimensions (all) have
    indices. Waits for their number. (torch.Tensor.to_sparse)
    """
    if layout not in (None, sparse_coo):
        raise ArgumentTypeError(f"to_sparse: there are no tensors of layout {layout}")
    if sparse_dim is None:
        sparse_dim = self.ndim
    if not (0 < sparse_dim <= self.ndim or sparse_dim == self.ndim == 0):
        raise ArgumentValueError(
            f"to_sparse: expected sparse_dim in [1, {self.ndim}], got {sparse_dim} for shape "
            f"{tuple(self.shape)}"
        )
    dense_dims = list(range(sparse_dim, self.ndim))
    is_there = self.detach() != 0
    if dense_dims:
        is_there = (
            is_there.any(dense_dims) if self.shape[sparse_dim:].numel() else is_there.sum(dense_dims) > 0
        )
    if sparse_dim == 0:
        places = _C.nonzero(is_there.reshape(1))[:, 0]
        return made(
            _C.zeros((0, places.shape[0]), dtype=_C.int64, device=self.device),
            self.reshape(1).index_select(0, places),
            (),
            True,
        )
    indices = _C.nonzero(is_there).t().contiguous()
    values = _gathered(self, indices)
    return made(indices, values, tuple(self.shape), True)


def _gathered(dense: Tensor, indices: Tensor) -> Tensor:
    """The values [nnz, *dense sizes] of a dense tensor at indices [sparse_dim, nnz]."""
    count = indices.shape[0]
    sizes = tuple(dense.shape[:count])
    rows = dense.reshape(math.prod(sizes), *dense.shape[count:])
    return _C.index_select(rows, 0, flat_places(indices, sizes))


def sparse_mask(self: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of a tensor at the places that a sparse one of the same shape has.
    (torch.Tensor.sparse_mask)

    Elements that a sparse tensor lacks are 0; to look for them waits.
    """
    if type(mask) is not SparseTensor:
        raise ArgumentTypeError(f"sparse_mask: expected a sparse mask, got {type(mask).__name__}")
    if tuple(self.shape) != tuple(mask.shape):
        raise ArgumentValueError(
            f"sparse_mask: operands have incompatible sizes; self has size {list(self.shape)} but mask has "
            f"size {list(mask.shape)}"
        )
    parts = mask._parts
    if type(self) is not SparseTensor:
        return made(parts.indices, _gathered(self, parts.indices), tuple(self.shape), parts.is_coalesced)
    if self.sparse_dim() != mask.sparse_dim():
        raise ArgumentValueError(
            f"sparse_mask: expected a mask of {self.sparse_dim()} sparse dimensions, got {mask.sparse_dim()}"
        )
    own = self.coalesce()._parts
    positions, is_there = positions_in(own.indices, parts.indices, self._sparse_sizes)
    values = _C.index_select(
        _with_zero_row(own.values), 0, _C.where(is_there, positions, own.indices.shape[1])
    )
    return made(parts.indices, values, tuple(self.shape), parts.is_coalesced)


def _with_zero_row(values: Tensor) -> Tensor:
    zero = _C.zeros((1, *values.shape[1:]), dtype=values.dtype, device=values.device)
    return _C.cat([values, zero], 0)


def positions_in(sorted_indices: Tensor, indices: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Where each of ``indices`` stands among the sorted ones of another tensor, and whether it does."""
    have, asked = flat_places(sorted_indices, sizes), flat_places(indices, sizes)
    if sorted_indices.shape[1] == 0:
        return _C.zeros_like(asked), _C.zeros_like(asked) != 0
    positions = _C.searchsorted(have, asked).clamp(max=sorted_indices.shape[1] - 1)
    return positions, _C.eq(have.index_select(0, positions), asked)
