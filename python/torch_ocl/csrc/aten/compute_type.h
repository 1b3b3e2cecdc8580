#pragma once

#include <ATen/ATen.h>

namespace torch_ocl {

/** The type in which numbers of `type` are computed: float where they have 16 bits. An operator that is made
 * of others computes with it and rounds once, at its end: what lies between may be larger or smaller than 16
 * bits hold. */
inline c10::ScalarType compute_type(c10::ScalarType type) {
  return c10::isReducedFloatingType(type) ? c10::kFloat : type;
}

inline at::Tensor in_compute_type(const at::Tensor& t) {
  return t.to(compute_type(t.scalar_type()));
}

}  // namespace torch_ocl
