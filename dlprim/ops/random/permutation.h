#pragma once

#include "dlprim/ops/random/random.h"

namespace dlprim {

/** The numbers from 0 to n - 1 in random order (torch.randperm), `out` [n], contiguous, of any dtype. They
 * are shuffled on the host (Fisher and Yates), number i by the 64 random bits of element i; the bias is below
 * n 2^-64. Throws ValueError. */
void random_permutation(Queue& queue, const Tensor& out, PhiloxState state);

/** Throws ValueError, naming `op`, for 2^32 numbers or more, and where the dtype does not hold every one. */
void require_permutation(const char* op, std::int64_t n, DType dtype);

/** One past the largest whole number up to which the dtype holds every one (int64: that number), where
 * torch.Tensor.random_ ends by default. */
std::int64_t whole_numbers_end(DType dtype);

}  // namespace dlprim
