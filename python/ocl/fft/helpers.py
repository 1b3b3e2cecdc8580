"""Frequencies of a transform's elements, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import ArgumentValueError, Tensor


def _frequencies(whole: Tensor, n: int, d: float, requires_grad: bool) -> Tensor:
    result = whole * (1.0 / (n * d))
    return result.requires_grad_() if requires_grad else result


def _require_length(name: str, n: int) -> None:
    if n < 1:
        raise ArgumentValueError(f"fft.{name}: expected a length of at least 1, got {n}")


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of fft's `n` elements, for samples `d` apart: 0, 1, ... and then the negative ones,
    over n d. (torch.fft.fftfreq)
    """
    _require_length("fftfreq", n)
    half = (n + 1) // 2
    options = {"dtype": dtype or _C.float32, "device": device}
    whole = _C.cat([_C.arange(0, half, **options), _C.arange(-(n // 2), 0, **options)])
    return _frequencies(whole, n, d, requires_grad)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of rfft's n // 2 + 1 elements. (torch.fft.rfftfreq)"""
    _require_length("rfftfreq", n)
    whole = _C.arange(0, n // 2 + 1, dtype=dtype or _C.float32, device=device)
    return _frequencies(whole, n, d, requires_grad)


def _dims(input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    if dim is None:
        return list(range(input.ndim))
    return [dim] if isinstance(dim, int) else list(dim)


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The elements of fft in the order of their frequencies, 0 in the middle. (torch.fft.fftshift)"""
    dims = _dims(input, dim)
    return _C.roll(input, [input.shape[d] // 2 for d in dims], dims) if dims else input.clone()


def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of fftshift. (torch.fft.ifftshift)"""
    dims = _dims(input, dim)
    return _C.roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims) if dims else input.clone()
