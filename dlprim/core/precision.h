#pragma once

namespace dlprim {

/**
 * How far a matrix product or a convolution of float32 tensors may round its operands before it multiplies
 * them (torch.set_float32_matmul_precision). `highest` rounds nothing below float32, `high` to TF32's 10 bits
 * after the point, `medium` to bfloat16's 7. Sums are float32 always. An implementation may be more precise
 * than asked for, never less; other dtypes have one precision.
 */
enum class MatmulPrecision { highest, high, medium };

}  // namespace dlprim
