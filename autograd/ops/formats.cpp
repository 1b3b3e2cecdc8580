#include "autograd/ops/formats.h"

#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {

Tensor in_format(const Tensor& fresh, MemoryFormat format) {
  if (format == MemoryFormat::contiguous) return fresh;
  if (!fresh.is_contiguous(format)) return contiguous(fresh, format);
  // Sizes of 1 leave strides open. They have to say the format, which the next operator reads from them.
  fresh.impl().data.strides = dlprim::strides_of(format, fresh.shape());
  return fresh;
}

Tensor laid_out(const Tensor& t, const Dims& strides) {
  if (dlprim::lies_by(t.data(), strides)) return t;
  const auto moved = dlprim::Tensor::empty_strided(*t.device(), t.shape(), strides, t.dtype());
  dlprim::copy(t.device()->queue(), t.data(), moved);
  return Tensor(moved);
}

}  // namespace ocl
