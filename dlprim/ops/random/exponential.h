#pragma once

#include "dlprim/ops/random/random.h"

namespace dlprim {

/** Exponential with rate `lambd`, -log(1 - u) / lambd of random_uniform's u (torch.Tensor.exponential_); any
 * floating dtype, contiguous. Throws ValueError unless lambd > 0, TypeError. */
void random_exponential(Queue& queue, const Tensor& out, double lambd, PhiloxState state);

}  // namespace dlprim
