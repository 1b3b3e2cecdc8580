#include "module_class.h"

namespace {

/** One size, or several. */
using Sizes = std::variant<std::int64_t, std::vector<std::int64_t>>;

std::vector<std::int64_t> sizes_of(const Sizes& sizes) {
  if (const auto* one = std::get_if<std::int64_t>(&sizes)) return {*one};
  return std::get<std::vector<std::int64_t>>(sizes);
}

template <class M>
void bind_batch_norm(py::module_& m, const char* name, const char* doc) {
  ModuleClass<M>(m, name, doc)
      .def(py::init<std::int64_t, double, std::optional<double>, bool, bool>(), py::arg("num_features"),
           py::arg("eps") = 1e-5, py::arg("momentum") = 0.1, py::arg("affine") = true,
           py::arg("track_running_stats") = true)
      .def_readonly("num_batches_tracked", &M::num_batches_tracked);
}

template <class M>
void bind_instance_norm(py::module_& m, const char* name, const char* doc) {
  ModuleClass<M>(m, name, doc)
      .def(py::init<std::int64_t, double, std::optional<double>, bool, bool>(), py::arg("num_features"),
           py::arg("eps") = 1e-5, py::arg("momentum") = 0.1, py::arg("affine") = false,
           py::arg("track_running_stats") = false)
      .def_readonly("num_batches_tracked", &M::num_batches_tracked);
}

}  // namespace

void bind_norm_modules(py::module_& m) {
  bind_batch_norm<BatchNorm1d>(m, "BatchNorm1d", "Batch normalisation over [N, C] or [N, C, L].");
  bind_batch_norm<BatchNorm2d>(m, "BatchNorm2d", "Batch normalisation over [N, C, H, W].");
  bind_instance_norm<InstanceNorm1d>(m, "InstanceNorm1d", "Instance normalisation over [N, C, L] or [C, L].");
  bind_instance_norm<InstanceNorm2d>(m, "InstanceNorm2d",
                                     "Instance normalisation over [N, C, H, W] or [C, H, W].");
  ModuleClass<LayerNorm>(m, "LayerNorm", "The last dimensions, of sizes normalized_shape, normalised.")
      .def(py::init([](const Sizes& normalized_shape, double eps, bool elementwise_affine, bool bias) {
             return std::make_shared<LayerNorm>(sizes_of(normalized_shape), eps, elementwise_affine, bias);
           }),
           py::arg("normalized_shape"), py::arg("eps") = 1e-5, py::arg("elementwise_affine") = true,
           py::arg("bias") = true);
  ModuleClass<RMSNorm>(m, "RMSNorm", "The last dimensions over their root mean square.")
      .def(py::init([](const Sizes& normalized_shape, std::optional<double> eps, bool elementwise_affine) {
             return std::make_shared<RMSNorm>(sizes_of(normalized_shape), eps, elementwise_affine);
           }),
           py::arg("normalized_shape"), py::arg("eps") = py::none(), py::arg("elementwise_affine") = true);
  ModuleClass<GroupNorm>(m, "GroupNorm", "Groups of channels of [N, num_channels, ...] normalised.")
      .def(py::init<std::int64_t, std::int64_t, double, bool>(), py::arg("num_groups"),
           py::arg("num_channels"), py::arg("eps") = 1e-5, py::arg("affine") = true);
  ModuleClass<LocalResponseNorm>(m, "LocalResponseNorm", "Local response normalisation of [N, C, ...].")
      .def(py::init<std::int64_t, double, double, double>(), py::arg("size"), py::arg("alpha") = 1e-4,
           py::arg("beta") = 0.75, py::arg("k") = 1.0);
}
