#include "autograd/ops/pad.h"
#include "autograd/ops/resample.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::Tensor;

void bind_resample(const OperatorBinder& bind) {
  bind.function(
      "interpolate",
      [](const Tensor& input, const PerDimension<std::int64_t>& size,
         const PerDimension<double>& scale_factor, const std::string& mode, std::optional<bool> align_corners,
         std::optional<bool> recompute_scale_factor, bool antialias) {
        return ocl::interpolate(input, entries_of(size, input), entries_of(scale_factor, input), mode,
                                align_corners, recompute_scale_factor, antialias);
      },
      py::arg("size") = py::none(), py::arg("scale_factor") = py::none(), py::arg("mode") = "nearest",
      py::arg("align_corners") = py::none(), py::arg("recompute_scale_factor") = py::none(),
      py::arg("antialias") = false);
  bind.function("pad", &ocl::pad, py::arg("pad"), py::arg("mode") = "constant",
                py::arg("value") = py::none());
  bind.function("unfold", &ocl::unfold, py::arg("kernel_size"), py::arg("dilation") = 1,
                py::arg("padding") = 0, py::arg("stride") = 1);
  bind.function("fold", &ocl::fold, py::arg("output_size"), py::arg("kernel_size"), py::arg("dilation") = 1,
                py::arg("padding") = 0, py::arg("stride") = 1);
  bind.function("pixel_shuffle", &ocl::pixel_shuffle, py::arg("upscale_factor"));
  bind.function("pixel_unshuffle", &ocl::pixel_unshuffle, py::arg("downscale_factor"));
  bind.function("channel_shuffle", &ocl::channel_shuffle, py::arg("groups"));
}
