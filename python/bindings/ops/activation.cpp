#include "autograd/ops/activation.h"
#include "operator_binder.h"

void bind_activation(const OperatorBinder& bind) {
  bind.both("prelu", &ocl::prelu, py::arg("weight"));
  bind.function("glu", &ocl::glu, py::arg("dim") = -1);
}
