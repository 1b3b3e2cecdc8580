#pragma once

#include <cstddef>
#include <vector>

#include "dlprim/core/dtype.h"

namespace ocl::distributed {

/** How values of several ranks become one (torch.distributed.ReduceOp). */
enum class ReduceOp { sum, avg, min, max, product };
const char* name(ReduceOp op);

/** Throws TypeError for an average of whole numbers. */
void require_reducible(dlprim::DType dtype, ReduceOp op, const char* function);

/**
 * Reduces `count` elements of each of `inputs`, in their order, into `out`, which may be one of them. A sum
 * is
 * ((a + b) + c) + d, in float32 for float16 and bfloat16, and rounded once. An average is the sum divided by
 * the number of inputs. A NaN stays so in the least and the greatest.
 */
void reduce_elements(void* out, const std::vector<const void*>& inputs, std::size_t count,
                     dlprim::DType dtype, ReduceOp op);

}  // namespace ocl::distributed
