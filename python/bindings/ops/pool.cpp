#include "operator_binder.h"

using ocl::Pair;
using ocl::Tensor;

void bind_pool(const OperatorBinder& bind) {
  bind.function(
      "max_pool2d",
      [](const Tensor& input, Pair kernel_size, const std::optional<Pair>& stride, Pair padding,
         Pair dilation, bool ceil_mode,
         bool return_indices) -> std::variant<Tensor, std::pair<Tensor, Tensor>> {
        if (!return_indices) return ocl::max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode);
        const ocl::TensorList both =
            ocl::max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode);
        return std::pair(both[0], both[1]);
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = Pair(0),
      py::arg("dilation") = Pair(1), py::arg("ceil_mode") = false, py::arg("return_indices") = false);
  bind.function("avg_pool2d", &ocl::avg_pool2d, py::arg("kernel_size"), py::arg("stride") = py::none(),
                py::arg("padding") = Pair(0), py::arg("ceil_mode") = false,
                py::arg("count_include_pad") = true, py::arg("divisor_override") = py::none());
  bind.function("adaptive_avg_pool2d", &ocl::adaptive_avg_pool2d, py::arg("output_size"));
}
