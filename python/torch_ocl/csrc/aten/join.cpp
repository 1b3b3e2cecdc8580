#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include <algorithm>

#include "arguments.h"
#include "aten/kernels.h"
#include "dlprim/ops/join/cat.h"

namespace torch_ocl {
namespace {

/** Whether elements only move, as integers of their size. */
bool can_move(const at::ITensorListRef& tensors, const at::Tensor& out) {
  const std::size_t size = out.dtype().itemsize();
  if (size != 1 && size != 4 && size != 8) return false;
  for (const at::Tensor& part : tensors)
    if (part.scalar_type() != out.scalar_type() || part.device() != out.device()) return false;
  return true;
}

/** Complex numbers of 16 bytes, which move as two of 8. */
at::Tensor& cat_pairs(const at::ITensorListRef& tensors, std::int64_t dim, at::Tensor& out) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : tensors) {
    const bool is_nothing = part.dim() == 1 && part.numel() == 0;  // goes with any shape
    if (!is_nothing) parts.push_back(at::view_as_real(part.resolve_conj()));
  }
  const at::Tensor made =
      parts.empty() ? at::empty({0}, out.options())
                    : at::view_as_complex(at::cat(parts, at::maybe_wrap_dim(dim, parts[0].dim() - 1)));
  at::native::resize_output(out, made.sizes());
  for (const at::Tensor& part : tensors) at::assert_no_overlap(out, part);
  return out.copy_(made);
}

at::Tensor& cat(const at::ITensorListRef& tensors, std::int64_t dim, at::Tensor& out) {
  const bool is_for_dlprim = is_for_kernels(tensors) && is_for_kernels(out);
  const auto is_pairs = [&](const at::Tensor& t) {
    return t.scalar_type() == c10::kComplexDouble && t.layout() == c10::kStrided &&
           t.device() == out.device();
  };
  if (is_pairs(out) && std::all_of(tensors.begin(), tensors.end(), is_pairs))
    return cat_pairs(tensors, dim, out);
  if (!is_for_dlprim && !can_move(tensors, out)) return OnTheCpu<at::_ops::cat_out>::call(tensors, dim, out);
  std::vector<dlprim::Tensor> parts;
  for (const at::Tensor& part : tensors) parts.push_back(bits_of(part));
  at::native::resize_output(out, sizes_of(dlprim::cat_result(parts, dim).shape));
  at::assert_no_internal_overlap(out);
  for (const at::Tensor& part : tensors) at::assert_no_overlap(out, part);
  if (out.numel() == 0) return out;
  const at::Tensor there = out.is_contiguous() ? out : at::empty_like(out, c10::MemoryFormat::Contiguous);
  dlprim::cat(device_under(there).queue(), parts, dim, bits_of(there));
  if (!there.is_same(out)) out.copy_(there);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("cat.out", &cat);
}

}  // namespace
}  // namespace torch_ocl
