#pragma once

#include <type_traits>

#include "autograd/ops/pool.h"
#include "nn/module.h"

namespace ocl::nn {

/** A size as Python prints it: "2", or "(2, 3)" where it was given as a pair.
 */
inline std::string size_repr(int size) {
  return std::to_string(size);
}
inline std::string size_repr(Pair size) {
  return size.is_one_number ? std::to_string(size[0]) : dlprim::concat('(', size[0], ", ", size[1], ')');
}
inline std::string size_repr(const AdaptiveSize& size) {
  const auto text = [](std::optional<std::int64_t> n) { return n ? std::to_string(*n) : "None"; };
  if (size.is_one_number) return text(size.values[0]);
  return dlprim::concat('(', text(size.values[0]), ", ", text(size.values[1]), ')');
}

/** The pools of one dimension have Size int, those of two Pair. */
template <class Size>
constexpr bool is_line = std::is_integral_v<Size>;

/** torch.nn.MaxPool1d and MaxPool2d. */
template <class Size>
class MaxPool : public Module {
 public:
  explicit MaxPool(Size kernel_size, std::optional<Size> stride = std::nullopt, Size padding = 0,
                   Size dilation = 1, bool return_indices = false, bool ceil_mode = false)
      : kernel_(kernel_size),
        stride_(stride.value_or(kernel_size)),
        padding_(padding),
        dilation_(dilation),
        return_indices_(return_indices),
        ceil_mode_(ceil_mode) {}
  Tensor forward(const Tensor& x) override {
    if constexpr (is_line<Size>)
      return max_pool1d(x, kernel_, stride_, padding_, dilation_, ceil_mode_);
    else
      return max_pool2d(x, kernel_, stride_, padding_, dilation_, ceil_mode_);
  }
  /** The maxima and their places. */
  TensorList forward_with_indices(const Tensor& x) const {
    if constexpr (is_line<Size>)
      return max_pool1d_with_indices(x, kernel_, stride_, padding_, dilation_, ceil_mode_);
    else
      return max_pool2d_with_indices(x, kernel_, stride_, padding_, dilation_, ceil_mode_);
  }
  bool returns_indices() const { return return_indices_; }
  std::string name() const override { return is_line<Size> ? "MaxPool1d" : "MaxPool2d"; }
  std::string extra_repr() const override {
    return dlprim::concat("kernel_size=", size_repr(kernel_), ", stride=", size_repr(stride_),
                          ", padding=", size_repr(padding_), ", dilation=", size_repr(dilation_),
                          ", ceil_mode=", ceil_mode_ ? "True" : "False");
  }

 private:
  Size kernel_, stride_, padding_, dilation_;
  bool return_indices_, ceil_mode_;
};
using MaxPool1d = MaxPool<int>;
using MaxPool2d = MaxPool<Pair>;

/** torch.nn.AvgPool1d. */
class AvgPool1d : public Module {
 public:
  explicit AvgPool1d(int kernel_size, std::optional<int> stride = std::nullopt, int padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true)
      : kernel_(kernel_size),
        stride_(stride.value_or(kernel_size)),
        padding_(padding),
        ceil_mode_(ceil_mode),
        count_include_pad_(count_include_pad) {}
  Tensor forward(const Tensor& x) override {
    return avg_pool1d(x, kernel_, stride_, padding_, ceil_mode_, count_include_pad_);
  }
  std::string name() const override { return "AvgPool1d"; }
  std::string extra_repr() const override {
    return dlprim::concat("kernel_size=(", kernel_, ",), stride=(", stride_, ",), padding=(", padding_, ",)");
  }

 private:
  int kernel_, stride_, padding_;
  bool ceil_mode_, count_include_pad_;
};

/** torch.nn.AvgPool2d. */
class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Pair kernel_size, std::optional<Pair> stride = std::nullopt, Pair padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     std::optional<std::int64_t> divisor_override = std::nullopt)
      : kernel_(kernel_size),
        stride_(stride.value_or(kernel_size)),
        padding_(padding),
        ceil_mode_(ceil_mode),
        count_include_pad_(count_include_pad),
        divisor_override_(divisor_override) {}
  Tensor forward(const Tensor& x) override {
    return avg_pool2d(x, kernel_, stride_, padding_, ceil_mode_, count_include_pad_, divisor_override_);
  }
  std::string name() const override { return "AvgPool2d"; }
  std::string extra_repr() const override {
    return dlprim::concat("kernel_size=", size_repr(kernel_), ", stride=", size_repr(stride_),
                          ", padding=", size_repr(padding_));
  }

 private:
  Pair kernel_, stride_, padding_;
  bool ceil_mode_, count_include_pad_;
  std::optional<std::int64_t> divisor_override_;
};

/** torch.nn.AdaptiveAvgPool1d and AdaptiveAvgPool2d. */
template <class Size>
class AdaptiveAvgPool : public Module {
 public:
  explicit AdaptiveAvgPool(Size output_size) : size_(output_size) {}
  Tensor forward(const Tensor& x) override {
    if constexpr (is_line<Size>)
      return adaptive_avg_pool1d(x, size_);
    else
      return adaptive_avg_pool2d(x, size_);
  }
  std::string name() const override { return is_line<Size> ? "AdaptiveAvgPool1d" : "AdaptiveAvgPool2d"; }
  std::string extra_repr() const override { return "output_size=" + size_repr(size_); }

 private:
  Size size_;
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<int>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<AdaptiveSize>;

/** torch.nn.AdaptiveMaxPool1d and AdaptiveMaxPool2d. */
template <class Size>
class AdaptiveMaxPool : public Module {
 public:
  explicit AdaptiveMaxPool(Size output_size, bool return_indices = false)
      : size_(output_size), return_indices_(return_indices) {}
  Tensor forward(const Tensor& x) override {
    if constexpr (is_line<Size>)
      return adaptive_max_pool1d(x, size_);
    else
      return adaptive_max_pool2d(x, size_);
  }
  /** The maxima and their places. */
  TensorList forward_with_indices(const Tensor& x) const {
    if constexpr (is_line<Size>)
      return adaptive_max_pool1d_with_indices(x, size_);
    else
      return adaptive_max_pool2d_with_indices(x, size_);
  }
  bool returns_indices() const { return return_indices_; }
  std::string name() const override { return is_line<Size> ? "AdaptiveMaxPool1d" : "AdaptiveMaxPool2d"; }
  std::string extra_repr() const override { return "output_size=" + size_repr(size_); }

 private:
  Size size_;
  bool return_indices_;
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<int>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<AdaptiveSize>;

}  // namespace ocl::nn
