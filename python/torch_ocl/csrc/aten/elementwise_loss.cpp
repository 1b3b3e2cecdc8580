#include <torch/library.h>

#include "aten/row_kernels.h"
#include "autograd/ops/index.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"

/** \file Losses, and their mean or sum. */

namespace torch_ocl {
namespace {

/** The loss, and where its labels are. */
ocl::TensorPair multilabel_margin_loss(const ocl::Tensor& input, const ocl::Tensor& target,
                                       ocl::Reduction reduction) {
  const bool is_number = input.dim() == 0 && target.dim() == 0;
  const ocl::Tensor labels = is_number ? ocl::unsqueeze(target, 0) : target;
  const ocl::Tensor loss =
      ocl::multilabel_margin_loss(is_number ? ocl::unsqueeze(input, 0) : input, labels, reduction);
  const ocl::Tensor counts = ocl::ne(ocl::cumprod(ocl::ne(labels, -1), -1), 0);
  const ocl::Tensor found = ocl::scatter_add(ocl::zeros_like(labels), -1, ocl::where(counts, labels, 0),
                                             ocl::to(counts, labels.dtype()));
  const ocl::Tensor is_label = ocl::to(ocl::ne(found, 0), input.dtype());
  return ocl::TensorPair(loss, is_number ? ocl::squeeze(is_label, 0) : is_label);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  for (const char* loss :
       {"mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss"}) {
    m.row(loss);
    // A mean of 16 bits is one of float32 that is rounded. Second derivatives have a gradient for each
    // element.
    m.gradient((std::string(loss) + "_backward").c_str(), {.widens = true, .by_element = true});
  }
  m.row("multi_margin_loss");
  m.gradient("multi_margin_loss_backward", {.widens = true, .runs = true});
  m.function("multilabel_margin_loss_forward", &multilabel_margin_loss, Takes::floating);
  m.gradient(
      "multilabel_margin_loss_backward",
      {.widens = true, .runs = true, .of = "multilabel_margin_loss_forward", .ignored = {"is_target"}});
}

}  // namespace
}  // namespace torch_ocl
