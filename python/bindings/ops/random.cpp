#include "operator_binder.h"

using ocl::DType;
using ocl::Shape;

void bind_random(const OperatorBinder& bind) {
  bind.free(
      "randint",
      [](std::int64_t low, std::int64_t high, const Shape& size, const std::optional<DType>& dtype,
         const std::optional<ocl::Device>& device) {
        return ocl::randint(low, high, size, dtype.value_or(DType::int64), device_or_default(device));
      },
      py::arg("low"), py::arg("high"), py::arg("size"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none());
  bind.function("dropout", &ocl::dropout, py::arg("p") = 0.5, py::arg("training") = true);
}
