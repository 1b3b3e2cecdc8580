#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** The finish of the sums of a product: alpha * sum + bias + beta * result. The bias [channels], or null,
 * is that of results [..., channels, plane]. */
struct ProductFinish {
  const Tensor* bias = nullptr;
  std::int64_t plane = 1;
  double alpha = 1, beta = 0;
};

/** On a GPU: joins the parts of products whose depth was split, partials [batches, parts, results of a
 * batch]. */
void join_products(Queue& queue, const Tensor& partials, const Tensor& result,
                   const ProductFinish& finish = {});

}  // namespace dlprim
