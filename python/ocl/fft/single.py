"""Transforms along one dimension."""

from __future__ import annotations

from ocl._C import ArgumentValueError, Tensor
from ocl.fft.transform import c2c, c2r, normalization_of, numbers_of, place_of, r2c, require_real, resized


def _complex(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    z = numbers_of(f"fft.{name}", input, complex_wanted=True)
    place = place_of(f"fft.{name}", z, dim)
    z = resized(f"fft.{name}", z, [place], [z.shape[place] if n is None else n])
    return c2c(z, [place], normalization_of(f"fft.{name}", norm, forward), forward)


def _of_real(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = numbers_of(f"fft.{name}", input)
    require_real(f"fft.{name}", x)
    place = place_of(f"fft.{name}", x, dim)
    x = resized(f"fft.{name}", x, [place], [x.shape[place] if n is None else n])
    half = r2c(x, [place], normalization_of(f"fft.{name}", norm, forward))
    return half if forward else half.conj()


def _to_real(name: str, input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    z = numbers_of(f"fft.{name}", input, complex_wanted=True)
    place = place_of(f"fft.{name}", z, dim)
    size = 2 * (z.shape[place] - 1) if n is None else n
    if size < 1:
        raise ArgumentValueError(f"fft.{name}: Invalid number of data points ({size}) specified")
    z = resized(f"fft.{name}", z, [place], [size // 2 + 1])
    normalization = normalization_of(f"fft.{name}", norm, forward)
    return c2r(z.conj() if forward else z, [place], normalization, size)


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of `n` elements along `dim`; complex. (torch.fft.fft)"""
    return _complex("fft", input, n, dim, norm, True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of fft. (torch.fft.ifft)"""
    return _complex("ifft", input, n, dim, norm, False)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 elements of the transform of real numbers. (torch.fft.rfft)"""
    return _of_real("rfft", input, n, dim, norm, True)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of rfft: `n` real numbers, 2 (size - 1) where left out. (torch.fft.irfft)"""
    return _to_real("irfft", input, n, dim, norm, False)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform, `n` real numbers, of half a signal whose other half is conjugate. (torch.fft.hfft)"""
    return _to_real("hfft", input, n, dim, norm, True)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of hfft. (torch.fft.ihfft)"""
    return _of_real("ihfft", input, n, dim, norm, False)
