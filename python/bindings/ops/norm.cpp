#include "autograd/ops/norm.h"
#include "operator_binder.h"

using ocl::Tensor;

void bind_norm(const OperatorBinder& bind) {
  bind.function(
      "normalize",
      [](const Tensor& input, double p, const DimArgument& dim, double eps) {
        return ocl::normalize(input, p, dims_of(dim), eps);
      },
      py::arg("p") = 2.0, py::arg("dim") = 1, py::arg("eps") = 1e-12);
}
