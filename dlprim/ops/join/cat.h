#pragma once

#include <vector>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Whether a tensor of that shape fits any others in cat and adds nothing to them: [0], whatever their rank.
 */
inline bool is_neutral_in_cat(const Dims& shape) {
  return shape == Dims{0};
}

/** Shape of torch.cat, and the dtype that all promote to. */
struct CatResult {
  Dims shape;
  DType dtype;
};

/** The result of torch.cat for these tensors along `dim`. Throws ValueError, IndexError. */
CatResult cat_result(const std::vector<Tensor>& tensors, std::int64_t dim);

/** torch.cat: the tensors one after another along `dim`, each converted to the dtype of `result`, whatever
 * that is. Any strides. Gradients are the parts of the result's. Throws ValueError, IndexError. */
void cat(Queue& queue, const std::vector<Tensor>& tensors, std::int64_t dim, const Tensor& result);

}  // namespace dlprim
