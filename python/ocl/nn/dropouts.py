"""Dropout of whole channels of sequences and volumes, and dropout that keeps mean and variance."""

from __future__ import annotations

import math

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module

__all__ = [
    "AlphaDropout",
    "Dropout1d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "alpha_dropout",
    "dropout1d",
    "dropout3d",
    "feature_alpha_dropout",
]

_LIMIT = -1.7580993408473766  # where SELU of minus infinity ends


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _channels_dropped(axes: int, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.ndim not in (axes + 1, axes + 2):
        raise _C.ArgumentValueError(
            f"dropout{axes}d: expected {axes + 1}D or {axes + 2}D input, but received a {input.ndim}D input"
        )
    if not training or p == 0:
        return input
    mask = _C.ones((*input.shape[:-axes], *[1] * axes), dtype=input.dtype, device=input.device)
    result = input * _C.dropout(mask, p, True)
    return input.copy_(result) if inplace else result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels [N, C, L] or [C, L] set to 0, the others scaled. (torch.nn.functional.dropout1d)"""
    return _channels_dropped(1, input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels [N, C, D, H, W] or [C, D, H, W] set to 0, the others scaled.
    (torch.nn.functional.dropout3d)
    """
    return _channels_dropped(3, input, p, training, inplace)


def _alpha_dropped(input: Tensor, shape: tuple[int, ...], p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        result = input * 0
    else:
        scale = 1 / math.sqrt((_LIMIT * _LIMIT * p + 1) * (1 - p))
        kept = _C.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
        dropped_to = (1 - kept) * (_LIMIT * scale)
        result = input * (kept * scale) + dropped_to - _LIMIT * scale * p
    return input.copy_(result) if inplace else result


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Elements set to what SELU gives far below 0, and all scaled and moved: mean 0 and variance 1 stay.
    (torch.nn.functional.alpha_dropout)
    """
    return _alpha_dropped(input, tuple(input.shape), p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels [N, C, ...]. (torch.nn.functional.feature_alpha_dropout)"""
    if input.ndim < 2 and training:
        raise _C.ArgumentValueError(
            "feature_alpha_dropout: feature dropout requires at least 2 dimensions in the input, got "
            f"{input.ndim}"
        )
    shape = (*input.shape[:2], *[1] * (input.ndim - 2))
    return _alpha_dropped(input, shape, p, training, inplace)


class _Dropout(Module):
    _function = staticmethod(alpha_dropout)

    def _set(self, p: float, inplace: bool) -> None:
        _check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(_Dropout):
    """dropout1d in training. (torch.nn.Dropout1d)"""

    _function = staticmethod(dropout1d)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self._set(p, inplace)


class Dropout3d(_Dropout):
    """dropout3d in training. (torch.nn.Dropout3d)"""

    _function = staticmethod(dropout3d)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self._set(p, inplace)


class AlphaDropout(_Dropout):
    """alpha_dropout in training. (torch.nn.AlphaDropout)"""

    _function = staticmethod(alpha_dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self._set(p, inplace)


class FeatureAlphaDropout(_Dropout):
    """feature_alpha_dropout in training. (torch.nn.FeatureAlphaDropout)"""

    _function = staticmethod(feature_alpha_dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self._set(p, inplace)
