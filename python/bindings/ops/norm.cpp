#include "autograd/ops/norm.h"
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
  bind.function(
      "batch_norm_activation",
      [](const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var,
         const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum, double eps,
         const std::string& activation, const OptionalTensor& addend) {
        return ocl::batch_norm_activation(input, or_none(running_mean), or_none(running_var), or_none(weight),
                                          or_none(bias), training, momentum, eps, activation,
                                          or_none(addend));
      },
      py::arg("running_mean"), py::arg("running_var"), py::arg("weight") = py::none(),
      py::arg("bias") = py::none(), py::arg("training") = false, py::arg("momentum") = 0.1,
      py::arg("eps") = 1e-5, py::arg("activation") = "relu", py::arg("addend") = py::none());
  using Sizes = std::vector<std::int64_t>;
  bind.function(
      "layer_norm",
      [](const Tensor& input, const Sizes& normalized_shape, const OptionalTensor& weight,
         const OptionalTensor& bias, double eps) {
        return ocl::layer_norm(input, normalized_shape, or_none(weight), or_none(bias), eps);
      },
      py::arg("normalized_shape"), py::arg("weight") = py::none(), py::arg("bias") = py::none(),
      py::arg("eps") = 1e-5);
  bind.function(
      "rms_norm",
      [](const Tensor& input, const Sizes& normalized_shape, const OptionalTensor& weight,
         std::optional<double> eps) { return ocl::rms_norm(input, normalized_shape, or_none(weight), eps); },
      py::arg("normalized_shape"), py::arg("weight") = py::none(), py::arg("eps") = py::none());
  bind.function(
      "group_norm",
      [](const Tensor& input, std::int64_t num_groups, const OptionalTensor& weight,
         const OptionalTensor& bias,
         double eps) { return ocl::group_norm(input, num_groups, or_none(weight), or_none(bias), eps); },
      py::arg("num_groups"), py::arg("weight") = py::none(), py::arg("bias") = py::none(),
      py::arg("eps") = 1e-5);
  bind.function(
      "instance_norm",
      [](const Tensor& input, const OptionalTensor& running_mean, const OptionalTensor& running_var,
         const OptionalTensor& weight, const OptionalTensor& bias, bool use_input_stats, double momentum,
         double eps) {
        return ocl::instance_norm(input, or_none(running_mean), or_none(running_var), or_none(weight),
                                  or_none(bias), use_input_stats, momentum, eps);
      },
      py::arg("running_mean") = py::none(), py::arg("running_var") = py::none(),
      py::arg("weight") = py::none(), py::arg("bias") = py::none(), py::arg("use_input_stats") = true,
      py::arg("momentum") = 0.1, py::arg("eps") = 1e-5);
  bind.function("local_response_norm", &ocl::local_response_norm, py::arg("size"), py::arg("alpha") = 1e-4,
                py::arg("beta") = 0.75, py::arg("k") = 1.0);
  bind.function(
      "normalize",
      [](const Tensor& input, double p, const DimArgument& dim, double eps) {
        return ocl::normalize(input, p, dims_of(dim), eps);
      },
      py::arg("p") = 2.0, py::arg("dim") = 1, py::arg("eps") = 1e-12);
}
