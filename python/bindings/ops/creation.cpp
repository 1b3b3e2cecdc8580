#include "autograd/autograd.h"
#include "operator_binder.h"

using ocl::DType;
using ocl::MemoryFormat;
using ocl::Scalar;
using ocl::Shape;
using ocl::Tensor;

namespace {

using OptionalDevice = std::optional<ocl::Device>;
using OptionalDType = std::optional<DType>;

/** NAME(*sizes, size=None, dtype=None, device=None, requires_grad=False) */
template <class Make>
void bind_sized(const OperatorBinder& bind, const char* name, const Make& make) {
  bind.module().def(
      name,
      [make](const py::args& sizes, const std::optional<Shape>& size, const OptionalDType& dtype,
             const OptionalDevice& device, bool requires_grad) {
        return make(shape_of(sizes, size), dtype.value_or(DType::float32), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("size") = py::none(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false, OperatorBinder::doc(name));
}

/** NAME(input, dtype=None, device=None, requires_grad=False, memory_format=None) */
void bind_like(const OperatorBinder& bind, const char* name,
               decltype(&ocl::signatures::ones_like) make_like) {
  bind.function(
      name,
      [make_like](const Tensor& input, const OptionalDType& dtype, const OptionalDevice& device,
                  bool requires_grad, const OptionalFormat& format) {
        return make_like(input, dtype, device, kept_or(format)).requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, py::arg("memory_format") = py::none());
}

/** Tensor.new_...(*sizes, size=None, dtype=None, device=None, requires_grad=False) */
template <class Make>
void bind_new(const OperatorBinder& bind, const char* method, const Make& make) {
  bind.tensor().def(
      method,
      [make](const Tensor& like, const py::args& sizes, const std::optional<Shape>& size,
             const OptionalDType& dtype, const OptionalDevice& device, bool requires_grad) {
        return make(shape_of(sizes, size), dtype.value_or(like.dtype()), device.value_or(like.device()))
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("size") = py::none(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
}

void bind_empty(const OperatorBinder& bind) {
  bind.module().def(
      "empty",
      [](const py::args& sizes, const std::optional<Shape>& size, const OptionalDType& dtype,
         const OptionalDevice& device, bool requires_grad, const OptionalFormat& format) {
        return ocl::empty(shape_of(sizes, size), dtype.value_or(DType::float32), device_or_default(device),
                          format.value_or(MemoryFormat::contiguous))
            .requires_grad_(requires_grad);
      },
      py::kw_only(), py::arg("size") = py::none(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false, py::arg("memory_format") = py::none(),
      OperatorBinder::doc("empty"));
}

void bind_full(const OperatorBinder& bind) {
  bind.free(
      "full",
      [](const Shape& size, const Scalar& value, const OptionalDType& dtype, const OptionalDevice& device,
         bool requires_grad) {
        return ocl::full(size, value, dtype.value_or(value.dtype()), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::arg("size"), py::arg("fill_value"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
  bind.function(
      "full_like",
      [](const Tensor& input, const Scalar& value, const OptionalDType& dtype, const OptionalDevice& device,
         bool requires_grad, const OptionalFormat& format) {
        return ocl::full_like(input, value, dtype, device, kept_or(format)).requires_grad_(requires_grad);
      },
      py::arg("fill_value"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false, py::arg("memory_format") = py::none());
  bind.tensor().def(
      "new_full",
      [](const Tensor& like, const Shape& size, const Scalar& value, const OptionalDType& dtype,
         const OptionalDevice& device, bool requires_grad) {
        return ocl::full(size, value, dtype.value_or(like.dtype()), device.value_or(like.device()))
            .requires_grad_(requires_grad);
      },
      py::arg("size"), py::arg("fill_value"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
}

void bind_sequences(const OperatorBinder& bind) {
  const auto arange = [](const Scalar& start, const Scalar& end, const Scalar& step,
                         const OptionalDType& dtype, const OptionalDevice& device, bool requires_grad) {
    return ocl::arange(start, end, step, dtype, device_or_default(device)).requires_grad_(requires_grad);
  };
  bind.free(
      "arange",
      [arange](const Scalar& end, const OptionalDType& dtype, const OptionalDevice& device,
               bool requires_grad) { return arange(0, end, 1, dtype, device, requires_grad); },
      py::arg("end"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      py::arg("requires_grad") = false);
  bind.free("arange", arange, py::arg("start"), py::arg("end"), py::arg("step") = 1, py::kw_only(),
            py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  bind.free(
      "linspace",
      [](const Scalar& start, const Scalar& end, std::int64_t steps, const OptionalDType& dtype,
         const OptionalDevice& device, bool requires_grad) {
        return ocl::linspace(start, end, steps, dtype.value_or(DType::float32), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::arg("start"), py::arg("end"), py::arg("steps"), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
  bind.free(
      "eye",
      [](std::int64_t n, const std::optional<std::int64_t>& m, const OptionalDType& dtype,
         const OptionalDevice& device, bool requires_grad) {
        return ocl::eye(n, m, dtype.value_or(DType::float32), device_or_default(device))
            .requires_grad_(requires_grad);
      },
      py::arg("n"), py::arg("m") = py::none(), py::kw_only(), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), py::arg("requires_grad") = false);
}

}  // namespace

void bind_creation(const OperatorBinder& bind) {
  const auto empty = [](const Shape& s, DType t, const ocl::Device& d) { return ocl::empty(s, t, d); };
  const auto zeros = [](const Shape& s, DType t, const ocl::Device& d) { return ocl::zeros(s, t, d); };
  const auto ones = [](const Shape& s, DType t, const ocl::Device& d) { return ocl::ones(s, t, d); };
  bind_empty(bind);
  bind_sized(bind, "zeros", zeros);
  bind_sized(bind, "ones", ones);
  bind_like(bind, "empty_like", &ocl::empty_like);
  bind_like(bind, "zeros_like", &ocl::zeros_like);
  bind_like(bind, "ones_like", &ocl::ones_like);
  bind_new(bind, "new_empty", empty);
  bind_new(bind, "new_zeros", zeros);
  bind_new(bind, "new_ones", ones);
  bind_full(bind);
  bind_sequences(bind);
}
