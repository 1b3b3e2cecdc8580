#pragma once

#include "dlprim/core/tensor.h"

namespace dlprim {

class Queue;

/**
 * c (m, n) = a (m, k) b (k, n), all contiguous float32, by work groups of `rows` x `columns` items that share
 * local memory and meet at barriers. Some drivers of phones get such products of some shapes of work groups
 * wrong at random; this is to find them. Throws ValueError for other tensors, and for groups that the device
 * does not run.
 */
void group_probe(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c, int rows, int columns);

}  // namespace dlprim
