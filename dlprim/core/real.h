#pragma once

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

}  // namespace dlprim
