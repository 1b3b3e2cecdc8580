#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dlprim/core/fields.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How a reduction's result type follows from its input's; see table.def. */
enum class ReductionResult { Sum, Float, Same, Bool, Count, Moments };

/** Where the kernels of a row are remembered. */
class ReductionKernels {
 public:
  static constexpr std::size_t steps = 5;
  KernelHandle& handle(DType dtype, bool wide_index, std::size_t step) {
    return handles_[(static_cast<std::size_t>(dtype) * 2 + (wide_index ? 1 : 0)) * steps + step];
  }

 private:
  std::array<KernelHandle, dtype_count * 2 * steps> handles_;
};

/** A row of the reduction table (table.def) or of its parts (parts.def), as data. */
struct ReductionOp {
  std::string name;
  ReductionResult result;
  std::string identity, map, combine, finish, gradient, documentation;
  std::shared_ptr<ReductionKernels> kernels = std::make_shared<ReductionKernels>();

  /** The dtype of the result for an input of `dtype`. Throws TypeError where the reduction does not take it.
   */
  DType result_dtype(DType dtype) const;
};
template <>
struct is_static_row<ReductionOp> : std::true_type {};

/** Every reduction, in the table's order. */
const std::vector<ReductionOp>& reduction_table();
/** The rows that operators with several steps are made of (parts.def). */
const std::vector<ReductionOp>& reduction_parts();
/** The row of that name, a part's too. Throws ValueError. */
const ReductionOp& reduction(std::string_view name);

/** The row whose result is the norm of order p: a root of a sum of powers, a count (p = 0), the largest or
 * the smallest magnitude (p infinite). */
const ReductionOp& norm_reduction(double p);

/** Which dimensions a reduction takes: bit d stands for dimension d. */
using DimMask = unsigned;

/** `dims` as a mask; empty stands for all. Throws IndexError (out of range) or ValueError (twice), naming
 * `op`. */
DimMask dim_mask(const std::vector<std::int64_t>& dims, int rank, const char* op);

/** The shape without the masked dimensions, or with size 1 in their place. */
Dims reduced_shape(const Dims& shape, DimMask mask, bool keepdim);
/** Elements of each reduced group. */
std::int64_t reduced_count(const Dims& shape, DimMask mask);

}  // namespace dlprim
