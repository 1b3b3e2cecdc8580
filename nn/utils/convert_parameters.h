#pragma once

#include "autograd/tensor/tensor.h"

/** All parameters as one vector, as torch.nn.utils. */
namespace ocl::nn::utils {

/** The elements of all, one parameter after the other; differentiable. */
Tensor parameters_to_vector(const TensorList& parameters);

/** Writes the elements of `vector` over the parameters, off the tape. Throws ValueError unless there are as
 * many.
 */
void vector_to_parameters(const Tensor& vector, const TensorList& parameters);

}  // namespace ocl::nn::utils
