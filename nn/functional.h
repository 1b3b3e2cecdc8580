#pragma once

#include "autograd/autograd.h"

/** The functions of torch.nn.functional by their names: every operator of the library (autograd/ops). */
namespace ocl::nn::functional {

using namespace ocl;

}  // namespace ocl::nn::functional
