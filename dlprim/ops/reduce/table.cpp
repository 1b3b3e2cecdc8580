#include "dlprim/ops/reduce/table.h"

#include <cmath>

namespace dlprim {

#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  {#name, ReductionResult::result, identity, map, combine, finish, gradient, doc},

const std::vector<ReductionOp>& reduction_table() {
  static const auto& table = *new std::vector<ReductionOp>{
#include "dlprim/ops/reduce/table.def"
  };
  return table;
}

#define REDUCTION(name, result, identity, map, combine, finish, gradient, doc) \
  {#name, ReductionResult::result, identity, map, combine, finish, gradient, doc},

const std::vector<ReductionOp>& reduction_parts() {
  static const auto& parts = *new std::vector<ReductionOp>{
#include "dlprim/ops/reduce/parts.def"
  };
  return parts;
}

const ReductionOp& reduction(std::string_view name) {
  for (const auto* table : {&reduction_table(), &reduction_parts()})
    for (const ReductionOp& row : *table)
      if (row.name == name) return row;
  throw ValueError(concat("there is no reduction named '", name, "'"));
}

const ReductionOp& norm_reduction(double p) {
  return reduction(p == 0                   ? "count_nonzero"
                   : p == 1                 ? "norm_1"
                   : p == 2                 ? "norm_2"
                   : p == 3                 ? "norm_3"
                   : std::isinf(p) && p > 0 ? "norm_max"
                   : std::isinf(p) && p < 0 ? "norm_min"
                                            : "norm_p");
}

DType ReductionOp::result_dtype(DType dtype) const {
  switch (result) {
    case ReductionResult::Sum:
      return is_floating(dtype) ? dtype : DType::int64;
    case ReductionResult::Float:
    case ReductionResult::Moments:
      require<TypeError>(is_floating(dtype), name, ": expected a floating dtype, got ", dlprim::name(dtype));
      return dtype;
    case ReductionResult::Bool:
      return dtype == DType::uint8 ? dtype : DType::boolean;  // as PyTorch
    case ReductionResult::Count:
      return DType::int64;
    default:
      return dtype;
  }
}

DimMask dim_mask(const std::vector<std::int64_t>& dims, int rank, const char* op) {
  if (dims.empty()) return (1u << rank) - 1;
  DimMask mask = 0;
  for (std::int64_t dim : dims) {
    const int d = wrap_dim(dim, rank, op);
    require(!(mask >> d & 1u), op, ": dim ", d, " appears more than once");
    mask |= 1u << d;
  }
  return rank == 0 ? 0 : mask;
}

Dims reduced_shape(const Dims& shape, DimMask mask, bool keepdim) {
  Dims result;
  for (int d = 0; d < shape.size(); ++d) {
    if (!(mask >> d & 1u))
      result.push_back(shape[d]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

std::int64_t reduced_count(const Dims& shape, DimMask mask) {
  std::int64_t n = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (mask >> d & 1u) n *= shape[d];
  return n;
}

}  // namespace dlprim
