#include "autograd/autocast.h"
#include "casters.h"
#include "nn/optim/grad_scaler.h"

using ocl::DType;
using ocl::Tensor;
using ocl::TensorList;

void bind_amp(py::module_& m) {
  using Mode = std::tuple<bool, DType, bool>;
  const auto as_tuple = [](const ocl::AutocastMode& mode) {
    return Mode{mode.enabled, mode.dtype, mode.cache_enabled};
  };
  m.def("_autocast_mode", [as_tuple] { return as_tuple(ocl::autocast_mode()); });
  m.def(
      "_set_autocast_mode",
      [as_tuple](bool enabled, DType dtype, bool cache_enabled) {
        return as_tuple(ocl::set_autocast_mode({enabled, dtype, cache_enabled}));
      },
      py::arg("enabled"), py::arg("dtype"), py::arg("cache_enabled"));
  m.def("_cast_rule", [](const std::string& name) {
    constexpr const char* names[] = {"none",    "lower_precision", "lower_precision_of_ends",
                                     "float32", "float32_result",  "widest",
                                     "refused"};
    return names[static_cast<int>(ocl::cast_rule(name))];
  });
  m.def(
      "_unscale_", [](const TensorList& gradients, double scale) { return ocl::unscale_(gradients, scale); },
      py::arg("gradients"), py::arg("scale"), WithoutLock());
}
