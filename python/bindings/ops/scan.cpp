#include "autograd/ops/scan.h"
#include "operator_binder.h"

void bind_scan(const OperatorBinder& bind) {
  bind.both("cumsum", &ocl::cumsum, py::arg("dim"), py::kw_only(), py::arg("dtype") = py::none());
  bind.both(
      "diff",
      [](const ocl::Tensor& input, std::int64_t n, std::int64_t dim, const OptionalTensor& prepend,
         const OptionalTensor& append) {
        return ocl::diff(input, n, dim, or_none(prepend), or_none(append));
      },
      py::arg("n") = 1, py::arg("dim") = -1, py::arg("prepend") = py::none(), py::arg("append") = py::none());
  bind.both("cumprod", &ocl::cumprod, py::arg("dim"), py::kw_only(), py::arg("dtype") = py::none());
}
