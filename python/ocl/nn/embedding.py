"""Embeddings with sparse gradients, bounded norms and gradients scaled by frequency.

Without these, functions and layers are the operators of C++; with them they are composed here.
"""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.autograd.function import Function
from ocl.nn.parameter import Parameter
from ocl.shapes import shapes_only
from ocl.sparse.arriving import deliver, watch
from ocl.sparse.coo import made

__all__ = ["Embedding", "EmbeddingBag", "embedding", "embedding_bag"]


class _SparseRows(Function):
    """Rows of a weight, which gets a sparse gradient where it is a leaf."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, indices: Tensor, padding_idx: int | None) -> Tensor:
        if weight.is_leaf and weight.requires_grad:
            watch(weight)
        ctx.weight, ctx.padding_idx = weight, padding_idx
        ctx.save_for_backward(indices)
        return _C.embedding(indices, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple:
        (indices,) = ctx.saved_tensors
        weight, places = ctx.weight, indices.reshape(-1).to(_C.int64)
        values = gradient.reshape(-1, weight.shape[1])
        if ctx.padding_idx is not None:
            kept = _C.nonzero(places != ctx.padding_idx)[:, 0]
            places, values = places.index_select(0, kept), values.index_select(0, kept)
        sparse = made(places.unsqueeze(0), values, weight.shape, False)
        if not weight.is_leaf:
            return sparse.to_dense(), None, None
        deliver(weight, sparse)
        return None, None, None


class _ScaledGradient(Function):
    """Its input; the gradient is multiplied by factors."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, factors: Tensor) -> Tensor:
        ctx.save_for_backward(factors)
        return rows.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple:
        (factors,) = ctx.saved_tensors
        return gradient * factors, None


