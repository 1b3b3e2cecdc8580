"""Fourier transforms: the same along the next dimensions of a batch."""

from __future__ import annotations

from typing import Any

from ocl.batching.rules import Call, rule
from ocl.batching.rules.dims import shift

__all__: list[str] = []


@rule("_fft_c2c", "_fft_r2c", "_fft_c2r")
def _transform(call: Call) -> Any:
    """Dimensions of complex numbers do not count that of their two parts."""
    batch = call.batch("input")
    rank = batch.dim() - (1 if call.name == "_fft_r2c" else 2)
    return call.again(input=batch, dim=shift(call["dim"], rank))
