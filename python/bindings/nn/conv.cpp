#include "nn/modules/conv.h"
#include "../sizes.h"
#include "module_class.h"

using ocl::Padding2d;

namespace {

py::tuple tuple_of(const std::vector<int>& numbers) {
  return py::tuple(py::cast(numbers));
}

void bind_base(py::module_& m) {
  ModuleClass<Convolution> base(m, "_ConvNd", "Base of the convolution layers.");
  const auto attribute = [&](const char* name, auto value) {
    base.def_property_readonly(name, [value](const Convolution& c) { return value(c.options()); });
  };
  using Options = ConvolutionOptions;
  attribute("in_channels", [](const Options& o) { return o.in_channels; });
  attribute("out_channels", [](const Options& o) { return o.out_channels; });
  attribute("kernel_size", [](const Options& o) { return tuple_of(o.kernel_size); });
  attribute("stride", [](const Options& o) { return tuple_of(o.stride); });
  attribute("padding", [](const Options& o) -> py::object {
    if (const auto* word = std::get_if<std::string>(&o.padding)) return py::str(*word);
    return tuple_of(std::get<std::vector<int>>(o.padding));
  });
  attribute("dilation", [](const Options& o) { return tuple_of(o.dilation); });
  attribute("output_padding", [](const Options& o) { return tuple_of(o.output_padding); });
  attribute("groups", [](const Options& o) { return o.groups; });
  attribute("padding_mode", [](const Options& o) { return o.padding_mode; });
}

}  // namespace

void bind_conv_modules(py::module_& m) {
  bind_base(m);
  ModuleClass<Conv1d, Convolution>(m, "Conv1d", "1D convolution, [N, in, L] -> [N, out, OL].")
      .def(py::init([](std::int64_t in_channels, std::int64_t out_channels, Single kernel_size, Single stride,
                       const SinglePadding& padding, Single dilation, std::int64_t groups, bool bias,
                       const std::string& padding_mode) {
             return std::make_shared<Conv1d>(in_channels, out_channels, kernel_size, stride,
                                             padding_of(padding), dilation, groups, bias, padding_mode);
           }),
           py::arg("in_channels"), py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = 1,
           py::arg("padding") = 0, py::arg("dilation") = 1, py::arg("groups") = 1, py::arg("bias") = true,
           py::arg("padding_mode") = "zeros");
  ModuleClass<Conv2d, Convolution>(m, "Conv2d", "2D convolution, [N, in, H, W] -> [N, out, OH, OW].")
      .def(py::init<std::int64_t, std::int64_t, Pair, Pair, Padding2d, Pair, std::int64_t, bool,
                    std::string>(),
           py::arg("in_channels"), py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = 1,
           py::arg("padding") = 0, py::arg("dilation") = 1, py::arg("groups") = 1, py::arg("bias") = true,
           py::arg("padding_mode") = "zeros");
  ModuleClass<ConvTranspose1d, Convolution>(m, "ConvTranspose1d",
                                            "The gradient of a 1D convolution, [N, in, L] -> [N, out, OL].")
      .def(py::init<std::int64_t, std::int64_t, Single, Single, Single, Single, std::int64_t, bool, Single>(),
           py::arg("in_channels"), py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = 1,
           py::arg("padding") = 0, py::arg("output_padding") = 0, py::arg("groups") = 1,
           py::arg("bias") = true, py::arg("dilation") = 1);
  ModuleClass<ConvTranspose2d, Convolution>(
      m, "ConvTranspose2d", "The gradient of a 2D convolution, [N, in, H, W] -> [N, out, OH, OW].")
      .def(py::init<std::int64_t, std::int64_t, Pair, Pair, Pair, Pair, std::int64_t, bool, Pair>(),
           py::arg("in_channels"), py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = 1,
           py::arg("padding") = 0, py::arg("output_padding") = 0, py::arg("groups") = 1,
           py::arg("bias") = true, py::arg("dilation") = 1);
}
