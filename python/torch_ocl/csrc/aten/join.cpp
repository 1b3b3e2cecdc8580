#include <torch/library.h>

#include "arguments.h"
#include "aten/kernels.h"
#include "dlprim/ops/join/cat.h"

namespace torch_ocl {
namespace {

at::Tensor& cat(const at::ITensorListRef& tensors, std::int64_t dim, at::Tensor& out) {
  std::vector<dlprim::Tensor> parts;
  for (const at::Tensor& part : tensors) parts.push_back(raw(part));
  at::native::resize_output(out, sizes_of(dlprim::cat_result(parts, dim).shape));
  if (out.numel() == 0) return out;
  into(out, [&](const dlprim::Tensor& y) { dlprim::cat(y.device().queue(), parts, dim, y); });
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("cat.out", &cat);
}

}  // namespace
}  // namespace torch_ocl
