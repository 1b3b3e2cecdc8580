#include "autograd/ops/pool.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::Pair;
using ocl::Tensor;

namespace {

/** The result, or the result and the places of its elements. */
using Pooled = std::variant<Tensor, std::pair<Tensor, Tensor>>;

Pooled pooled(const ocl::TensorList& results) {
  if (results.size() == 1) return results[0];
  return std::pair(results[0], results[1]);
}

void bind_max_pools(const OperatorBinder& bind) {
  bind.function(
      "max_pool1d",
      [](const Tensor& input, Single kernel_size, const std::optional<Single>& stride, Single padding,
         Single dilation, bool ceil_mode, bool return_indices) {
        const auto step = optional_size(stride);
        return return_indices
                   ? pooled(
                         ocl::max_pool1d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode))
                   : Pooled(ocl::max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode));
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0, py::arg("dilation") = 1,
      py::arg("ceil_mode") = false, py::arg("return_indices") = false);
  bind.function(
      "max_pool2d",
      [](const Tensor& input, Pair kernel_size, const std::optional<Pair>& stride, Pair padding,
         Pair dilation, bool ceil_mode, bool return_indices) {
        return return_indices
                   ? pooled(ocl::max_pool2d_with_indices(input, kernel_size, stride, padding, dilation,
                                                         ceil_mode))
                   : Pooled(ocl::max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode));
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0, py::arg("dilation") = 1,
      py::arg("ceil_mode") = false, py::arg("return_indices") = false);
  bind.function(
      "adaptive_max_pool1d",
      [](const Tensor& input, Single output_size, bool return_indices) {
        return return_indices ? pooled(ocl::adaptive_max_pool1d_with_indices(input, output_size))
                              : Pooled(ocl::adaptive_max_pool1d(input, output_size));
      },
      py::arg("output_size"), py::arg("return_indices") = false);
  bind.function(
      "adaptive_max_pool2d",
      [](const Tensor& input, const ocl::AdaptiveSize& output_size, bool return_indices) {
        return return_indices ? pooled(ocl::adaptive_max_pool2d_with_indices(input, output_size))
                              : Pooled(ocl::adaptive_max_pool2d(input, output_size));
      },
      py::arg("output_size"), py::arg("return_indices") = false);
}

}  // namespace

void bind_pool(const OperatorBinder& bind) {
  bind_max_pools(bind);
  bind.function(
      "avg_pool1d",
      [](const Tensor& input, Single kernel_size, const std::optional<Single>& stride, Single padding,
         bool ceil_mode, bool count_include_pad) {
        return ocl::avg_pool1d(input, kernel_size, optional_size(stride), padding, ceil_mode,
                               count_include_pad);
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
      py::arg("ceil_mode") = false, py::arg("count_include_pad") = true);
  bind.function("avg_pool2d", &ocl::avg_pool2d, py::arg("kernel_size"), py::arg("stride") = py::none(),
                py::arg("padding") = 0, py::arg("ceil_mode") = false, py::arg("count_include_pad") = true,
                py::arg("divisor_override") = py::none());
  bind.function(
      "adaptive_avg_pool1d",
      [](const Tensor& input, Single output_size) { return ocl::adaptive_avg_pool1d(input, output_size); },
      py::arg("output_size"));
  bind.function("adaptive_avg_pool2d", &ocl::adaptive_avg_pool2d, py::arg("output_size"));
}
