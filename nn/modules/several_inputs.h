#pragma once

#include "nn/layer.h"

namespace ocl::nn {

/** Base of the modules that take several tensors and give one. Undefined ones are left out. */
class OfSeveralInputs : public Module {
 public:
  using Module::forward;
  /** The names that the inputs have in Python; the first `required` must be given. */
  struct Inputs {
    std::vector<std::string> names;
    std::size_t required;
  };
  virtual const Inputs& inputs() const = 0;
  /** The result for as many tensors as there are names. */
  virtual Tensor result(const TensorList& given) = 0;
  Value call(const Arguments& arguments) override;
  using Module::operator();
  /** Calls the module, its hooks included; an undefined last input is left out. */
  Tensor operator()(const Tensor& first, const Tensor& second, const Tensor& third = {});
};

}  // namespace ocl::nn
