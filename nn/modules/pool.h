#pragma once

#include "autograd/ops/pool.h"
#include "nn/module.h"

namespace ocl::nn {

/** "2", or "(2, 3)" where the two differ. */
inline std::string pair_repr(Pair pair) {
  return pair[0] == pair[1] ? std::to_string(pair[0]) : dlprim::concat('(', pair[0], ", ", pair[1], ')');
}

/** torch.nn.MaxPool2d. */
class MaxPool2d : public Module {
 public:
  explicit MaxPool2d(Pair kernel_size, std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                     Pair dilation = 1, bool ceil_mode = false)
      : kernel_(kernel_size),
        stride_(stride.value_or(kernel_size)),
        padding_(padding),
        dilation_(dilation),
        ceil_mode_(ceil_mode) {}
  Tensor forward(const Tensor& x) override {
    return max_pool2d(x, kernel_, stride_, padding_, dilation_, ceil_mode_);
  }
  std::string name() const override { return "MaxPool2d"; }
  std::string extra_repr() const override {
    return dlprim::concat("kernel_size=", pair_repr(kernel_), ", stride=", pair_repr(stride_),
                          ", padding=", pair_repr(padding_), ", dilation=", pair_repr(dilation_),
                          ", ceil_mode=", ceil_mode_ ? "True" : "False");
  }

 private:
  Pair kernel_, stride_, padding_, dilation_;
  bool ceil_mode_;
};

/** torch.nn.AvgPool2d. */
class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Pair kernel_size, std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true)
      : kernel_(kernel_size),
        stride_(stride.value_or(kernel_size)),
        padding_(padding),
        ceil_mode_(ceil_mode),
        count_include_pad_(count_include_pad) {}
  Tensor forward(const Tensor& x) override {
    return avg_pool2d(x, kernel_, stride_, padding_, ceil_mode_, count_include_pad_);
  }
  std::string name() const override { return "AvgPool2d"; }
  std::string extra_repr() const override {
    return dlprim::concat("kernel_size=", pair_repr(kernel_), ", stride=", pair_repr(stride_),
                          ", padding=", pair_repr(padding_));
  }

 private:
  Pair kernel_, stride_, padding_;
  bool ceil_mode_, count_include_pad_;
};

/** torch.nn.AdaptiveAvgPool2d. */
class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(Pair output_size) : size_(output_size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, size_); }
  std::string name() const override { return "AdaptiveAvgPool2d"; }
  std::string extra_repr() const override { return "output_size=" + pair_repr(size_); }

 private:
  Pair size_;
};

}  // namespace ocl::nn
