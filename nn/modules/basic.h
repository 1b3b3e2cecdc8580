#pragma once

#include "autograd/ops/dropout.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/views.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Identity. */
class Identity : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
  std::string name() const override { return "Identity"; }
};

/** torch.nn.Flatten: joins dimensions start_dim to end_dim. */
class Flatten : public Module {
 public:
  explicit Flatten(std::int64_t start_dim = 1, std::int64_t end_dim = -1)
      : start_(start_dim), end_(end_dim) {}
  Tensor forward(const Tensor& x) override { return flatten(x, start_, end_); }
  std::string name() const override { return "Flatten"; }
  std::string extra_repr() const override { return dlprim::concat("start_dim=", start_, ", end_dim=", end_); }

 private:
  std::int64_t start_, end_;
};

/** torch.nn.Dropout. */
class Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5) : p_(p) {
    dlprim::require(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  }
  Tensor forward(const Tensor& x) override { return dropout(x, p_, is_training()); }
  std::string name() const override { return "Dropout"; }
  std::string extra_repr() const override { return "p=" + float_repr(p_) + ", inplace=False"; }

 private:
  double p_;
};

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
