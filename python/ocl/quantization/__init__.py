"""Linear layers whose weights are kept in 8 or 4 bits (torchao.quantization), and programs of int8.

    ocl.quantization.quantize_(model, Int4WeightOnlyConfig(group_size=32))

There activations stay floating, and so do the sums; only weights are rounded, with no data to calibrate by.

    ocl.quantization.quantize_static(program, batches)

makes an exported program's activations int8 too, by the ranges that the batches show.
"""

from ocl._C import dequantize_weight, quantize_int4, quantize_int8, quantized_linear
from ocl.quantization.configs import Int4WeightOnlyConfig, Int8WeightOnlyConfig, WeightOnlyConfig
from ocl.quantization.linear import QuantizedLinear
from ocl.quantization.replacing import quantize_
from ocl.quantization.static import Int8StaticActivationInt8WeightConfig, quantize_static

__all__ = [
    "Int4WeightOnlyConfig",
    "Int8StaticActivationInt8WeightConfig",
    "Int8WeightOnlyConfig",
    "QuantizedLinear",
    "WeightOnlyConfig",
    "dequantize_weight",
    "quantize_",
    "quantize_int4",
    "quantize_int8",
    "quantize_static",
    "quantized_linear",
]
