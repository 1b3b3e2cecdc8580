#include "nn/modules/pool.h"

namespace ocl::nn {
namespace {

template <class Options>
std::string window_repr(const Options& o) {
  return dlprim::concat("kernel_size=", repr_of(o.kernel_size()), ", stride=", repr_of(o.stride()),
                        ", padding=", repr_of(o.padding()));
}

}  // namespace

Tensor AvgPool1d::forward(const Tensor& x) {
  const AvgPool1dOptions o = with_stride(options());
  return avg_pool1d(x, o.kernel_size()[0], (*o.stride())[0], o.padding()[0], o.ceil_mode(),
                    o.count_include_pad());
}

std::string AvgPool1d::extra_repr() const {
  return window_repr(options());
}

Tensor AvgPool2d::forward(const Tensor& x) {
  const AvgPool2dOptions o = options();
  return avg_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                    o.divisor_override());
}

std::string AvgPool2d::extra_repr() const {
  return window_repr(options());
}

Tensor AvgPool3d::forward(const Tensor& x) {
  const AvgPool3dOptions o = options();
  return avg_pool3d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                    o.divisor_override());
}

std::string AvgPool3d::extra_repr() const {
  return window_repr(options());
}

}  // namespace ocl::nn
