#include "autograd/ops/loss.h"
#include "operator_binder.h"

using ocl::Reduction;
using ocl::Tensor;

void bind_loss(const OperatorBinder& bind) {
  bind.function(
      "nll_loss",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction) {
        return ocl::nll_loss(input, target, or_none(weight), reduction, ignore_index);
      },
      py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean");
  bind.function(
      "cross_entropy",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, std::int64_t ignore_index,
         Reduction reduction, double label_smoothing) {
        return ocl::cross_entropy(input, target, or_none(weight), reduction, ignore_index, label_smoothing);
      },
      py::arg("target"), py::arg("weight") = py::none(), py::arg("ignore_index") = -100,
      py::arg("reduction") = "mean", py::arg("label_smoothing") = 0.0);
  bind.function(
      "binary_cross_entropy_with_logits",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight, Reduction reduction,
         const OptionalTensor& pos_weight) {
        return ocl::binary_cross_entropy_with_logits(input, target, or_none(weight), or_none(pos_weight),
                                                     reduction);
      },
      py::arg("target"), py::arg("weight") = py::none(), py::arg("reduction") = "mean",
      py::arg("pos_weight") = py::none());
}
