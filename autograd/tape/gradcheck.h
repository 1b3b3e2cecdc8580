#pragma once

#include <functional>

#include "autograd/tensor/tensor.h"

namespace ocl::autograd {

/**
 * Compares the gradients that the tape gives for `function` with central differences
 * (torch.autograd.gradcheck). Inputs that require gradients must be float64: the differences are only good in
 * that precision. Throws AutogradError that says where and by how much they differ; true otherwise.
 */
bool gradcheck(const std::function<Tensor(const TensorList&)>& function, const TensorList& inputs,
               double eps = 1e-6, double atol = 1e-5, double rtol = 1e-3);

}  // namespace ocl::autograd
