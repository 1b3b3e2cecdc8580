#include <torch/library.h>

#include "aten/row_kernels.h"

/** \file Losses, and their mean or sum. */

namespace torch_ocl {
namespace {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  for (const char* loss :
       {"mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss"}) {
    m.row(loss);
    // A mean of 16 bits is one of float32 that is rounded.
    m.gradient((std::string(loss) + "_backward").c_str(), {.widens = true});
  }
  m.row("multi_margin_loss");
  m.gradient("multi_margin_loss_backward", {.widens = true, .runs = true});
}

}  // namespace
}  // namespace torch_ocl
