#include "operator_binder.h"

using ocl::Reduction;
using ocl::Tensor;

void bind_loss(const OperatorBinder& bind) {
  bind.function(
      "nll_loss",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction) {
        return ocl::nll_loss(input, target, or_none(weight), ignore_index, reduction);
      },
      py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean");
  bind.function(
      "cross_entropy",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction, double label_smoothing) {
        return ocl::cross_entropy(input, target, or_none(weight), ignore_index, reduction, label_smoothing);
      },
      py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean", py::arg("label_smoothing") = 0.0);
  bind.function("mse_loss", &ocl::mse_loss, py::arg("target"), py::arg("reduction") = "mean");
  bind.function("l1_loss", &ocl::l1_loss, py::arg("target"), py::arg("reduction") = "mean");
}
