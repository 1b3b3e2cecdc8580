#pragma once

#include <vector>

#include "dlprim/ops/pointwise/table.h"

/**
 * \file Pointwise calls that wait for those behind them, so that several over the same elements become one
 * launch (chain.h):
 *
 *     mul(queue, x, s, y);  // y pends (runtime/pending.h)
 *     add(queue, y, b, z);  // z too: it is the next step
 *     gemm(queue, z, …);    // enqueues one kernel first, z = x * s + b; y is stored if somebody has it still
 *
 * The bits are those of separate launches. A chain is built when it is met often enough; until then its
 * calls are launched one by one, in their order.
 */

namespace dlprim {

/** How often a chain is launched call by call before it is built: a kernel takes as long to build as many
 * launches. */
constexpr std::size_t meetings_before_fusion = 16;

/** An expression and all that it is called with: tensors of the dtypes that it takes and gives, of one shape.
 */
struct PointwiseCall {
  const PointwiseExpression* expression;
  DType compute;
  std::vector<PointwiseOperand> inputs;
  std::vector<Scalar> parameters;
  std::vector<Tensor> outputs;
};

/** Has the call wait, and takes it. False, and nothing is changed, where it is to be launched at once: it is
 * no step of chains, or other libraries see its memory. */
bool put_off(Queue& queue, PointwiseCall& call);

/** Launches a call as it is. */
void launch_now(Queue& queue, const PointwiseCall& call);

}  // namespace dlprim
