#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"
#include "dlprim/core/fields.h"

namespace ocl {

/** Arguments of attention beside its tensors, by torch's names and defaults. */
struct AttentionOptions {
  Tensor attn_mask;  // bool (true: takes part) or floating (added), broadcast to [..., L, S]
  double dropout_p = 0;
  bool is_causal = false;
  std::optional<double> scale;  // 1 / sqrt(E) by default
  bool enable_gqa = false;      // the heads (dimension -3) of key and value repeat to those of query
  FIELDS(attn_mask, dropout_p, is_causal, scale, enable_gqa)
};

#include "autograd/ops/declare.def"

#include "autograd/ops/attention.def"

#include "autograd/ops/declare_end.def"

struct AttentionResult {
  Tensor output;
  Tensor weights;  // [..., L, S] after dropout
};

/** scaled_dot_product_attention that also returns the weights, which are differentiable too. */
AttentionResult attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options = {});

}  // namespace ocl
