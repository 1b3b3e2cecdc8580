"""Functions made of other operators, which split, broadcast, view and integrate tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.numpy_names import takes_numpy_names

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "cumulative_trapezoid",
    "dsplit",
    "hsplit",
    "msort",
    "row_stack",
    "tensor_split",
    "trapezoid",
    "trapz",
    "vsplit",
]

row_stack = _C.vstack


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """input expanded to `size`, without a copy. (torch.broadcast_to)"""
    return input.expand(tuple(size))


def common_shape(name: str, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape that all of `shapes` broadcast to."""
    rank = max((len(shape) for shape in shapes), default=0)
    common = [1] * rank
    for shape in shapes:
        for place, size in enumerate(shape, rank - len(shape)):
            if size != 1 and common[place] not in (1, size):
                raise _C.ArgumentValueError(
                    f"{name}: shapes {[tuple(s) for s in shapes]} do not broadcast together"
                )
            common[place] = size if size != 1 else common[place]
    return tuple(common)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors expanded to one shape, without copies. (torch.broadcast_tensors)"""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"broadcast_tensors: expected tensors, got {type(x).__name__}")
    shape = common_shape("broadcast_tensors", [x.shape for x in tensors])
    return tuple(x.expand(shape) for x in tensors)


def _several(tensors: tuple) -> tuple[Tensor, ...]:
    """The tensors of `f(a, b)` and of `f([a, b])`."""
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        return tuple(tensors[0])
    return tensors


def _each(raised, tensors: tuple) -> Tensor | tuple[Tensor, ...]:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return raised(tensors[0])
    return tuple(raised(x) for x in _several(tensors))


def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Scalars as vectors of one element, the others as they are. (torch.atleast_1d)"""
    return _each(lambda x: x.reshape(1) if x.ndim == 0 else x, tensors)


def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Scalars as [1, 1] and vectors as rows [1, N]. (torch.atleast_2d)"""
    return _each(lambda x: x.reshape(1, -1) if x.ndim == 0 else x[None] if x.ndim == 1 else x, tensors)


def _with_three(x: Tensor) -> Tensor:
    if x.ndim >= 3:
        return x
    return atleast_2d(x).unsqueeze(-1)


def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    """Scalars as [1, 1, 1], vectors as [1, N, 1] and matrices as [N, M, 1]. (torch.atleast_3d)"""
    return _each(_with_three, tensors)


def _of_sections_or_indices(function: Callable) -> Callable:
    """The function, whose number of parts or indices may have the name of its kind, as those of PyTorch's
    overloads."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name in ("sections", "indices", "tensor_indices_or_sections"):
            if name in kwargs and "indices_or_sections" not in kwargs:
                kwargs["indices_or_sections"] = kwargs.pop(name)
        return function(*args, **kwargs)

    return called


@takes_numpy_names
@_of_sections_or_indices
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Views along `dim`: as many parts of nearly one size, the first ones larger, or parts between indices.

    Indices are those of Python slices. Raises ValueError for a number of parts below 1 and for a scalar
    input. (torch.tensor_split)
    """
    if input.ndim == 0:
        raise _C.ArgumentValueError("tensor_split: expected at least a 1-dimensional tensor, got a scalar")
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    size = input.shape[dim]
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
        if sections <= 0:
            raise _C.ArgumentValueError(
                f"tensor_split: number of sections must be larger than 0, got {sections}"
            )
        least, larger = divmod(size, sections)
        bounds = [i * least + min(i, larger) for i in range(sections + 1)]
        parts = [slice(first, last) for first, last in zip(bounds, bounds[1:])]  # noqa: B905, RUF007
    else:
        ends = [*indices_or_sections, size]
        parts = [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]
    taken = []
    for part in parts:
        first, last, _ = part.indices(size)
        taken.append(input.narrow(dim, first, max(last - first, 0)))
    return tuple(taken)


def _split(name: str, input: Tensor, given: int | Sequence[int], least_rank: int, dim: int):
    if input.ndim < least_rank:
        raise _C.ArgumentValueError(
            f"{name} requires a tensor with at least {least_rank} dimension, got {input.ndim}"
        )
    if isinstance(given, int) and (given <= 0 or input.shape[dim] % given):
        raise _C.ArgumentValueError(
            f"{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{input.shape[dim]} is not divisible by the split_size {given}!"
        )
    return tensor_split(input, given, dim)


@_of_sections_or_indices
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along the second dimension, those of a vector along its only one. (torch.hsplit)"""
    return _split("hsplit", input, indices_or_sections, 1, 0 if input.ndim == 1 else 1)


