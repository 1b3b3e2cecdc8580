#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/distance.h"

/** \file Distances between vectors. */

namespace torch_ocl {
namespace {

ocl::Tensor cdist(const ocl::Tensor& x1, const ocl::Tensor& x2, double p, std::optional<std::int64_t> mode) {
  return ocl::cdist(x1, x2, p,
                    word_of("compute_mode", mode.value_or(0),
                            {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                             "donot_use_mm_for_euclid_dist"}));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  m.function("_cdist_forward", &cdist, Takes::floating);
  m.gradient("_cdist_backward", {.runs = true, .of = "_cdist_forward", .ignored = {"cdist"}});
  m.row("_pdist_forward", ocl::operator_form("pdist"));
  m.gradient("_pdist_backward", {.runs = true, .of = "_pdist_forward", .ignored = {"pdist"}});
}

}  // namespace
}  // namespace torch_ocl
