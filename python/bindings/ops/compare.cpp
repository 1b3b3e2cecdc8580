#include "autograd/ops/compare.h"
#include "operator_binder.h"

void bind_compare(const OperatorBinder& bind) {
  bind.both("isclose", &ocl::isclose, py::arg("other"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8,
            py::arg("equal_nan") = false);
  bind.both("allclose", &ocl::allclose, py::arg("other"), py::arg("rtol") = 1e-5, py::arg("atol") = 1e-8,
            py::arg("equal_nan") = false);
  bind.both("equal", &ocl::equal, py::arg("other"));
}
