#include "autograd/ops/softmax.h"
#include "operator_binder.h"

void bind_softmax(const OperatorBinder& bind) {
  bind.both("softmax", &ocl::softmax, py::arg("dim"), py::arg("dtype") = py::none());
  bind.both("log_softmax", &ocl::log_softmax, py::arg("dim"), py::arg("dtype") = py::none());
  bind.function("softmin", &ocl::softmin, py::arg("dim"), py::arg("dtype") = py::none());
}
