#include "operator_binder.h"

using ocl::Tensor;

void bind_norm(const OperatorBinder& bind) {
  bind.function(
      "batch_norm",
      [](const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var,
         const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum,
         double eps) {
        return ocl::batch_norm(input, or_none(running_mean), or_none(running_var), or_none(weight),
                               or_none(bias), training, momentum, eps);
      },
      py::arg("running_mean"), py::arg("running_var"), py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("training") = false, py::arg("momentum") = 0.1,
      py::arg("eps") = 1e-5);
}
