// Plain sums that replace those of Winograd's convolution where components gave something that is not finite.
#include "core/common.cl"
#include "ops/conv/conv_shared.h"

// A result without components. An infinity or a NaN among the elements of a tile reaches all its results through those,
// also what does not meet it, and large numbers may become infinite. A NaN stays one: a net that has diverged is not to
// wait.
inline REAL plain_result(__global const STORAGE *planes, __global const STORAGE *filters, const ConvWinograd s,
                         const int h, const int w) {
  REAL sum = 0;
  for (int channel = 0; channel < s.channels && !isnan(sum); ++channel)
    for (int tap = 0; tap < 9; ++tap) {
      const int source_h = h + s.start_h + tap / 3, source_w = w + s.start_w + tap % 3;
      if ((uint)source_h < (uint)s.source_h && (uint)source_w < (uint)s.source_w)
        sum += LOAD(planes, ((long)channel * s.source_h + source_h) * s.source_w + source_w) *
               LOAD(filters, (long)channel * s.channel_filters + (s.are_turned ? 8 - tap : tap));
    }
  return sum;
}

// Like plain_result. The rows of a plane are summed by themselves.
inline REAL plain_weight(__global const STORAGE *planes, __global const STORAGE *gradients, const ConvWinograd s,
                         const int tap_h, const int tap_w) {
  const long plane = (long)s.source_h * s.source_w, gradient = (long)s.result_h * s.result_w;
  REAL sum = 0;
  const int end_h = min(s.result_h, s.source_h - s.start_h - tap_h);
  for (int image = 0; image < s.images; ++image)
    for (int h = max(0, -(s.start_h + tap_h)); h < end_h && !isnan(sum); ++h) {
      __global const STORAGE *x = planes + image * s.channels * plane + (long)(h + s.start_h + tap_h) * s.source_w;
      __global const STORAGE *dy = gradients + image * s.rows * gradient + (long)h * s.result_w;
      REAL of_row = 0;
      for (int w = max(0, -(s.start_w + tap_w)); w < min(s.result_w, s.source_w - s.start_w - tap_w); ++w)
        of_row += LOAD(x, w + s.start_w + tap_w) * LOAD(dy, w);
      sum += of_row;
    }
  return sum;
}
