#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** step_t of cells.cl. */
struct RnnStepSizes {
  cl_int rows, next_rows, units, out_row, carry_row;
};

/** What a step kernel does beside its product: CELL of cells.cl, in its order. */
enum class StepCell { tanh, relu, lstm, gru, copy };

/**
 * A step of a recurrent layer as launches: the product of the rows that are at hand with a matrix that is the
 * same at every step, and the kernel that uses it. A CPU does both in one kernel, for which the matrix is
 * packed once; others make a GEMM and a kernel.
 */
class StepProduct {
 public:
  /** `kernel`: "step_forward_kernel" or "step_backward_kernel". `matrix` [depth, blocks * units], any
   * strides: `blocks` products for each unit. */
  StepProduct(Queue& queue, const char* kernel, StepCell cell, const Tensor& matrix, int blocks);

  /** `left` [rows, depth], contiguous, or undefined where no row has a product. `arguments`: the kernel's
   * after its product. */
  template <class... Arguments>
  void launch(const RnnStepSizes& sizes, const Tensor& left, const Arguments&... arguments) const {
    const cl_int rows = left.defined() ? static_cast<cl_int>(left.shape[0]) : 0;
    const Tensor product = is_fused_ || rows == 0 ? left : product_of(left);
    queue_.launch(kernel_, range(sizes), sizes, Optional{rows ? &product : nullptr}, rows,
                  Optional{is_fused_ ? &panels_ : nullptr}, depth_, arguments...);
  }

 private:
  Tensor product_of(const Tensor& left) const;
  Range range(const RnnStepSizes& sizes) const;

  Queue& queue_;
  Tensor matrix_;
  bool is_fused_;
  Kernel& kernel_;
  Tensor panels_;
  cl_int depth_;
};

/** The step kernel that finds its product, [rows, units], ready made. */
Kernel& plain_step_kernel(Queue& queue, const char* kernel, StepCell cell, DType dtype);
/** Its work items. */
Range plain_step_range(const Device& device, const RnnStepSizes& sizes);

}  // namespace dlprim
