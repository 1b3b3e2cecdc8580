"""The class of sparse tensors in coordinate format.

A sparse tensor is an ``ocl.Tensor`` in Python whose C++ half is a shape without elements (see
``shapes_only``). So shape, dtype and device are at hand, and ``.grad`` and buffers of modules can hold it. An
operator that does not know the layout raises where it would read elements. The elements lie in two dense
tensors, which Python keeps: ``indices`` [sparse_dim, nnz] and ``values`` [nnz, *dense sizes]. Operators on
sparse tensors are operators on those two, so that gradients flow to the values by the tape.
"""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.size import Size
from ocl.sparse.layouts import layout, sparse_coo


class Parts(NamedTuple):
    """The two tensors that hold the elements; coalesced: sorted, each place once."""

    indices: Tensor
    values: Tensor
    is_coalesced: bool


def _shape_alone(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    before = _C._set_shapes_only(True)
    try:
        return _C.empty(tuple(shape), dtype=dtype, device=device)
    finally:
        _C._set_shapes_only(before)


def flat_places(indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """The places [nnz] of indices [len(sizes), nnz] in a row-major tensor of those sizes.

    An index out of range gives a place out of range, so that kernels find it.
    """
    if not sizes:
        return _C.zeros(indices.shape[1], dtype=_C.int64, device=indices.device)
    places = indices[0]
    for d, size in enumerate(sizes[1:], 1):
        index = indices[d]
        is_in_range = (index >= 0) & (index < size)
        places = _C.where(is_in_range, places * size + index, -1)
    return places


def _indices_of(places: Tensor, sizes: Sequence[int]) -> Tensor:
    """The indices [len(sizes), nnz] of places in a row-major tensor."""
    if not sizes:
        return _C.zeros((0, places.shape[0]), dtype=_C.int64, device=places.device)
    rows = []
    for size in reversed(sizes[1:]):
        rows.append(places % size)
        places = places // size
    return _C.stack([places, *reversed(rows)])


def summed(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """The sums [count, ...] of values [nnz, ...] by the group of each; of truths whether any holds."""
    if values.dtype == _C.bool_:
        return summed(values.to(_C.int32), groups, count) != 0
    start = _C.zeros((count, *values.shape[1:]), dtype=values.dtype, device=values.device)
    return _C.index_add(start, 0, groups, values)


def coalesced(parts: Parts, sizes: Sequence[int]) -> Parts:
    """Sorts the elements, and adds up those of one place. Waits for their number, unless there is at most
    one.
    """
    if parts.is_coalesced:
        return parts
    if parts.indices.shape[1] < 2:
        return parts._replace(is_coalesced=True)
    if not sizes:  # of a scalar: all are the same place
        groups = _C.zeros(parts.indices.shape[1], dtype=_C.int64, device=parts.indices.device)
        return Parts(parts.indices[:, :1], summed(parts.values, groups, 1), True)
    if math.prod(sizes) >= 2**63:
        raise ArgumentValueError(
            f"coalesce: expected fewer than 2**63 places, got sparse sizes {tuple(sizes)}"
        )
    places, groups = _C.unique(flat_places(parts.indices, sizes), True, True)
    values = summed(parts.values, groups, places.shape[0])
    return Parts(_indices_of(places, sizes), values, True)


class SparseTensor(Tensor):
    """A sparse tensor in coordinate format, as ``ocl.sparse_coo_tensor`` makes it."""

    _sparse_parts: Parts

    @property
    def _parts(self) -> Parts:
        parts = self.__dict__.get("_sparse_parts")
        if parts is None:
            raise ArgumentTypeError(
                f"a tensor of shape {tuple(self.shape)} was made of a sparse tensor by an operator that "
                "does not know the layout ocl.sparse_coo: to_dense() first"
            )
        return parts

    @property
    def _sparse_sizes(self) -> tuple[int, ...]:
        return tuple(self.shape[: self._parts.indices.shape[0]])

    @property
    def _dense_sizes(self) -> tuple[int, ...]:
        return tuple(self.shape[self._parts.indices.shape[0] :])

    def _with(self, values: Tensor, is_coalesced: bool | None = None) -> SparseTensor:
        """Other values [nnz, ...] at the same places."""
        parts = self._parts
        is_coalesced = parts.is_coalesced if is_coalesced is None else is_coalesced
        return made(parts.indices, values, (*self._sparse_sizes, *values.shape[1:]), is_coalesced)

    def _become(self, other: SparseTensor, name: str) -> SparseTensor:
        """Takes the elements of another of the same dtype, for an operator in place."""
        is_training_leaf = self.requires_grad and self.is_leaf
        if is_training_leaf and _C.is_grad_enabled():
            raise RuntimeError(
                f"{name}: a leaf Variable that requires grad is being used in an in-place operation."
            )
        if other.dtype != self.dtype:
            raise ArgumentTypeError(
                f"{name}: result type {other.dtype} can't be cast to the desired output type {self.dtype}"
            )
        if other.shape != self.shape:
            Tensor.data.__set__(self, _shape_alone(other.shape, self.dtype, self.device))
        parts = other._parts
        if is_training_leaf:
            parts = parts._replace(values=parts.values.detach().requires_grad_())
        self._sparse_parts = parts
        return self

    # --- what it consists of

    @property
    def layout(self) -> layout:
        """``ocl.sparse_coo``. (torch.Tensor.layout)"""
        return sparse_coo

    @property
    def is_sparse(self) -> bool:
        """True. (torch.Tensor.is_sparse)"""
        return True

    def sparse_dim(self) -> int:
        """The number of dimensions that the indices name. (torch.Tensor.sparse_dim)"""
        return self._parts.indices.shape[0]

    def dense_dim(self) -> int:
        """The number of dimensions of each value. (torch.Tensor.dense_dim)"""
        return self.ndim - self.sparse_dim()

    def _nnz(self) -> int:
        return self._parts.indices.shape[1]

    def is_coalesced(self) -> bool:
        """Whether the indices are known to be sorted, each once. (torch.Tensor.is_coalesced)"""
        return self._parts.is_coalesced

    def _coalesced_(self, is_coalesced: bool) -> SparseTensor:
        self._sparse_parts = self._parts._replace(is_coalesced=is_coalesced)
        return self

    def coalesce(self) -> SparseTensor:
        """The tensor with sorted indices, each once, and values added up; itself where it is so already.

        Waits for the number of indices. (torch.Tensor.coalesce)
        """
        if self._parts.is_coalesced:
            return self
        return made(*coalesced(self._parts, self._sparse_sizes)[:2], self.shape, True)

    def _coalesced_parts(self, name: str) -> Parts:
        if not self._parts.is_coalesced:
            raise ArgumentValueError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )
        return self._parts

    def indices(self) -> Tensor:
        """The indices [sparse_dim, nnz] of a coalesced tensor. (torch.Tensor.indices)"""
        return self._coalesced_parts("indices").indices

    def values(self) -> Tensor:
        """The values [nnz, *dense sizes] of a coalesced tensor, with their history. (torch.Tensor.values)"""
        return self._coalesced_parts("values").values

    def _indices(self) -> Tensor:
        return self._parts.indices

    def _values(self) -> Tensor:
        return self._parts.values.detach()

    # --- other forms

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """The tensor with all its elements, zeros included. (torch.Tensor.to_dense)"""
        parts = self._parts
        count = math.prod(self._sparse_sizes)
        dense = summed(parts.values, flat_places(parts.indices, self._sparse_sizes), count)
        dense = dense.reshape(tuple(self.shape))
        return dense if dtype is None else dense.to(dtype)

    def to_sparse(
        self,
        sparse_dim: int | None = None,
        *,
        layout: Any = None,
        blocksize: Any = None,
        dense_dim: Any = None,
    ) -> SparseTensor:
        """Itself. (torch.Tensor.to_sparse)"""
        if layout not in (None, sparse_coo):
            raise ArgumentTypeError(f"to_sparse: there are no tensors of layout {layout}")
        if sparse_dim not in (None, self.sparse_dim()):
            raise ArgumentValueError(
                f"to_sparse: expected sparse_dim {self.sparse_dim()}, which the tensor has, got {sparse_dim}"
            )
        return self

    def to_sparse_coo(self) -> SparseTensor:
        """Itself. (torch.Tensor.to_sparse_coo)"""
        return self

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """On another device or of another dtype, as a dense tensor's ``to``. (torch.Tensor.to)"""
        parts = self._parts
        args = tuple(a._parts.values if type(a) is SparseTensor else a for a in args)
        values = parts.values.to(*args, **kwargs)
        if values is parts.values:
            return self
        return made(parts.indices.to(values.device), values, self.shape, parts.is_coalesced)

    def cpu(self) -> SparseTensor:
        """On a CPU. (torch.Tensor.cpu)"""
        parts = self._parts
        values = parts.values.cpu()
        if values is parts.values:
            return self
        return made(parts.indices.cpu(), values, self.shape, parts.is_coalesced)

    def type(self, dtype: Any = None) -> Any:
        """The name of its type, or the tensor in another dtype. (torch.Tensor.type)"""
        if dtype is not None:
            return self.to(dtype)
        return "ocl.sparse." + self._parts.values.type().rpartition(".")[2]

    def clone(self, *, memory_format: Any = None) -> SparseTensor:
        """A copy. (torch.Tensor.clone)"""
        parts = self._parts
        return made(parts.indices.clone(), parts.values.clone(), self.shape, parts.is_coalesced)

    def detach(self) -> SparseTensor:
        """A tensor over this memory, unknown to the tape. (torch.Tensor.detach)"""
        return self._with(self._parts.values.detach())

    @property
    def data(self) -> SparseTensor:
        """A tensor over this memory, unknown to the tape."""
        return self.detach()

    @data.setter
    def data(self, other: SparseTensor) -> None:
        if type(other) is not SparseTensor:
            raise ArgumentTypeError("data: expected a sparse tensor")
        with_grad = self.requires_grad
        self._sparse_parts = other._parts._replace(values=other._parts.values.detach())
        Tensor.data.__set__(self, _shape_alone(other.shape, other.dtype, other.device))
        self._sparse_parts.values.requires_grad_(with_grad)

    # --- the tape

    @property
    def requires_grad(self) -> bool:
        """Whether the values require gradients."""
        return self._parts.values.requires_grad

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        self.requires_grad_(on)

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Asks for gradients: ``grad`` is then a sparse tensor. (torch.Tensor.requires_grad_)"""
        parts = self._parts
        if requires_grad and not parts.values.requires_grad:  # not of the tensor that the caller gave
            self._sparse_parts = parts._replace(values=parts.values.detach().requires_grad_())
        else:
            parts.values.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the values are a leaf of the graph."""
        return self._parts.values.is_leaf

    @property
    def grad_fn(self) -> Any:
        """The tape's record of how the values were made."""
        return self._parts.values.grad_fn

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient at the places that the tensor has, each once, as a sparse tensor."""
        parts = self._parts
        if parts.values.grad is None:
            return None
        if parts.is_coalesced:
            return self._with(parts.values.grad)
        # The values of one place have the same gradient.
        ones = _C.ones(parts.indices.shape[1], dtype=parts.values.dtype, device=parts.values.device)
        counts = coalesced(Parts(parts.indices, ones, False), self._sparse_sizes)
        total = coalesced(Parts(parts.indices, parts.values.grad, False), self._sparse_sizes).values
        mean = total / counts.values.reshape(-1, *[1] * self.dense_dim())
        return made(counts.indices, mean, self.shape, True)

    @grad.setter
    def grad(self, grad: Tensor | None) -> None:
        if grad is not None:
            raise ArgumentTypeError("grad: the gradient of a sparse tensor cannot be given, only dropped")
        self._parts.values.grad = None

    def register_hook(self, hook: Callable[[SparseTensor], SparseTensor | None]) -> Any:
        """Calls hook(gradient) with each gradient of the values, as a sparse tensor at the places of this
        one; what it returns, unless None, takes its place. (torch.Tensor.register_hook)
        """
        parts, shape = self._parts, self.shape

        def of_values(gradient: Tensor) -> Tensor | None:
            given = made(parts.indices, gradient, shape, parts.is_coalesced)
            replaced = hook(given)
            if replaced is None:
                return None
            if type(replaced) is not SparseTensor or replaced._parts.values.shape != gradient.shape:
                raise ArgumentTypeError(
                    "a hook of a sparse tensor must return None or a sparse tensor of the gradient's places, "
                    f"got {type(replaced).__name__} of shape {tuple(replaced.shape)}"
                )
            return replaced._parts.values

        return parts.values.register_hook(of_values)

    def register_post_accumulate_grad_hook(self, hook: Callable[[SparseTensor], None]) -> Any:
        """Calls hook(tensor) once ``grad`` has its gradient.
        (torch.Tensor.register_post_accumulate_grad_hook)
        """
        held = weakref.ref(self)

        def of_values(values: Tensor) -> None:
            own = held()
            if own is not None:
                hook(own)

        return self._parts.values.register_post_accumulate_grad_hook(of_values)

    def retain_grad(self) -> None:
        """Keeps the gradient of a tensor that is no leaf. (torch.Tensor.retain_grad)"""
        self._parts.values.retain_grad()

    @property
    def retains_grad(self) -> bool:
        """Whether the gradient of a tensor that is no leaf is kept."""
        return self._parts.values.retains_grad

    # --- Python's

    def stride(self, dim: int | None = None) -> Any:
        """Zeros: a sparse tensor has no strides. (torch.Tensor.stride)"""
        return (0,) * self.ndim if dim is None else 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """False. (torch.Tensor.is_contiguous)"""
        return False

    def __repr__(self, **options: Any) -> str:
        parts = self._parts
        text = (
            f"tensor(indices={_plain(parts.indices, 15)},\n       values={_plain(parts.values, 14)},\n"
            f"       size={tuple(self.shape)}, nnz={self._nnz()}, device='{self.device}'"
        )
        if self.dtype not in (_C.float32, _C.int64, _C.bool_):
            text += f", dtype={self.dtype}"
        text += f", layout={self.layout}"
        if self.grad_fn is not None:
            text += f", grad_fn=<{self.grad_fn.name()}>"
        elif self.requires_grad:
            text += ", requires_grad=True"
        return text + ")"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __copy__(self) -> SparseTensor:
        return made(*self._parts[:2], self.shape, self._parts.is_coalesced)

    def __deepcopy__(self, memo: dict) -> SparseTensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                "at the moment."
            )
        if id(self) not in memo:
            copied = self.detach().clone()
            memo[id(self)] = copied.requires_grad_() if self.requires_grad else copied
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple:
        parts = self._parts
        arguments = (parts.indices, parts.values.detach(), tuple(self.shape), parts.is_coalesced)
        return _rebuilt, (*arguments, self.requires_grad)


_SUFFIX = re.compile(r",\s+(device|dtype|requires_grad|grad_fn)=[^,)]+(?=[,)])")


def _plain(tensor: Tensor, indent: int) -> str:
    """A tensor as it prints, without what the sparse tensor says for both, its lines moved by `indent`."""
    head, bracket, tail = repr(tensor.detach()).rpartition("]")
    return (head + bracket + _SUFFIX.sub("", tail)).replace("\n", "\n" + " " * indent)


is_in_use = False  # whether a sparse tensor has been made in this process


def made(indices: Tensor, values: Tensor, shape: Sequence[int], is_coalesced: bool) -> SparseTensor:
    """A sparse tensor over these tensors, which fit."""
    global is_in_use
    is_in_use = True
    tensor = Tensor._make_subclass(SparseTensor, _shape_alone(shape, values.dtype, values.device))
    tensor._sparse_parts = Parts(indices, values, is_coalesced)
    return tensor


def _rebuilt(indices: Tensor, values: Tensor, shape: tuple, is_coalesced: bool, requires_grad: bool) -> Any:
    result = made(indices, values, shape, is_coalesced)
    return result.requires_grad_() if requires_grad else result


def no_elements(shape: Sequence[int], sparse_dim: int, dtype: Any, device: Any) -> SparseTensor:
    """A sparse tensor whose elements are all 0."""
    indices = _C.zeros((sparse_dim, 0), dtype=_C.int64, device=device)
    values = _C.zeros((0, *shape[sparse_dim:]), dtype=dtype, device=indices.device)
    return made(indices, values, Size(shape), True)
