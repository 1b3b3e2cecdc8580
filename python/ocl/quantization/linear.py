"""A linear layer whose weight is kept in few bits."""

from __future__ import annotations

from typing import Any

import ocl
from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.nn.parameter import Parameter
from ocl.quantization.configs import WeightOnlyConfig

__all__ = ["QuantizedLinear"]


class QuantizedLinear(Module):
    """A linear layer [..., in_features] -> [..., out_features] whose weight is kept in 8 or 4 bits.

    :func:`ocl.quantization.quantize_` makes it of a :class:`ocl.nn.Linear`. The constructor gives it a weight
    of zeros, for :meth:`load_state_dict`.

    The weight is a constant: the buffers ``weight``, ``scales`` and ``zeros`` (None in 8 bits). ``bias`` is a
    parameter, and gradients reach the input, so that adapters beside the layer train. Input and bias share a
    floating dtype, which ``scales`` need not have.

    Args:
        in_features: Of each input, a multiple of the config's group_size.
        out_features: Of each output.
        config: How the weight is kept.
        bias: Whether there is a bias.
        device: Of all tensors.
        dtype: Of bias and scales.

    Raises:
        ValueError: A group_size that does not divide in_features; inputs of another number of features.
        TypeError: A config of another class; inputs that are not floating, or not of the bias's dtype.
    """

    in_features: int
    out_features: int
    config: WeightOnlyConfig
    weight: Tensor
    scales: Tensor
    zeros: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        config: WeightOnlyConfig,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        self._set(
            ocl.zeros(out_features, in_features, **place),
            Parameter(ocl.zeros(out_features, **place)) if bias else None,
            config,
        )

    @classmethod
    def from_weight(cls, weight: Tensor, bias: Tensor | None, config: WeightOnlyConfig) -> QuantizedLinear:
        """The layer of a floating weight [out_features, in_features]; ``bias`` is not copied."""
        made = cls.__new__(cls)
        Module.__init__(made)
        made._set(weight, bias, config)
        return made

    def _set(self, weight: Tensor, bias: Tensor | None, config: WeightOnlyConfig) -> None:
        if not isinstance(config, WeightOnlyConfig):
            raise TypeError(
                "QuantizedLinear: expected a config as Int8WeightOnlyConfig() or Int4WeightOnlyConfig(), "
                f"got {type(config).__name__}"
            )
        self.out_features, self.in_features = weight.shape
        self.config = config
        for name, tensor in zip(("weight", "scales", "zeros"), config.quantize(weight), strict=True):
            self.register_buffer(name, tensor)
        self.register_parameter("bias", bias)

    def forward(self, input: Tensor) -> Tensor:
        return _C.quantized_linear(input, self.weight, self.scales, self.zeros, self.bias)

    def dequantize(self, dtype: Any = None) -> Tensor:
        """The weight [out_features, in_features] that the layer multiplies by, in the dtype of scales or in
        ``dtype``."""
        return _C.dequantize_weight(self.weight, self.scales, self.zeros, dtype=dtype)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}, {self.config.extra_repr()}"
        )
