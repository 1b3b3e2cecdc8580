"""Exported programs whose activations and weights are int8, by ranges that sample batches show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ocl
from ocl import _C
from ocl._C import Tensor
from ocl._C._export import ExportedProgram

__all__ = ["Int8StaticActivationInt8WeightConfig", "quantize_static"]


@dataclass(frozen=True)
class Int8StaticActivationInt8WeightConfig:
    """Activations of int8 with one scale and zero a tensor, weights of int8 with a scale for each output.

    A range reaches from the least to the greatest number that calibration saw, and holds 0. Weights are
    symmetric about 0. (torchao.quantization.Int8StaticActivationInt8WeightConfig)
    """


def quantize_static(
    program: ExportedProgram,
    batches: Iterable[Any],
    config: Int8StaticActivationInt8WeightConfig | None = None,
    *,
    device: Any = "ocl:0",
) -> ExportedProgram:
    """The program in int8, by the ranges of its activations over some batches.

    Convolutions (2d), linear layers, sums, ReLU, ReLU6, max_pool2d, adaptive_avg_pool2d and cat become calls
    of int8 with sums of int32. A sum and an activation behind a convolution or a linear layer are parts of
    its call. Everything else stays float32, with int8_quantize and int8_dequantize between; so do inputs and
    results. Batch norms are folded first, as ``program.optimized()`` does.

    Args:
        program: An exported inference program of given shapes.
        batches: Sample inputs, each a tensor or a tuple of one for each input of the program. Some hundred
            samples of what the program will see are enough as a rule.
        config: How numbers are kept; there is one kind.
        device: Where the batches run.

    Raises:
        TypeError: A program or config of another class; inputs of other dtypes than the program's.
        ValueError: No batches; a range that is not finite; a dynamic program; nothing that int8 could hold.
    """
    if not isinstance(program, ExportedProgram):
        raise TypeError(f"quantize_static: expected an ExportedProgram, got {type(program).__name__}")
    if config is None:
        config = Int8StaticActivationInt8WeightConfig()
    if not isinstance(config, Int8StaticActivationInt8WeightConfig):
        raise TypeError(
            "quantize_static: expected an Int8StaticActivationInt8WeightConfig as config, got "
            f"{type(config).__name__}"
        )
    if program.symbols:
        raise ValueError(
            "quantize_static: expected a program of given shapes, got one of dynamic "
            f"{', '.join(program.symbols)}"
        )
    program = _C._quantization.prepared(program)
    return _C._quantization.quantized(program, _ranges(program, batches, device))


def _ranges(program: ExportedProgram, batches: Iterable[Any], device: Any) -> list[tuple[float, float]]:
    """The least and the greatest number of each activation over all batches."""
    observed, count = _C._quantization.observed(program)
    if count == 0:
        return []
    run = ocl.runtime.prepare(observed, device)
    ranges = [(math.inf, -math.inf)] * count
    results = len(program.outputs)
    for batch in batches:
        inputs = (batch,) if isinstance(batch, Tensor) else tuple(batch)
        extremes = [extreme.item() for extreme in run(*inputs)[results:]]
        ranges = [
            _joined(*pair)
            for pair in zip(ranges, zip(extremes[::2], extremes[1::2], strict=True), strict=True)
        ]
    return ranges


def _joined(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The range of both, NaN where a number is."""
    if any(math.isnan(number) for number in (*one, *other)):
        return math.nan, math.nan
    return min(one[0], other[0]), max(one[1], other[1])