@_of_sections_or_indices
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along the first of at least two dimensions. (torch.vsplit)"""
    return _split("vsplit", input, indices_or_sections, 2, 0)


@_of_sections_or_indices
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along the third of at least three dimensions. (torch.dsplit)"""
    return _split("dsplit", input, indices_or_sections, 3, 2)


def msort(input: Tensor) -> Tensor:
    """The elements in order along the first dimension. (torch.msort)"""
    return _C.sort(input, 0)[0]


def _areas(name: str, y: Tensor, x: Tensor | None, dx: float | None, dim: int) -> Tensor:
    """The areas of trapezoids between neighbours along `dim`."""
    if x is not None and dx is not None:
        raise TypeError(f"{name}: takes x or dx, not both")
    if y.ndim == 0:
        raise IndexError(f"{name}: expected at least one dimension, got a scalar")
    count = y.shape[dim]
    heights = y.narrow(dim, min(1, count), max(count - 1, 0)) + y.narrow(dim, 0, max(count - 1, 0))
    if x is None:
        return heights * ((1 if dx is None else dx) / 2)
    if x.ndim == 1:
        if x.shape[0] != count:
            raise _C.ArgumentValueError(
                f"{name}: there must be one `x` value for each sample point, got {x.shape[0]} for {count}"
            )
        widths = x[1:] - x[:-1]
        return heights * widths.reshape(-1, *[1] * (y.ndim - 1 - dim % y.ndim)) / 2
    steps = max(x.shape[dim] - 1, 0)
    return heights * (x.narrow(dim, 1, steps) - x.narrow(dim, 0, steps)) / 2


@takes_numpy_names
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """The integral along `dim` by the trapezoidal rule, at points `x` or `dx` (1) apart. (torch.trapezoid)"""
    if y.ndim and y.shape[dim] == 0:
        return y.sum(dim)
    return _areas("trapezoid", y, x, dx, dim).sum(dim)


@takes_numpy_names
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The integrals up to each point but the first, as trapezoid. (torch.cumulative_trapezoid)"""
    return _areas("cumulative_trapezoid", y, x, dx, dim).cumsum(dim)


trapz = trapezoid


def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshaped to the shape of other. (torch.Tensor.reshape_as)"""
    return self.reshape(other.shape)


def _type_as(self: Tensor, other: Tensor) -> Tensor:
    """Converted to the dtype of other, on its device. (torch.Tensor.type_as)"""
    return self.to(other.device).to(other.dtype)


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both have one shape. (torch.Tensor.is_same_size)"""
    return tuple(self.shape) == tuple(other.shape)


def _sum_to_size(self: Tensor, *size: int | Sequence[int]) -> Tensor:
    """Summed over the dimensions that expand `size` to the shape. (torch.Tensor.sum_to_size)"""
    target = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    extra = self.ndim - len(target)
    fits = extra >= 0 and all(t in (1, s) for s, t in zip(self.shape[extra:], target, strict=True))
    if not fits:
        raise _C.ArgumentValueError(
            f"sum_to_size: size {target} is not expandable to size {tuple(self.shape)}"
        )
    summed = [d for d in range(self.ndim) if d < extra or (target[d - extra] == 1 and self.shape[d] != 1)]
    return (self.sum(summed, True) if summed else self).reshape(target)


Tensor.broadcast_to = broadcast_to
Tensor.tensor_split = tensor_split
Tensor.hsplit = hsplit
Tensor.vsplit = vsplit
Tensor.dsplit = dsplit
Tensor.msort = msort
Tensor.reshape_as = _reshape_as
Tensor.type_as = _type_as
Tensor.is_same_size = _is_same_size
Tensor.sum_to_size = _sum_to_size
