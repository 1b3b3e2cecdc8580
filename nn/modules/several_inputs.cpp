#include "nn/modules/several_inputs.h"

namespace ocl::nn {

Value OfSeveralInputs::call(const Arguments& arguments) {
  const Inputs& all = inputs();
  const Value::Sequence given = arguments.matched(name(), all.names);
  TensorList tensors;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string what = all.names[i] + " of " + name();
    tensors.push_back(i < all.required ? given[i].tensor(what) : given[i].tensor_or_none(what));
  }
  return result(tensors);
}

Tensor OfSeveralInputs::operator()(const Tensor& first, const Tensor& second, const Tensor& third) {
  if (const auto other = elsewhere())
    return as_kind<OfSeveralInputs>(*other, "the module of several tensors")(first, second, third);
  Arguments arguments{{first, second}, {}};
  if (third.defined()) arguments.positional.emplace_back(third);
  return (*this)(arguments).tensor("the output of " + name());
}

}  // namespace ocl::nn
