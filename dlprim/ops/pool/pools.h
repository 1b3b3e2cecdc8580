#pragma once

#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/pool/max_pool.h"

namespace dlprim {

/** The functions that pool over the last `axes` dimensions, for callers that are templates of their number.
 */
template <std::size_t axes>
struct Pools;

template <>
struct Pools<2> {
  static constexpr const char *max = "max_pool2d", *avg = "avg_pool2d", *adaptive_max = "adaptive_max_pool2d",
                              *adaptive_avg = "adaptive_avg_pool2d";
  static constexpr auto output_shape = pool2d_output_shape;
  static constexpr auto adaptive_output_shape = adaptive_pool2d_output_shape;
  static constexpr auto max_forward = max_pool2d_forward;
  static constexpr auto max_backward = max_pool2d_backward;
  static constexpr auto avg_forward = avg_pool2d_forward;
  static constexpr auto avg_backward = avg_pool2d_backward;
  static constexpr auto adaptive_max_forward = adaptive_max_pool2d_forward;
  static constexpr auto adaptive_max_backward = adaptive_max_pool2d_backward;
  static constexpr auto adaptive_avg_forward = adaptive_avg_pool2d_forward;
  static constexpr auto adaptive_avg_backward = adaptive_avg_pool2d_backward;
};

template <>
struct Pools<3> {
  static constexpr const char *max = "max_pool3d", *avg = "avg_pool3d", *adaptive_max = "adaptive_max_pool3d",
                              *adaptive_avg = "adaptive_avg_pool3d";
  static constexpr auto output_shape = pool3d_output_shape;
  static constexpr auto adaptive_output_shape = adaptive_pool3d_output_shape;
  static constexpr auto max_forward = max_pool3d_forward;
  static constexpr auto max_backward = max_pool3d_backward;
  static constexpr auto avg_forward = avg_pool3d_forward;
  static constexpr auto avg_backward = avg_pool3d_backward;
  static constexpr auto adaptive_max_forward = adaptive_max_pool3d_forward;
  static constexpr auto adaptive_max_backward = adaptive_max_pool3d_backward;
  static constexpr auto adaptive_avg_forward = adaptive_avg_pool3d_forward;
  static constexpr auto adaptive_avg_backward = adaptive_avg_pool3d_backward;
};

}  // namespace dlprim
