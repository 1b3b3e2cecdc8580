#pragma once

#include "autograd/ops/conv.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Conv2d: [N, in, H, W] -> [N, out, OH, OW]; see ocl::conv2d. Kaiming-uniform weights, as
 * PyTorch's. */
class Conv2d : public Module {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size, Pair stride = 1,
         Pair padding = 0, Pair dilation = 1, int groups = 1, bool bias = true);
  Tensor forward(const Tensor& x) override {
    return conv2d(x, weight, bias, stride_, padding_, dilation_, groups_);
  }
  std::string name() const override { return "Conv2d"; }
  std::string extra_repr() const override;

  Tensor weight;  // [out_channels, in_channels / groups, kernel height, kernel width]
  Tensor bias;    // [out_channels], or undefined

 private:
  Pair stride_, padding_, dilation_;
  int groups_;
};

}  // namespace ocl::nn
