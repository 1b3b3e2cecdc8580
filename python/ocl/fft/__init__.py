"""Discrete Fourier transforms and what goes with them, under the names of torch.fft.

They take complex tensors, and real ones where a name begins with r: float32 and float64, complex64 and
complex128; whole numbers count as float32. ``n`` and ``s`` are lengths that a dimension is cut or filled up
with zeros to. ``norm`` says what divides: "backward" (the default) divides inverse transforms by the
number of elements, "forward" forward ones, and "ortho" both by its root.
"""

from ocl.fft.helpers import fftfreq, fftshift, ifftshift, rfftfreq
from ocl.fft.several import (
    fft2,
    fftn,
    hfft2,
    hfftn,
    ifft2,
    ifftn,
    ihfft2,
    ihfftn,
    irfft2,
    irfftn,
    rfft2,
    rfftn,
)
from ocl.fft.single import fft, hfft, ifft, ihfft, irfft, rfft

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
