#pragma once

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>

#include "dlprim/core/precision.h"
#include "tensors.h"

/** \file What PyTorch hands to kernels, as dlprim takes it. */

namespace torch_ocl {

// Kernels for `out=` get the caller's tensor as it is: each begins with at::native::resize_output.

/** Calls `write(tensor)` with a contiguous dlprim tensor that ends up in `out`: its own memory, or other
 * where it has gaps or shares it with what is `read`. */
template <class Write>
const at::Tensor& into(const at::Tensor& out, const Write& write, at::TensorList read = {}) {
  at::assert_no_internal_overlap(out);
  bool is_direct = out.is_contiguous();
  for (const at::Tensor& t : read) is_direct &= !out.is_alias_of(t);
  if (is_direct) {
    write(raw(out));
  } else {
    const at::Tensor there = at::empty_like(out, c10::MemoryFormat::Contiguous);
    write(raw(there));
    out.copy_(there);
  }
  return out;
}

/** A contiguous tensor, or none, that dlprim gets as a pointer. */
class Optional {
 public:
  Optional(const std::optional<at::Tensor>& given) : Optional(given, &raw) {}
  /** That dlprim does not write to. */
  static Optional to_read(const std::optional<at::Tensor>& given) { return {given, &raw_to_read}; }
  const dlprim::Tensor* get() const { return raw_.defined() ? &raw_ : nullptr; }
  /** Undefined for none. */
  const at::Tensor& tensor() const { return contiguous_; }

 private:
  Optional(const std::optional<at::Tensor>& given, dlprim::Tensor (*raw_of)(const at::Tensor&)) {
    if (!given || !given->defined()) return;
    contiguous_ = given->contiguous();
    raw_ = raw_of(contiguous_);
  }

  at::Tensor contiguous_;
  dlprim::Tensor raw_;
};

/** An operator's result, contiguous, in the memory format of what it was given. */
inline at::Tensor laid_out_as(const at::Tensor& given, const at::Tensor& made) {
  return made.contiguous(given.suggest_memory_format());
}

/** Whether hardtanh's bounds are relu6's. */
inline bool is_relu6(const c10::Scalar& least, const c10::Scalar& most) {
  return least.toDouble() == 0 && most.toDouble() == 6;
}

/** The present value of torch.set_float32_matmul_precision. */
dlprim::MatmulPrecision matmul_precision();

}  // namespace torch_ocl
