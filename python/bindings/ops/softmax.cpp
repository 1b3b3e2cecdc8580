#include "operator_binder.h"

void bind_softmax(const OperatorBinder& bind) {
  bind.both("softmax", &ocl::softmax, py::arg("dim"));
  bind.both("log_softmax", &ocl::log_softmax, py::arg("dim"));
}
