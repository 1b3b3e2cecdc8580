#include "autograd/ops/scan.h"
#include "operator_binder.h"

void bind_scan(const OperatorBinder& bind) {
  bind.both("cumsum", &ocl::cumsum, py::arg("dim"), py::kw_only(), py::arg("dtype") = py::none());
  bind.both("cumprod", &ocl::cumprod, py::arg("dim"), py::kw_only(), py::arg("dtype") = py::none());
}
