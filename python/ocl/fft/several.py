"""Transforms along several dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ocl._C import ArgumentValueError, Tensor
from ocl.fft.transform import c2c, c2r, normalization_of, numbers_of, place_of, r2c, require_real, resized

Sizes = Sequence[int] | int | None


def _places(name: str, input: Tensor, s: Sizes, dim: Sizes) -> tuple[list[int], list[int]]:
    """The dimensions that are transformed, and their lengths (-1 for those that stay)."""
    sizes = [s] if isinstance(s, int) else None if s is None else list(s)
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    if dims is None:
        count = input.ndim if sizes is None else len(sizes)
        if count > input.ndim:
            raise ArgumentValueError(
                f"{name}: Got shape with {count} values but input tensor only has {input.ndim} dimensions."
            )
        dims = list(range(input.ndim - count, input.ndim))
    places = [place_of(name, input, d) for d in dims]
    if len({*places}) != len(places):
        raise ArgumentValueError(f"{name}: FFT dims must be unique")
    if sizes is not None and len(sizes) != len(places):
        raise ArgumentValueError(
            f"{name}: When given, dim and shape arguments must have the same length, got {len(places)} and "
            f"{len(sizes)}"
        )
    return places, [-1] * len(places) if sizes is None else sizes


def _complex(name: str, input: Tensor, s: Sizes, dim: Sizes, norm: str | None, forward: bool) -> Tensor:
    z = numbers_of(name, input, complex_wanted=True)
    places, sizes = _places(name, z, s, dim)
    z = resized(name, z, places, sizes)
    return c2c(z, places, normalization_of(name, norm, forward), forward)


def _of_real(name: str, input: Tensor, s: Sizes, dim: Sizes, norm: str | None, forward: bool) -> Tensor:
    x = numbers_of(name, input)
    require_real(name, x)
    places, sizes = _places(name, x, s, dim)
    if not places:
        raise ArgumentValueError(f"{name}: must transform at least one axis")
    x = resized(name, x, places, sizes)
    normalization = normalization_of(name, norm, forward)
    if forward:
        return r2c(x, places, normalization)
    half = r2c(x, places[-1:], normalization).conj()
    return c2c(half, places[:-1], normalization, False) if len(places) > 1 else half


def _to_real(name: str, input: Tensor, s: Sizes, dim: Sizes, norm: str | None, forward: bool) -> Tensor:
    z = numbers_of(name, input, complex_wanted=True)
    places, sizes = _places(name, z, s, dim)
    if not places:
        raise ArgumentValueError(f"{name}: must transform at least one axis")
    last = 2 * (z.shape[places[-1]] - 1) if sizes[-1] == -1 else sizes[-1]
    if last < 1:
        raise ArgumentValueError(f"{name}: Invalid number of data points ({last}) specified")
    z = resized(name, z, places, [*sizes[:-1], last // 2 + 1])
    normalization = normalization_of(name, norm, forward)
    if not forward:
        return c2r(z, places, normalization, last)
    if len(places) > 1:
        z = c2c(z, places[:-1], normalization, True)
    return c2r(z.conj(), places[-1:], normalization, last)


def fftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """The transform along `dim`, all dimensions where left out. (torch.fft.fftn)"""
    return _complex("fft.fftn", input, s, dim, norm, True)


def ifftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """The inverse of fftn. (torch.fft.ifftn)"""
    return _complex("fft.ifftn", input, s, dim, norm, False)


def rfftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """fftn of real numbers; of the last dimension the first n // 2 + 1 elements. (torch.fft.rfftn)"""
    return _of_real("fft.rfftn", input, s, dim, norm, True)


def irfftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """The inverse of rfftn. (torch.fft.irfftn)"""
    return _to_real("fft.irfftn", input, s, dim, norm, False)


def hfftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """hfft along the last of several dimensions, fft along the others. (torch.fft.hfftn)"""
    return _to_real("fft.hfftn", input, s, dim, norm, True)


def ihfftn(input: Tensor, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Tensor:
    """The inverse of hfftn. (torch.fft.ihfftn)"""
    return _of_real("fft.ihfftn", input, s, dim, norm, False)


def fft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """fftn along two dimensions. (torch.fft.fft2)"""
    return _complex("fft.fft2", input, s, dim, norm, True)


def ifft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """ifftn along two dimensions. (torch.fft.ifft2)"""
    return _complex("fft.ifft2", input, s, dim, norm, False)


def rfft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """rfftn along two dimensions. (torch.fft.rfft2)"""
    return _of_real("fft.rfft2", input, s, dim, norm, True)


def irfft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """irfftn along two dimensions. (torch.fft.irfft2)"""
    return _to_real("fft.irfft2", input, s, dim, norm, False)


def hfft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """hfftn along two dimensions. (torch.fft.hfft2)"""
    return _to_real("fft.hfft2", input, s, dim, norm, True)


def ihfft2(input: Tensor, s: Sizes = None, dim: Sizes = (-2, -1), norm: str | None = None) -> Tensor:
    """ihfftn along two dimensions. (torch.fft.ihfft2)"""
    return _of_real("fft.ihfft2", input, s, dim, norm, False)
