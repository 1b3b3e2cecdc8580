#include "nn/models/inception_parts.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"

namespace ocl::models {

BasicConv2d::BasicConv2d(const BasicConv2dOptions& o) : Composed(o) {
  compose([&] {
    add<Conv2d>("conv", Conv2dOptions(o.in_channels(), o.out_channels(), o.kernel_size())
                            .stride(o.stride())
                            .padding(o.padding())
                            .bias(false));
    add<BatchNorm2d>("bn", BatchNormOptions(o.out_channels()).eps(0.001));
  });
}

Tensor BasicConv2d::forward(const Tensor& x) {
  Tensor y = bn(conv(x));
  return y.relu_();
}

Tensor with_inception_statistics(const Tensor& x) {
  constexpr double means[]{0.485, 0.456, 0.406}, deviations[]{0.229, 0.224, 0.225};
  TensorList channels;
  for (const int c : {0, 1, 2})
    channels.push_back(narrow(x, 1, c, 1) * (deviations[c] / 0.5) + (means[c] - 0.5) / 0.5);
  return cat(channels, 1);
}

void init_inception(const Module& net, double std) {
  for_each<Conv2d>(net, [&](Conv2d& conv) { init::trunc_normal_(conv.weight, 0, std); });
  for_each<Linear>(net, [&](Linear& linear) { init::trunc_normal_(linear.weight, 0, std); });
}

}  // namespace ocl::models
