"""How weights are quantised."""

from __future__ import annotations

from dataclasses import dataclass

from ocl import _C
from ocl._C import Tensor

__all__ = ["Int4WeightOnlyConfig", "Int8WeightOnlyConfig", "WeightOnlyConfig"]

GROUP_SIZES = (32, 64, 128, 256)


class WeightOnlyConfig:
    """Base of the ways in which the weight [out, in] of a linear layer is kept in few bits."""

    def quantize(self, weight: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The weight as :func:`ocl.quantization.quantized_linear` takes it: weight, scales and zeros."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Int8WeightOnlyConfig(WeightOnlyConfig):
    """Eight bits with a scale for each output, symmetric. (torchao.quantization.Int8WeightOnlyConfig)

    The numbers are torchao's, whose scales are float32, too.
    """

    def quantize(self, weight: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        numbers, scales = _C.quantize_int8(weight)
        return numbers, scales, None

    def extra_repr(self) -> str:
        return "int8"


@dataclass(frozen=True)
class Int4WeightOnlyConfig(WeightOnlyConfig):
    """Four bits in groups along the inputs. (torchao.quantization.Int4WeightOnlyConfig)

    Each group has a scale and a zero, which is a floating-point number, in the weight's dtype.

    Args:
        group_size: 32, 64, 128 or 256 neighbours along the inputs, a divisor of their number.

    Raises:
        ValueError: Another group_size.
    """

    group_size: int = 128

    def __post_init__(self) -> None:
        if self.group_size not in GROUP_SIZES:
            raise ValueError(
                f"Int4WeightOnlyConfig: expected a group_size of 32, 64, 128 or 256, got {self.group_size}"
            )

    def quantize(self, weight: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        numbers, scales, zeros = _C.quantize_int4(weight, self.group_size)
        return numbers, scales, zeros

    def extra_repr(self) -> str:
        return f"int4, group_size={self.group_size}"
