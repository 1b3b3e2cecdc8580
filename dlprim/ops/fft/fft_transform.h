#pragma once

#include "dlprim/ops/fft/fft_shared.h"
#include "dlprim/runtime/queue.h"

/** \file Transforms of lines anywhere in memory, made of launches of fft_lines.cl. */

namespace dlprim {

/** Transforms along the lines of `x`, into those of `out`. */
struct FftTransform {
  FftTransform() { lines.lines = 1; }

  Tensor x, out;
  FftLines lines{};                    // one line, until dimensions are added; a launch fills in its passes
  int outer = 0;                       // dimensions of the lines that come before the transformed one
  Tensor in_factors{}, out_factors{};  // [2, count] by index of an element; undefined: none
  double scale = 1;

  std::int64_t length() const { return lines.n; }
  DType dtype() const { return out.dtype; }
  /** Adds a dimension of the lines at `position`. */
  void add_dim(int position, std::int64_t size, std::int64_t in_stride, std::int64_t in_index,
               std::int64_t out_stride, std::int64_t out_index);
};

/** Each of them overwrites `out`. Preconditions: what can_take of the implementations of fft.cpp says. */
void transform_lines(Queue& queue, const FftTransform& t);
void transform_split(Queue& queue, const FftTransform& t);
void transform_smooth(Queue& queue, const FftTransform& t);  // by the cheaper of both
void transform_by_chirp(Queue& queue, const FftTransform& t);

}  // namespace dlprim
