#pragma once

#include "autograd/ops/conv.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/pool.h"
#include "autograd/ops/softmax.h"

/** The functions of torch.nn.functional, by their names; each is documented where it is declared. */
namespace ocl::nn::functional {

#define UNARY(name, ...) using ocl::name;
#define UNARY_P(name, ...) using ocl::name;
#define UNARY_PQ(name, ...) using ocl::name;
#define BINARY(...)
#define BINARY_P(...)
#define TERNARY(...)
#define TERNARY_P(...)
#include "dlprim/ops/pointwise/table.def"
#include "dlprim/ops/pointwise/undef.def"

using ocl::adaptive_avg_pool2d;
using ocl::avg_pool2d;
using ocl::batch_norm;
using ocl::conv2d;
using ocl::cross_entropy;
using ocl::dropout;
using ocl::l1_loss;
using ocl::linear;
using ocl::log_softmax;
using ocl::max_pool2d;
using ocl::mse_loss;
using ocl::nll_loss;
using ocl::softmax;

}  // namespace ocl::nn::functional
