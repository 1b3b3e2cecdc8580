"""Functions of each element of sparse tensors: sums, products, and functions with f(0) = 0."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.sparse.coo import Parts, SparseTensor, flat_places, made
from ocl.sparse.making import positions_in

# Functions with f(0) = 0, which PyTorch has of sparse tensors. They are computed of a coalesced tensor.
ZERO_PRESERVING = (
    "abs absolute arcsin arcsinh arctan arctanh asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor "
    "frac isinf isnan isneginf isposinf log1p nan_to_num rad2deg relu round sgn sign signbit sin sinh sqrt "
    "square tan tanh trunc"
).split()


def is_sparse(x: Any) -> bool:
    return type(x) is SparseTensor


def _is_number(x: Any) -> bool:
    """Whether it multiplies every element alike: a number or a dense tensor without dimensions."""
    if isinstance(x, Tensor):
        return x.ndim == 0 and not is_sparse(x)
    return isinstance(x, numbers.Number)


def zero_preserving(name: str) -> Callable:
    """The function of that name for sparse tensors."""

    def function(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
        coalesced = input.coalesce()
        return coalesced._with(getattr(coalesced._parts.values, name)(*args, **kwargs))

    return _named(function, name, f"{name} of each element. (torch.{name})")


def _named(function: Callable, name: str, documentation: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation
    return function


def in_place(name: str, function: Callable) -> Callable:
    """The method that writes what ``function`` gives over the tensor."""

    def method(self: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
        result = function(self, *args, **kwargs)
        if not is_sparse(result):
            raise ArgumentTypeError(f"{name}: the result is dense, and cannot be written to a sparse tensor")
        return self._become(result, name)

    return _named(method, name, f"Writes what ``{name[:-1]}`` gives over the tensor. (torch.Tensor.{name})")


def neg(input: SparseTensor) -> SparseTensor:
    """The negative elements. (torch.neg)"""
    return input._with(-input._parts.values)


def positive(input: SparseTensor) -> SparseTensor:
    """The tensor itself. (torch.positive)"""
    return input


def _require_same_shape(name: str, a: Tensor, b: Tensor) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise ArgumentValueError(
            f"{name}: expected tensors of one shape where one of them is sparse, got {tuple(a.shape)} and "
            f"{tuple(b.shape)}"
        )


def _scaled(values: Tensor, alpha: float) -> Tensor:
    return values if alpha == 1 else values * alpha


def _same_places(a: Parts, b: Parts) -> bool:
    return a.indices is b.indices and a.is_coalesced and b.is_coalesced


def add(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input + alpha * other, of two sparse tensors a sparse one, of a dense and a sparse one a dense one.

    Where both are coalesced the result is, which waits. (torch.add)
    """
    if not is_sparse(other):
        raise ArgumentTypeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not isinstance(input, Tensor):
        raise ArgumentTypeError(f"add: expected a tensor beside a sparse one, got {type(input).__name__}")
    _require_same_shape("add", input, other)
    if not is_sparse(input):
        return _added_to_dense(input, other, alpha)
    if input.sparse_dim() != other.sparse_dim():
        raise ArgumentValueError(
            f"add: expected the same number of sparse dimensions, got {input.sparse_dim()} and "
            f"{other.sparse_dim()}"
        )
    a, b = input._parts, other._parts
    dtype = _C.promote_types(input.dtype, other.dtype)
    values = a.values.to(dtype), _scaled(b.values, alpha).to(dtype)
    if _same_places(a, b):
        return input._with(values[0] + values[1])
    result = made(_C.cat([a.indices, b.indices], 1), _C.cat(values, 0), input.shape, False)
    return result.coalesce() if a.is_coalesced and b.is_coalesced else result


def _added_to_dense(dense: Tensor, sparse: SparseTensor, alpha: float) -> Tensor:
    dtype = _C.promote_types(dense.dtype, sparse.dtype)
    parts, sizes = sparse._parts, sparse._sparse_sizes
    rows = dense.to(dtype).reshape(math.prod(sizes), *sparse._dense_sizes)
    values = _scaled(parts.values, alpha).to(dtype)
    return _C.index_add(rows, 0, flat_places(parts.indices, sizes), values).reshape(tuple(dense.shape))


