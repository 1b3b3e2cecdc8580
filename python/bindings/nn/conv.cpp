#include "module_class.h"

void bind_conv_modules(py::module_& m) {
  ModuleClass<Conv2d>(m, "Conv2d", "2D convolution, [N, in, H, W] -> [N, out, OH, OW].")
      .def(py::init<std::int64_t, std::int64_t, Pair, Pair, Pair, Pair, int, bool>(), py::arg("in_channels"),
           py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = Pair(1),
           py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1), py::arg("groups") = 1,
           py::arg("bias") = true);
}
