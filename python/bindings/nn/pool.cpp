#include "nn/modules/pool.h"

#include "module_class.h"

void bind_pool_modules(py::module_& m) {
  ModuleClass<PoolOfMaxima, Module>(m, "_PoolOfMaxima", "Base of the layers of maxima.")
      .def(
          "forward",
          [](PoolOfMaxima& self, const Tensor& x) -> std::variant<Tensor, std::pair<Tensor, Tensor>> {
            const ocl::TensorList maxima = self.maxima(x);
            if (maxima.size() == 1) return maxima[0];
            return std::pair(maxima[0], maxima[1]);
          },
          py::arg("input"), WithoutLock());
  LayerClass<MaxPool1d, PoolOfMaxima>(m, "MaxPool1d", "The largest element of each window of [N, C, L].");
  LayerClass<MaxPool2d, PoolOfMaxima>(m, "MaxPool2d", "The largest element of each window of [N, C, H, W].");
  LayerClass<MaxPool3d, PoolOfMaxima>(m, "MaxPool3d",
                                      "The largest element of each window of [N, C, D, H, W].");
  LayerClass<AdaptiveMaxPool1d, PoolOfMaxima>(m, "AdaptiveMaxPool1d",
                                              "As many maxima of [N, C, L] as output_size says.");
  LayerClass<AdaptiveMaxPool2d, PoolOfMaxima>(m, "AdaptiveMaxPool2d",
                                              "As many maxima of [N, C, H, W] as output_size says.");
  LayerClass<AdaptiveMaxPool3d, PoolOfMaxima>(m, "AdaptiveMaxPool3d",
                                              "As many maxima of [N, C, D, H, W] as output_size says.");
  LayerClass<AvgPool1d>(m, "AvgPool1d", "The mean of each window of [N, C, L].");
  LayerClass<AvgPool2d>(m, "AvgPool2d", "The mean of each window of [N, C, H, W].");
  LayerClass<AvgPool3d>(m, "AvgPool3d", "The mean of each window of [N, C, D, H, W].");
  LayerClass<AdaptiveAvgPool1d>(m, "AdaptiveAvgPool1d", "As many means of [N, C, L] as output_size says.");
  LayerClass<AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d", "As many means of [N, C, H, W] as output_size says.");
  LayerClass<AdaptiveAvgPool3d>(m, "AdaptiveAvgPool3d",
                                "As many means of [N, C, D, H, W] as output_size says.");
  LayerClass<LPPool1d>(m, "LPPool1d", "The power average of each window of [N, C, L].");
  LayerClass<LPPool2d>(m, "LPPool2d", "The power average of each window of [N, C, H, W].");
  LayerClass<LPPool3d>(m, "LPPool3d", "The power average of each window of [N, C, D, H, W].");
}
