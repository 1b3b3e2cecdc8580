#include "nn/modules/conv.h"

#include <cmath>

#include "autograd/creation.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

std::string pair_text(Pair pair) {
  return dlprim::concat('(', pair[0], ", ", pair[1], ')');
}

}  // namespace

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size, Pair stride,
               Pair padding, Pair dilation, int groups, bool with_bias)
    : stride_(stride), padding_(padding), dilation_(dilation), groups_(groups) {
  dlprim::require(groups > 0, "Conv2d: groups must be a positive integer, got ", groups);
  dlprim::require(in_channels > 0 && in_channels % groups == 0, "Conv2d: in_channels (", in_channels,
                  ") must be divisible by groups (", groups, ")");
  dlprim::require(out_channels > 0 && out_channels % groups == 0, "Conv2d: out_channels (", out_channels,
                  ") must be divisible by groups (", groups, ")");
  dlprim::require(kernel_size[0] > 0 && kernel_size[1] > 0, "Conv2d: kernel_size must be positive, got ",
                  pair_text(kernel_size));
  register_parameter("weight", weight,
                     empty({out_channels, in_channels / groups, kernel_size[0], kernel_size[1]}));
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  register_parameter("bias", bias, with_bias ? empty({out_channels}) : Tensor());
  if (!with_bias) return;
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans(weight).in));
  init::uniform_(bias, -bound, bound);
}

std::string Conv2d::extra_repr() const {
  std::string text = dlprim::concat(weight.size(1) * groups_, ", ", weight.size(0), ", kernel_size=(",
                                    weight.size(2), ", ", weight.size(3), "), stride=", pair_text(stride_));
  if (padding_[0] || padding_[1]) text += ", padding=" + pair_text(padding_);
  if (dilation_[0] != 1 || dilation_[1] != 1) text += ", dilation=" + pair_text(dilation_);
  if (groups_ != 1) text += dlprim::concat(", groups=", groups_);
  if (!bias.defined()) text += ", bias=False";
  return text;
}

}  // namespace ocl::nn
