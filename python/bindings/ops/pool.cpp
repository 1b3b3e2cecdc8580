#include "autograd/ops/pool.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::EachDim;
using ocl::Tensor;

namespace {

/** The result, or the result and the places of its elements. */
using Pooled = std::variant<Tensor, std::pair<Tensor, Tensor>>;

Pooled pooled(const ocl::TensorList& results) {
  if (results.size() == 1) return results[0];
  return std::pair(results[0], results[1]);
}

/** Max pooling over N dimensions, by `plain`, or with the places of the maxima by `with_places`. */
template <std::size_t N, class Plain, class WithPlaces>
void bind_max_pool(const OperatorBinder& bind, const char* name, Plain plain, WithPlaces with_places) {
  bind.function(
      name,
      [=](const Tensor& input, EachDim<N> kernel_size, const std::optional<EachDim<N>>& stride,
          EachDim<N> padding, EachDim<N> dilation, bool ceil_mode, bool return_indices) {
        return return_indices ? pooled(with_places(input, kernel_size, stride, padding, dilation, ceil_mode))
                              : Pooled(plain(input, kernel_size, stride, padding, dilation, ceil_mode));
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0, py::arg("dilation") = 1,
      py::arg("ceil_mode") = false, py::arg("return_indices") = false);
}

template <std::size_t N, class Plain, class WithPlaces>
void bind_adaptive_max_pool(const OperatorBinder& bind, const char* name, Plain plain,
                            WithPlaces with_places) {
  bind.function(
      name,
      [=](const Tensor& input, const ocl::AdaptiveSizes<N>& output_size, bool return_indices) {
        return return_indices ? pooled(with_places(input, output_size)) : Pooled(plain(input, output_size));
      },
      py::arg("output_size"), py::arg("return_indices") = false);
}

void bind_max_pools(const OperatorBinder& bind) {
  bind.function(
      "max_pool1d",
      [](const Tensor& input, Single kernel_size, const std::optional<Single>& stride, Single padding,
         Single dilation, bool ceil_mode, bool return_indices) {
        const auto step = optional_size(stride);
        return return_indices
                   ? pooled(
                         ocl::max_pool1d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode))
                   : Pooled(ocl::max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode));
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0, py::arg("dilation") = 1,
      py::arg("ceil_mode") = false, py::arg("return_indices") = false);
  bind_max_pool<2>(bind, "max_pool2d", ocl::max_pool2d, ocl::max_pool2d_with_indices);
  bind_max_pool<3>(bind, "max_pool3d", ocl::max_pool3d, ocl::max_pool3d_with_indices);
  bind.function(
      "adaptive_max_pool1d",
      [](const Tensor& input, Single output_size, bool return_indices) {
        return return_indices ? pooled(ocl::adaptive_max_pool1d_with_indices(input, output_size))
                              : Pooled(ocl::adaptive_max_pool1d(input, output_size));
      },
      py::arg("output_size"), py::arg("return_indices") = false);
  bind_adaptive_max_pool<2>(bind, "adaptive_max_pool2d", ocl::adaptive_max_pool2d,
                            ocl::adaptive_max_pool2d_with_indices);
  bind_adaptive_max_pool<3>(bind, "adaptive_max_pool3d", ocl::adaptive_max_pool3d,
                            ocl::adaptive_max_pool3d_with_indices);
}

}  // namespace

void bind_pool(const OperatorBinder& bind) {
  bind_max_pools(bind);
  bind.function(
      "avg_pool1d",
      [](const Tensor& input, Single kernel_size, const std::optional<Single>& stride, Single padding,
         bool ceil_mode, bool count_include_pad) {
        return ocl::avg_pool1d(input, kernel_size, optional_size(stride), padding, ceil_mode,
                               count_include_pad);
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0,
      py::arg("ceil_mode") = false, py::arg("count_include_pad") = true);
  const auto bind_avg_pool = [&](const char* name, auto function) {
    bind.function(name, function, py::arg("kernel_size"), py::arg("stride") = py::none(),
                  py::arg("padding") = 0, py::arg("ceil_mode") = false, py::arg("count_include_pad") = true,
                  py::arg("divisor_override") = py::none());
  };
  bind_avg_pool("avg_pool2d", &ocl::avg_pool2d);
  bind_avg_pool("avg_pool3d", &ocl::avg_pool3d);
  bind.function(
      "adaptive_avg_pool1d",
      [](const Tensor& input, Single output_size) { return ocl::adaptive_avg_pool1d(input, output_size); },
      py::arg("output_size"));
  bind.function("adaptive_avg_pool2d", &ocl::adaptive_avg_pool2d, py::arg("output_size"));
  bind.function("adaptive_avg_pool3d", &ocl::adaptive_avg_pool3d, py::arg("output_size"));
}
