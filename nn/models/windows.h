#pragma once

#include "autograd/tensor/tensor.h"

/** \file Attention within windows: what swin transformers and MaxVit share. */
namespace ocl::models {

/** For each pair of places of a window, the row of a table of relative positions: int64 [height * width,
 * height * width]. */
Tensor relative_position_index(std::int64_t height, std::int64_t width);

/** The rows of `table` [rows, heads] at `index` [places, places], as [1, heads, places, places]. */
Tensor relative_position_bias(const Tensor& table, const Tensor& index, std::int64_t places);

}  // namespace ocl::models
