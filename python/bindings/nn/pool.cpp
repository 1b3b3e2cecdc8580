#include "nn/modules/pool.h"

#include "../sizes.h"
#include "module_class.h"

namespace {

/** forward of a layer that gives the places of the maxima too where it was asked to. */
template <class Class>
Class& def_forward_with_indices(Class& layer) {
  using M = typename Class::type;
  layer.def(
      "forward",
      [](M& self, const Tensor& x) -> std::variant<Tensor, std::pair<Tensor, Tensor>> {
        if (!self.returns_indices()) return self.forward(x);
        const ocl::TensorList both = self.forward_with_indices(x);
        return std::pair(both[0], both[1]);
      },
      py::arg("input"), WithoutLock());
  return layer;
}

/** `Size` is what Python gives, which the layer's own size type is made of. */
template <class M, class Size>
void bind_max_pool(py::module_& m, const char* name) {
  auto layer = ModuleClass<M>(m, name);
  layer.def(py::init([](Size kernel_size, const std::optional<Size>& stride, Size padding, Size dilation,
                        bool return_indices, bool ceil_mode) {
              return std::make_shared<M>(kernel_size, stride.value_or(kernel_size), padding, dilation,
                                         return_indices, ceil_mode);
            }),
            py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
            py::arg("dilation") = 1, py::arg("return_indices") = false, py::arg("ceil_mode") = false);
  def_forward_with_indices(layer);
}

template <class M, class Size>
void bind_adaptive_max_pool(py::module_& m, const char* name) {
  auto layer = ModuleClass<M>(m, name);
  layer.def(py::init<Size, bool>(), py::arg("output_size"), py::arg("return_indices") = false);
  def_forward_with_indices(layer);
}

}  // namespace

void bind_pool_modules(py::module_& m) {
  bind_max_pool<MaxPool1d, Single>(m, "MaxPool1d");
  bind_max_pool<MaxPool2d, Pair>(m, "MaxPool2d");
  bind_adaptive_max_pool<AdaptiveMaxPool1d, Single>(m, "AdaptiveMaxPool1d");
  bind_adaptive_max_pool<AdaptiveMaxPool2d, ocl::AdaptiveSize>(m, "AdaptiveMaxPool2d");
  ModuleClass<AvgPool1d>(m, "AvgPool1d")
      .def(py::init([](Single kernel_size, const std::optional<Single>& stride, Single padding,
                       bool ceil_mode, bool count_include_pad) {
             return std::make_shared<AvgPool1d>(kernel_size, optional_size(stride), padding, ceil_mode,
                                                count_include_pad);
           }),
           py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
           py::arg("ceil_mode") = false, py::arg("count_include_pad") = true);
  ModuleClass<AvgPool2d>(m, "AvgPool2d")
      .def(py::init<Pair, std::optional<Pair>, Pair, bool, bool, std::optional<std::int64_t>>(),
           py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
           py::arg("ceil_mode") = false, py::arg("count_include_pad") = true,
           py::arg("divisor_override") = py::none());
  ModuleClass<AdaptiveAvgPool1d>(m, "AdaptiveAvgPool1d").def(py::init<Single>(), py::arg("output_size"));
  ModuleClass<AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d")
      .def(py::init<ocl::AdaptiveSize>(), py::arg("output_size"));
}
