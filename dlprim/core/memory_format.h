#pragma once

#include <array>

#include "dlprim/core/dims.h"

namespace dlprim {

struct Tensor;

/** The order of a tensor's elements in memory, as a word; its strides say the same in numbers
 * (torch.memory_format). */
enum class MemoryFormat {
  contiguous,        // row-major
  channels_last,     // [N, C, H, W] with the channels of a pixel side by side
  channels_last_3d,  // the same for [N, C, D, H, W]
  preserve,          // that of the tensor at hand
};

/** "channels_last"; of contiguous and preserve "contiguous_format", "preserve_format". */
const char* name(MemoryFormat format);

/** The strides of a dense tensor of that shape. Throws ValueError for a shape of another rank than the format
 * has, and for `preserve`. */
Dims strides_of(MemoryFormat format, const Dims& shape);
/** The strides of a dense tensor that is to hold what `like` holds: of `preserve`, its own where it is dense,
 * else those that keep the order of its dimensions in memory. Throws ValueError as strides_of. */
Dims strides_like(const Tensor& like, MemoryFormat format = MemoryFormat::preserve);

/** Whether the elements lie side by side in that order; `preserve` stands for contiguous. */
bool is_contiguous(const Tensor& tensor, MemoryFormat format);
/** The format that the strides suggest: channels_last, channels_last_3d, or contiguous for all else and where
 * sizes of 1 leave it open. */
MemoryFormat suggested_memory_format(const Tensor& tensor);

/** Whether the elements fill a stretch of memory, each once, in whatever order of the dimensions. */
bool is_dense(const Tensor& tensor);
/** The elements of a dense tensor in the order in which they lie in memory, as one dimension. */
Tensor in_memory_order(const Tensor& dense);
/** Whether the elements lie by those strides, one a dimension; sizes of 1 and empty tensors leave them open.
 */
bool lies_by(const Tensor& tensor, const Dims& strides);
/** Whether both have one shape and lie by the same strides: if they are dense, an operator that ignores
 * places may walk both in the order of memory. */
bool lie_alike(const Tensor& a, const Tensor& b);

/** The most tensors that an elementwise operator takes. */
constexpr int max_elementwise_inputs = 3;
/** Its inputs, of any shapes that broadcast; null after the last. A number is a tensor without dimensions. */
using ElementwiseInputs = std::array<const Tensor*, max_elementwise_inputs>;
/** The strides of an elementwise operator's result: dense, with the dimensions in the order that they have in
 * the inputs' memory, the earlier inputs first (PyTorch's TensorIterator). */
Dims elementwise_strides(const Dims& shape, const ElementwiseInputs& inputs);

}  // namespace dlprim