def _bound_norms(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are looked up, in place, where their norm is above max_norm."""
    places, own = indices.reshape(-1).to(_C.int64), weight.detach()
    rows = own.index_select(0, places)
    norms = _C.norm(rows, norm_type, [1], True)
    factors = _C.where(norms > max_norm, max_norm / (norms + 1e-7), _C.ones_like(norms))
    own.index_copy_(0, places, rows * factors)


def _padding_place(padding_idx: int | None, weight: Tensor) -> int | None:
    if padding_idx is None:
        return None
    count = weight.shape[0]
    if not -count <= padding_idx < count:
        raise ArgumentValueError(
            f"embedding: padding_idx must be within num_embeddings ({count}), got {padding_idx}"
        )
    return padding_idx % count


def _rows(weight: Tensor, indices: Tensor, padding_idx: int | None, by_freq: bool, sparse: bool) -> Tensor:
    if weight.ndim != 2:
        raise ArgumentValueError(f"embedding: expected a weight of 2 dimensions, got {tuple(weight.shape)}")
    if not sparse:
        rows = _C.embedding(indices, weight, padding_idx)
        return _by_frequency(rows, weight, indices) if by_freq else rows
    if by_freq:
        raise ArgumentTypeError("embedding: scale_grad_by_freq is not supported with sparse gradients")
    return _SparseRows.apply(weight, indices, _padding_place(padding_idx, weight))


def _by_frequency(rows: Tensor, weight: Tensor, indices: Tensor) -> Tensor:
    places = indices.reshape(-1).to(_C.int64)
    ones = _C.ones(places.shape[0], dtype=weight.dtype, device=weight.device)
    counts = _C.zeros(weight.shape[0], dtype=weight.dtype, device=weight.device).index_add(0, places, ones)
    factors = (1 / counts.index_select(0, places)).reshape(*indices.shape, 1)
    return _ScaledGradient.apply(rows, factors)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of weight [count, features] that input names, in the shape [*input, features]; row padding_idx
    gets no gradient.

    With ``max_norm`` rows that are looked up are scaled in place where their norm is above it. With
    ``scale_grad_by_freq`` gradients are divided by how often input names a row. With ``sparse`` the gradient
    of a weight that is a leaf is a sparse tensor. Matches torch.nn.functional.embedding.
    """
    if max_norm is not None:
        _bound_norms(weight, input, max_norm, norm_type)
    if sparse or scale_grad_by_freq:
        return _rows(weight, input, padding_idx, scale_grad_by_freq, sparse)
    return _C.embedding(input, weight, padding_idx)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima over bags of rows of weight [count, features] that input names: [bags, features];
    row padding_idx is left out.

    Each row of input [B, N] is a bag, or of input [N] the indices from one of the offsets to the next. The
    other arguments are those of ``embedding``; maxima take neither ``scale_grad_by_freq`` nor ``sparse``.
    Matches torch.nn.functional.embedding_bag.
    """
    if max_norm is not None:
        _bound_norms(weight, input, max_norm, norm_type)
    if not (sparse or scale_grad_by_freq):
        return _C.embedding_bag(
            input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx
        )
    if mode == "max":
        what = "sparse weights" if sparse else "scaling the gradient by the frequency"
        raise ArgumentValueError(f"embedding_bag: max mode does not support {what}")
    # The operator checks the arguments, and computes the shape.
    with shapes_only():
        shape = _C.embedding_bag(
            input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx
        ).shape
    padding_idx = _padding_place(padding_idx, weight)
    bags, counts = _bags(input, offsets, include_last_offset, weight.dtype)
    flat = input.reshape(-1)
    if padding_idx is not None:
        counts = counts * (flat != padding_idx)
    factors = counts if per_sample_weights is None else counts * per_sample_weights.reshape(-1)
    rows = _rows(weight, flat, padding_idx, scale_grad_by_freq, sparse) * factors.unsqueeze(1)
    start = _C.zeros(shape, dtype=weight.dtype, device=weight.device)
    total = start.index_add(0, bags, rows)
    if mode == "sum":
        return total
    sizes = start[:, 0].index_add(0, bags, counts) if shape[1] else start.sum(1)
    return total / sizes.clamp(min=1).unsqueeze(1)


def _bags(
    input: Tensor, offsets: Tensor | None, include_last_offset: bool, dtype: Any
) -> tuple[Tensor, Tensor]:
    """The bag of each index, and 1 for each that is in a bag."""
    positions = _C.arange(input.numel(), device=input.device)
    ones = _C.ones(input.numel(), dtype=dtype, device=input.device)
    if input.ndim == 2:
        return positions // max(input.shape[1], 1), ones
    starts = offsets[:-1] if include_last_offset else offsets
    bags = _C.searchsorted(starts.to(_C.int64), positions, right=True) - 1
    return bags, ones * (positions < offsets[-1]) if include_last_offset else ones


class _Options:
    """The settings that are kept in Python."""

    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False

    def _set(self, max_norm: float | None, norm_type: float, scale_grad_by_freq: bool, sparse: bool) -> None:
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    def _is_plain(self) -> bool:
        return self.max_norm is None and not (self.sparse or self.scale_grad_by_freq)

    def _take(self, weight: Tensor, freeze: bool) -> None:
        """Gives the layer its rows."""
        if tuple(weight.shape) != (self.num_embeddings, self.embedding_dim):
            raise ArgumentValueError(
                f"{type(self).__name__}: Shape of weight does not match num_embeddings and embedding_dim: "
                f"{tuple(weight.shape)} and ({self.num_embeddings}, {self.embedding_dim})"
            )
        self.weight = Parameter(weight, requires_grad=not freeze)

    def _described(self) -> str:
        text = ""
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text


def _require_matrix(name: str, embeddings: Tensor) -> tuple[int, int]:
    if embeddings.ndim != 2:
        raise ArgumentValueError(
            f"{name}: Embeddings parameter is expected to be 2-dimensional, got shape "
            f"{tuple(embeddings.shape)}"
        )
    return tuple(embeddings.shape)


class Embedding(_Options, _C._nn.Embedding):
    """A table of rows looked up by number: [...] -> [..., embedding_dim].

    With ``sparse=True`` the gradient of ``weight`` is a sparse tensor, which SGD, Adagrad and SparseAdam
    take. ``max_norm``, ``norm_type`` and ``scale_grad_by_freq`` are those of ``functional.embedding``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if _weight is None:
            super().__init__(num_embeddings, embedding_dim, padding_idx, device=device, dtype=dtype)
            if _freeze:
                self.weight.requires_grad_(False)
        else:
            with shapes_only():
                super().__init__(num_embeddings, embedding_dim, padding_idx, device=device, dtype=dtype)
            self._take(_weight, _freeze)
        self._set(max_norm, norm_type, scale_grad_by_freq, sparse)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """With the rows given, which are not trained unless freeze is False."""
        return cls(
            *_require_matrix("Embedding", embeddings),
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def forward(self, input: Tensor) -> Tensor:
        if self._is_plain():
            return super().forward(input)
        return embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        return super().extra_repr() + self._described() + (", sparse=True" if self.sparse else "")


class EmbeddingBag(_Options, _C._nn.EmbeddingBag):
    """Sums, means or maxima over bags of rows: indices [B, N], or [N] with the offsets where bags begin,
    -> [B, embedding_dim]. The other settings are those of ``Embedding``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        own = (num_embeddings, embedding_dim, mode, include_last_offset, padding_idx, device, dtype)
        if _weight is None:
            super().__init__(*own)
        else:
            with shapes_only():
                super().__init__(*own)
            self._take(_weight, False)
        self._set(max_norm, norm_type, scale_grad_by_freq, sparse)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """With the rows given, which are not trained unless freeze is False."""
        bag = cls(
            *_require_matrix("EmbeddingBag", embeddings),
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad_(not freeze)
        return bag

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        if self._is_plain():
            return super().forward(input, offsets, per_sample_weights)
        return embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        head, comma, rest = super().extra_repr().partition(", mode=")
        return head + self._described() + comma + rest


def adopt(net: Any) -> Any:
    """The net, in which the embeddings that C++ made are of the classes here."""
    classes = {_C._nn.Embedding: Embedding, _C._nn.EmbeddingBag: EmbeddingBag}
    for module in net.modules():
        if type(module) in classes:
            module.__class__ = classes[type(module)]
    return net
