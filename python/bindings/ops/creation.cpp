#include "operator_binder.h"

using ocl::DType;
using ocl::Shape;
using ocl::Tensor;

namespace {

using OptionalDevice = std::optional<ocl::Device>;

template <class Make>
void bind_creation_of(const OperatorBinder& bind, const char* name, const Make& make) {
  bind.module().def(
      name,
      [make](const py::args& size, const std::optional<DType>& dtype, const OptionalDevice& device,
             bool requires_grad) {
        return make(shape_of(size), dtype.value_or(DType::float32), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, OperatorBinder::doc(name));
}

}  // namespace

void bind_creation(const OperatorBinder& bind) {
  bind_creation_of(bind, "empty",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::empty(s, t, d); });
  bind_creation_of(bind, "zeros",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::zeros(s, t, d); });
  bind_creation_of(bind, "ones",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::ones(s, t, d); });
  bind_creation_of(bind, "rand",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::rand(s, t, d); });
  bind_creation_of(bind, "randn",
                   [](const Shape& s, DType t, const ocl::Device& d) { return ocl::randn(s, t, d); });
  bind.free(
      "full",
      [](const Shape& size, const ocl::Scalar& value, const std::optional<DType>& dtype,
         const OptionalDevice& device) {
        return ocl::full(size, value, dtype.value_or(value.dtype()), device_or_default(device));
      },
      py::arg("size"), py::arg("fill_value"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none());
  bind.function("zeros_like", &ocl::zeros_like);
  bind.function("ones_like", &ocl::ones_like);
}
