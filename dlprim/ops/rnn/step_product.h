#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/ops/rnn/rnn_shared.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** The work of a step kernel beside its product. */
enum class StepCell {
  tanh = CELL_TANH,
  relu = CELL_RELU,
  lstm = CELL_LSTM,
  gru = CELL_GRU,
  copy = CELL_COPY
};

/**
 * A step of a recurrent layer as launches: the product of the current rows with a matrix, and the kernel that
 * uses it. The matrix is the same at every step. A CPU does both in one kernel, for which the matrix is
 * packed once; others do so for few rows, and make a GEMM and a kernel for many.
 */
class StepProduct {
 public:
  /** `kernel`: "step_forward_kernel" or "step_backward_kernel". `matrix` [depth, blocks * units], any
   * strides: `blocks` products for each unit. `rows`: the most that a step has. */
  StepProduct(Queue& queue, const char* kernel, StepCell cell, const Tensor& matrix, int blocks,
              std::int64_t rows);

  /** `left` [rows, depth], contiguous, or undefined where no row has a product. `arguments`: the kernel's
   * after its product. */
  template <class... Arguments>
  void launch(const RnnStepSizes& sizes, const Tensor& left, const Arguments&... arguments) const {
    const cl_int rows = left.defined() ? static_cast<cl_int>(left.shape[0]) : 0;
    const Tensor product = kind_ == Kind::given && rows ? product_of(left) : left;
    queue_.launch(kernel_, range(sizes), sizes, Optional{rows ? &product : nullptr}, rows, weights_, depth_,
                  static_cast<cl_long>(matrix_.strides[0]), static_cast<cl_long>(matrix_.strides[1]),
                  arguments...);
  }

 private:
  enum class Kind { given = PRODUCT_GIVEN, tiles = PRODUCT_TILES, thin = PRODUCT_THIN };

  static Kind kind_for(const Device& device, std::int64_t rows);
  static Kernel& kernel_of(Queue& queue, const char* kernel, StepCell cell, DType dtype, Kind kind);
  Tensor packed() const;
  Tensor product_of(const Tensor& left) const;
  Range range(const RnnStepSizes& sizes) const;

  Queue& queue_;
  Tensor matrix_;
  int blocks_;
  Kind kind_;
  Kernel& kernel_;
  Tensor weights_;  // packed for Kind::tiles
  cl_int depth_;

  friend Kernel& plain_step_kernel(Queue&, const char*, StepCell, DType);
};

/** The step kernel that finds its product, [rows, units], ready made. */
Kernel& plain_step_kernel(Queue& queue, const char* kernel, StepCell cell, DType dtype);
/** Its work items. */
Range plain_step_range(const Device& device, const RnnStepSizes& sizes);

}  // namespace dlprim
