#include "nn/modules/resample.h"

#include "../sizes.h"
#include "module_class.h"

namespace {

template <class T>
using OneOrSeveral = std::variant<T, std::vector<T>>;

template <class T>
std::vector<T> list_of(const std::optional<OneOrSeveral<T>>& entries) {
  if (!entries) return {};
  if (const auto* one = std::get_if<T>(&*entries)) return {*one};
  return std::get<std::vector<T>>(*entries);
}

}  // namespace

void bind_resample_modules(py::module_& m) {
  ModuleClass<Upsample>(m, "Upsample")
      .def(py::init([](const PerDimension<std::int64_t>& size, const PerDimension<double>& scale_factor,
                       const std::string& mode, std::optional<bool> align_corners,
                       std::optional<bool> recompute_scale_factor) {
             return std::make_shared<Upsample>(list_of(size), list_of(scale_factor), mode, align_corners,
                                               recompute_scale_factor);
           }),
           py::arg("size") = py::none(), py::arg("scale_factor") = py::none(), py::arg("mode") = "nearest",
           py::arg("align_corners") = py::none(), py::arg("recompute_scale_factor") = py::none());
  ModuleClass<PixelShuffle>(m, "PixelShuffle").def(py::init<std::int64_t>(), py::arg("upscale_factor"));
  ModuleClass<PixelUnshuffle>(m, "PixelUnshuffle").def(py::init<std::int64_t>(), py::arg("downscale_factor"));
  ModuleClass<ChannelShuffle>(m, "ChannelShuffle").def(py::init<std::int64_t>(), py::arg("groups"));
#define PADDING(Class, axes, mode)                                                                    \
  ModuleClass<Class>(m, #Class).def(py::init([](const OneOrSeveral<std::int64_t>& padding) {          \
                                      return std::make_shared<Class>(list_of<std::int64_t>(padding)); \
                                    }),                                                               \
                                    py::arg("padding"));
#include "nn/modules/paddings.def"
}
