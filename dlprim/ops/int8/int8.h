#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/conv/conv_geometry.h"
#include "dlprim/ops/pool/pool_geometry.h"
#include "dlprim/runtime/queue.h"

/**
 * \file Numbers that are stored as int8, and what computes with them: the calls of statically quantised nets.
 *
 * A tensor of int8 stands for numbers by its format: number = (q - zero) * scale. The results below are
 * exact: sums are those of integers, and each float32 operation is rounded once, in the order that is given
 * here.
 *
 *   t = float(sum) * (scales[o] * (x_scale / y_scale)) + bias[o] * (1 / y_scale)
 *   t = t + float(addend - addend_zero) * (addend_scale / y_scale)
 *   y = clamp(round(t) + y_zero, low, high)
 *
 * `round` takes halves to the even neighbour. Quotients of scales are computed in double and rounded to
 * float32. The bounds low and high stand for an activation: ReLU has y_zero as its lower one.
 *
 * All tensors are contiguous. Throws ValueError for shapes, scales and zeros that do not fit, TypeError for
 * dtypes.
 */

namespace dlprim {

/** How numbers are stored. `scale` is positive and finite, `zero` a number of int8. */
struct Int8Format {
  float scale = 1;
  int zero = 0;
  FIELDS(scale, zero)

  bool operator==(const Int8Format& other) const { return scale == other.scale && zero == other.zero; }
};

/** How results are stored, and held: -128 <= low <= high <= 127. */
struct Int8Result {
  Int8Format format;
  int low = -128, high = 127;
  FIELDS(format, low, high)
};

/** The most products in a sum, so that int32 holds it. */
constexpr std::int64_t max_int8_terms = 65536;

/** y = clamp(round(x * (1 / scale)) + zero, -128, 127); NaN becomes -128. x is float32. */
void int8_quantize(Queue& queue, const Tensor& x, const Int8Format& format, const Tensor& y);
/** y = float(x - zero) * scale, in float32. */
void int8_dequantize(Queue& queue, const Tensor& x, const Int8Format& format, const Tensor& y);

/**
 * y = conv2d(x, weight), with weights that are weight[o] * scales[o]. The padding stands for 0. `bias`,
 * float32 [Cout], and `addend`, int8 of the shape of y, may be null.
 */
void int8_conv2d(Queue& queue, const Tensor& x, const Int8Format& x_format, const Tensor& weight,
                 const Tensor& scales, const Tensor* bias, const Tensor* addend,
                 const Int8Format& addend_format, const Conv2dGeometry& geometry, const Int8Result& result,
                 const Tensor& y);
/** y [rows, out] = x [rows, in] times weight [out, in], as int8_conv2d. */
void int8_linear(Queue& queue, const Tensor& x, const Int8Format& x_format, const Tensor& weight,
                 const Tensor& scales, const Tensor* bias, const Tensor* addend,
                 const Int8Format& addend_format, const Int8Result& result, const Tensor& y);

/** t = float(a - a_zero) * (a_scale / y_scale), and then as above; without a `b` the same numbers in another
 * format. */
void int8_add(Queue& queue, const Tensor& a, const Int8Format& a_format, const Tensor* b,
              const Int8Format& b_format, const Int8Result& result, const Tensor& y);

/** The greatest of each window, in the format of x; padding counts nothing. */
void int8_max_pool2d(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry, const Tensor& y);
/** t = float(sum of x - x_zero) * (x_scale / (y_scale * elements of the window)); windows as
 * adaptive_avg_pool2d has them. */
void int8_adaptive_avg_pool2d(Queue& queue, const Tensor& x, const Int8Format& x_format,
                              const Int8Result& result, const Tensor& y);

}  // namespace dlprim
