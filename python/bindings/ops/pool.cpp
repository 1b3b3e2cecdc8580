#include "autograd/ops/pool.h"
#include "../sizes.h"
#include "operator_binder.h"

using ocl::Tensor;

namespace {

/** The result, or the result and the places of its elements. */
using Pooled = std::variant<Tensor, std::pair<Tensor, Tensor>>;

Pooled pooled(const ocl::TensorList& results) {
  if (results.size() == 1) return results[0];
  return std::pair(results[0], results[1]);
}

/** Max pooling, whose windows are given as `Size`, by `plain`, or with the places of the maxima by
 * `with_places`. */
template <class Size, class Plain, class WithPlaces>
void bind_max_pool(const OperatorBinder& bind, const char* name, Plain plain, WithPlaces with_places) {
  bind.function(
      name,
      [=](const Tensor& input, Size kernel_size, const std::optional<Size>& stride, Size padding,
          Size dilation, bool ceil_mode, bool return_indices) {
        return return_indices ? pooled(with_places(input, kernel_size, stride, padding, dilation, ceil_mode))
                              : Pooled(plain(input, kernel_size, stride, padding, dilation, ceil_mode));
      },
      py::arg("kernel_size"), py::arg("stride") = py::none(), py::arg("padding") = 0, py::arg("dilation") = 1,
      py::arg("ceil_mode") = false, py::arg("return_indices") = false);
}

template <class Size, class Plain, class WithPlaces>
void bind_adaptive_max_pool(const OperatorBinder& bind, const char* name, Plain plain,
                            WithPlaces with_places) {
  bind.function(
      name,
      [=](const Tensor& input, const Size& output_size, bool return_indices) {
        return return_indices ? pooled(with_places(input, output_size)) : Pooled(plain(input, output_size));
      },
      py::arg("output_size"), py::arg("return_indices") = false);
}

}  // namespace

void bind_pool(const OperatorBinder& bind) {
  bind_max_pool<ocl::Single>(bind, "max_pool1d", ocl::max_pool1d, ocl::max_pool1d_with_indices);
  bind_max_pool<ocl::Pair>(bind, "max_pool2d", ocl::max_pool2d, ocl::max_pool2d_with_indices);
  bind_max_pool<ocl::Triple>(bind, "max_pool3d", ocl::max_pool3d, ocl::max_pool3d_with_indices);
  bind_adaptive_max_pool<ocl::Single>(bind, "adaptive_max_pool1d", ocl::adaptive_max_pool1d,
                                      ocl::adaptive_max_pool1d_with_indices);
  bind_adaptive_max_pool<ocl::AdaptiveSize>(bind, "adaptive_max_pool2d", ocl::adaptive_max_pool2d,
                                            ocl::adaptive_max_pool2d_with_indices);
  bind_adaptive_max_pool<ocl::AdaptiveSize3d>(bind, "adaptive_max_pool3d", ocl::adaptive_max_pool3d,
                                              ocl::adaptive_max_pool3d_with_indices);
}
