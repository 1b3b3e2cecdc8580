#pragma once

#include <cmath>
#include <limits>

#include "dlprim/core/dtype.h"

namespace dlprim {

/** Calls `work` with a zero of the C++ type that kernels of `dtype` take their numbers in: double for
 * float64, else float. */
template <class Work>
void with_real(DType dtype, Work work) {
  if (dtype == DType::float64)
    work(double{0});
  else
    work(float{0});
}

/** The distance from 1 to the next larger number of a floating dtype (torch.finfo(dtype).eps). */
inline double machine_epsilon(DType dtype) {
  return dtype == DType::float64   ? std::numeric_limits<double>::epsilon()
         : dtype == DType::float32 ? double{std::numeric_limits<float>::epsilon()}
         : dtype == DType::float16 ? std::exp2(-10)
                                   : std::exp2(-7);
}

/** The largest finite number of a floating dtype (torch.finfo(dtype).max). */
inline double largest_floating(DType dtype) {
  return dtype == DType::float64   ? std::numeric_limits<double>::max()
         : dtype == DType::float32 ? double{std::numeric_limits<float>::max()}
         : dtype == DType::float16 ? 65504
                                   : 0x1.fep127;
}

}  // namespace dlprim
