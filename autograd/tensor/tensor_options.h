#pragma once

#include <optional>
#include <type_traits>

#include "autograd/tensor/device.h"
#include "dlprim/core/dtype.h"

namespace ocl {

/**
 * How a tensor is to be made, as torch::TensorOptions: `zeros({2}, dtype(kFloat64).requires_grad(true))`.
 * An option that is not set has the default of the creating function.
 */
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(dlprim::DType dtype) : dtype_(dtype) {}
  TensorOptions(const Device& device) : device_(device) {}

  TensorOptions dtype(std::optional<dlprim::DType> dtype) const {
    return changed(&TensorOptions::dtype_, dtype);
  }
  TensorOptions device(const std::optional<Device>& device) const {
    return changed(&TensorOptions::device_, device);
  }
  TensorOptions requires_grad(bool requires_grad) const {
    return changed(&TensorOptions::requires_grad_, requires_grad);
  }

  /** These, but for what `others` set. */
  TensorOptions with(const TensorOptions& others) const {
    return dtype(others.dtype_ ? others.dtype_ : dtype_)
        .device(others.device_ ? others.device_ : device_)
        .requires_grad(requires_grad_ || others.requires_grad_);
  }

  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  const std::optional<dlprim::DType>& dtype_opt() const { return dtype_; }
  const std::optional<Device>& device_opt() const { return device_; }
  dlprim::DType dtype() const { return dtype_.value_or(dlprim::DType::float32); }
  Device device() const { return device_.value_or(Device()); }
  bool requires_grad() const { return requires_grad_; }

 private:
  template <class T, class Given>
  TensorOptions changed(T TensorOptions::* option, const Given& value) const {
    TensorOptions options = *this;
    options.*option = value;
    return options;
  }

  std::optional<dlprim::DType> dtype_;
  std::optional<Device> device_;
  bool requires_grad_ = false;
};

/** `options` of one setting, for further ones to follow: `dtype(kInt64).device("ocl:1")`. */
inline TensorOptions dtype(dlprim::DType dtype) {
  return TensorOptions().dtype(dtype);
}
inline TensorOptions device(const Device& device) {
  return TensorOptions().device(device);
}
inline TensorOptions requires_grad(bool requires_grad = true) {
  return TensorOptions().requires_grad(requires_grad);
}

/** A type that stands for TensorOptions, or for a device alone, and for no dtype: that has a place of its
 * own. */
template <class T>
using IfOptions = std::enable_if_t<std::is_same_v<T, TensorOptions> || std::is_same_v<T, Device> ||
                                   std::is_same_v<T, DeviceType>>;

}  // namespace ocl
