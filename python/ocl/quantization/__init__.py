"""Linear layers whose weights are kept in 8 or 4 bits (torchao.quantization).

    ocl.quantization.quantize_(model, Int4WeightOnlyConfig(group_size=32))

Activations stay floating, and so do the sums; only weights are rounded, with no data to calibrate by.
"""

from ocl._C import dequantize_weight, quantize_int4, quantize_int8, quantized_linear
from ocl.quantization.configs import Int4WeightOnlyConfig, Int8WeightOnlyConfig, WeightOnlyConfig
from ocl.quantization.linear import QuantizedLinear
from ocl.quantization.replacing import quantize_

__all__ = [
    "Int4WeightOnlyConfig",
    "Int8WeightOnlyConfig",
    "QuantizedLinear",
    "WeightOnlyConfig",
    "dequantize_weight",
    "quantize_",
    "quantize_int4",
    "quantize_int8",
    "quantized_linear",
]