def add_(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """Adds alpha * other in place: a sparse tensor to a dense or a sparse one. (torch.Tensor.add_)"""
    if is_sparse(self):
        return self._become(add(self, other, alpha=alpha), "add_")
    _require_same_shape("add_", self, other)
    parts, sizes = other._parts, other._sparse_sizes
    if not _C.can_cast(other.dtype, self.dtype):
        raise ArgumentTypeError(
            f"add_: result type {other.dtype} can't be cast to the desired output type {self.dtype}"
        )
    if len(sizes) != 1:
        return self.copy_(_added_to_dense(self, other, alpha))
    return self.index_add_(0, parts.indices[0], _scaled(parts.values, alpha).to(self.dtype))


def sub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """input - alpha * other, as ``add``. (torch.sub)"""
    return add(input, other, alpha=-alpha)


def sub_(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """Subtracts in place, as ``add_``. (torch.Tensor.sub_)"""
    return add_(self, other, alpha=-alpha)


def mul(input: Any, other: Any) -> SparseTensor:
    """The product of a sparse tensor and a number, a dense tensor that broadcasts to its shape, or a sparse
    one, which waits. The result is sparse. (torch.mul)
    """
    sparse, factor = (input, other) if is_sparse(input) else (other, input)
    parts = sparse._parts
    if is_sparse(factor):
        return _product_of_two(sparse, factor)
    if _is_number(factor):
        return sparse._with(parts.values * factor)
    if not isinstance(factor, Tensor):
        raise ArgumentTypeError(f"mul: expected a number or a tensor, got {type(factor).__name__}")
    return sparse._with(parts.values * _broadcast_values("mul", factor, sparse))


def _broadcast_values(name: str, dense: Tensor, sparse: SparseTensor) -> Tensor:
    """The values of a dense tensor, which broadcasts, at the places of a sparse one."""
    shape = tuple(sparse.shape)
    own = (1,) * (len(shape) - dense.ndim) + tuple(dense.shape)
    if len(own) != len(shape) or any(n not in (1, size) for n, size in zip(own, shape, strict=True)):
        raise ArgumentValueError(
            f"{name}: expected a dense tensor that broadcasts to the shape {shape} of the sparse one, got "
            f"{tuple(dense.shape)}"
        )
    indices = sparse._parts.indices
    count = indices.shape[0]
    kept = [d for d in range(count) if own[d] != 1]
    rows = dense.reshape(math.prod(own[:count]), *own[count:])
    if not kept:
        return rows
    chosen = indices if len(kept) == count else _C.stack([indices[d] for d in kept])
    return _C.index_select(rows, 0, flat_places(chosen, [own[d] for d in kept]))


def _product_of_two(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    _require_same_shape("mul", a, b)
    if a.sparse_dim() != b.sparse_dim():
        raise ArgumentValueError(
            f"mul: expected the same number of sparse dimensions, got {a.sparse_dim()} and {b.sparse_dim()}"
        )
    if _same_places(a._parts, b._parts):
        return a._with(a._parts.values * b._parts.values)
    first, second = a.coalesce()._parts, b.coalesce()._parts
    positions, is_there = positions_in(second.indices, first.indices, a._sparse_sizes)
    kept = _C.nonzero(is_there)[:, 0]
    values = first.values.index_select(0, kept) * second.values.index_select(
        0, positions.index_select(0, kept)
    )
    return made(first.indices.index_select(1, kept), values, a.shape, True)


def _divisor(name: str, input: Any, other: Any) -> Any:
    if not is_sparse(input) or not _is_number(other):
        shape = list(other.shape) if isinstance(other, Tensor) else type(other).__name__
        raise ArgumentTypeError(
            f"{name}: Sparse division requires a scalar or zero-dim dense tensor divisor (got {shape} for "
            "divisor)"
        )
    return other


def div(input: SparseTensor, other: Any, *, rounding_mode: str | None = None) -> SparseTensor:
    """A sparse tensor divided by a number. (torch.div)"""
    other = _divisor("div", input, other)
    if rounding_mode is None:
        return input._with(_C.true_divide(input._parts.values, other))
    coalesced = input.coalesce()
    return coalesced._with(_C.div(coalesced._parts.values, other, rounding_mode=rounding_mode))


def true_divide(input: SparseTensor, other: Any) -> SparseTensor:
    """A sparse tensor divided by a number. (torch.true_divide)"""
    return div(input, other)


def floor_divide(input: SparseTensor, other: Any) -> SparseTensor:
    """A sparse tensor divided by a number, rounded down. (torch.floor_divide)"""
    _divisor("floor_divide", input, other)
    coalesced = input.coalesce()
    return coalesced._with(coalesced._parts.values // other)


def pow(input: SparseTensor, exponent: float) -> SparseTensor:
    """Powers of a sparse tensor; the exponent is a number other than 0. (torch.pow)"""
    if not is_sparse(input) or not isinstance(exponent, numbers.Number):
        raise ArgumentTypeError("pow: expected a sparse tensor and a number as its exponent")
    if exponent == 0:
        raise ArgumentValueError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        )
    coalesced = input.coalesce()
    return coalesced._with(coalesced._parts.values**exponent)


def zeros_like(input: SparseTensor, *, dtype: Any = None, device: Any = None, **options: Any) -> SparseTensor:
    """A sparse tensor of that shape without elements. (torch.zeros_like)"""
    parts = input._parts
    device = device or parts.values.device
    indices = _C.zeros((parts.indices.shape[0], 0), dtype=_C.int64, device=device)
    values = _C.zeros((0, *parts.values.shape[1:]), dtype=dtype or parts.values.dtype, device=device)
    result = made(indices, values, input.shape, True)
    return result.requires_grad_() if options.get("requires_grad") else result


def zero_(self: SparseTensor) -> SparseTensor:
    """Drops all elements. (torch.Tensor.zero_)"""
    return self._become(zeros_like(self), "zero_")


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Takes the elements of another sparse tensor of that shape. (torch.Tensor.copy_)"""
    if not (is_sparse(self) and is_sparse(src)):
        raise ArgumentTypeError("copy_: copies between dense and sparse tensors are not implemented")
    _require_same_shape("copy_", self, src)
    return self._become(src.to(self.device, self.dtype).clone(), "copy_")


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape. (torch.is_same_size)"""
    return tuple(input.shape) == tuple(other.shape)
