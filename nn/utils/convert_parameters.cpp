#include "nn/utils/convert_parameters.h"

#include "autograd/autograd.h"

namespace ocl::nn::utils {

Tensor parameters_to_vector(const TensorList& parameters) {
  dlprim::require(!parameters.empty(), "parameters_to_vector: there are no parameters");
  TensorList parts;
  for (const Tensor& parameter : parameters) parts.push_back(parameter.reshape({-1}));
  return cat(parts, 0);
}

void vector_to_parameters(const Tensor& vector, const TensorList& parameters) {
  std::int64_t expected = 0;
  for (const Tensor& parameter : parameters) expected += parameter.numel();
  dlprim::require(vector.dim() == 1 && vector.numel() == expected,
                  "vector_to_parameters: expected a vector of ", expected, " elements, got shape ",
                  vector.sizes());
  const NoGradGuard no_grad;
  std::int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    Tensor(parameter).copy_(vector.narrow(0, begin, parameter.numel()).view(parameter.sizes().vector()));
    begin += parameter.numel();
  }
}

}  // namespace ocl::nn::utils
