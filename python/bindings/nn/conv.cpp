#include "nn/modules/conv.h"

#include "module_class.h"

namespace {

template <class M>
void bind_transposed(py::module_& m, const char* name, const char* documentation) {
  LayerClass<M, Convolution>(m, name, documentation)
      .def(
          "forward",
          [](M& self, const Tensor& x, const std::optional<std::vector<std::int64_t>>& output_size) {
            return self.forward(x, output_size);
          },
          py::arg("input"), py::arg("output_size") = py::none(), WithoutLock());
}

}  // namespace

void bind_conv_modules(py::module_& m) {
  ModuleClass<Convolution, Module>(m, "_ConvNd", "Base of the convolution layers.");
  LayerClass<Conv1d, Convolution>(m, "Conv1d", "1D convolution, [N, in, L] -> [N, out, OL].");
  LayerClass<Conv2d, Convolution>(m, "Conv2d", "2D convolution, [N, in, H, W] -> [N, out, OH, OW].");
  LayerClass<Conv3d, Convolution>(m, "Conv3d", "3D convolution, [N, in, D, H, W] -> [N, out, OD, OH, OW].");
  bind_transposed<ConvTranspose1d>(m, "ConvTranspose1d",
                                   "The gradient of a 1D convolution, [N, in, L] -> [N, out, OL].");
  bind_transposed<ConvTranspose2d>(m, "ConvTranspose2d",
                                   "The gradient of a 2D convolution, [N, in, H, W] -> [N, out, OH, OW].");
  bind_transposed<ConvTranspose3d>(
      m, "ConvTranspose3d", "The gradient of a 3D convolution, [N, in, D, H, W] -> [N, out, OD, OH, OW].");
}
