#pragma once

#include "named_result.h"
#include "operator_binder.h"

/** The result of sort, topk and the like in Python: a named tuple of values and indices. */
struct ValuesIndices {
  const char* op = nullptr;
  ocl::Tensor values, indices;

  ValuesIndices() = default;
  ValuesIndices(const char* op, const std::pair<ocl::Tensor, ocl::Tensor>& both)
      : op(op), values(both.first), indices(both.second) {}
};

namespace pybind11::detail {

template <>
struct type_caster<ValuesIndices> {
  PYBIND11_TYPE_CASTER(ValuesIndices, const_name("tuple[Tensor, Tensor]"));

  bool load(handle, bool) { return false; }
  static handle cast(const ValuesIndices& both, return_value_policy, handle) {
    return values_and_indices(both.op, both.values, both.indices).release();
  }
};

}  // namespace pybind11::detail
