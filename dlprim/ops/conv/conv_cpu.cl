// The common part of the CPU-shaped convolutions: the stencil they walk, and the input laid out for it.
//
// Every direction reads a "phased" input: planes padded with zeros and split by stride, element
// [image][channel][row phase][column phase][row][column], so that for any stride and dilation the pixels
// of an output row are contiguous in the input for each tap, and no bound is ever checked. A convolution without
// padding and stride uses its input as it is.
#include "ops/conv/conv_shared.h"
#include "ops/gemm/cpu_tile.cl"

// Where a tap's first pixel lies in its channel.
inline long tap_offset(const Stencil *s, const int tap_h, const int tap_w) {
  const int h = tap_h * (int)s->step_h, w = tap_w * (int)s->step_w;
  const int stride_h = s->stride_h, stride_w = s->stride_w;
  return (REMAINDER(h, stride_h) * s->phases_w + REMAINDER(w, stride_w)) * s->phase_size +
         (h / stride_h) * s->row_length + w / stride_w;
}
