#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dlprim/ops/attention/attention.h"
#include "dlprim/ops/attention/attention_shared.h"
#include "dlprim/runtime/implementation.h"

/** \file What the implementations of attention are given, and where they are (attention.cpp has the lists).
 */

namespace dlprim {

struct AttentionSizes {
  std::int64_t batch, queries, keys, columns, value_columns;

  std::int64_t scores() const { return batch * queries * keys; }
  std::int64_t operands() const { return (queries + keys) * (columns + value_columns); }
  /** The multiply-adds of the scores' and the results' products. */
  double multiply_adds() const { return static_cast<double>(scores() * (columns + value_columns)); }
};

/** Operands of a call, checked. */
struct Attention {
  const Tensor &query, &key, &value;
  const Tensor* mask;
  const AttentionSettings& settings;
  const Tensor* probabilities;
  AttentionSizes sizes;

  bool drops() const { return settings.dropout_p > 0; }
  Dims scores_shape() const { return {sizes.batch, sizes.queries, sizes.keys}; }
  /** `results`: which are wanted, a bit each. */
  ProblemKey key_of(int results) const {
    const int has_mask = !mask ? 0 : mask->dtype == DType::boolean ? 1 : 2;
    return ProblemKey(sizes.batch, sizes.queries, sizes.keys, sizes.columns, sizes.value_columns, has_mask,
                      settings.is_causal, drops(), query.dtype, settings.precision, results);
  }
};

struct AttentionForward {
  const Attention& attention;
  const Tensor& output;
  const Tensor* log_sums;

  double multiply_adds() const { return attention.sizes.multiply_adds(); }
  std::optional<ProblemKey> key() const {
    return attention.key_of((attention.probabilities ? 1 : 0) | (log_sums ? 2 : 0));
  }
};

struct AttentionBackward {
  const Attention& attention;
  const Tensor& grad_output;
  const Tensor* grad_weights;
  const Tensor *output, *log_sums;
  const AttentionGradients& gradients;

  /** Two products for each of the forward pass; scores that are made again do not count. */
  double multiply_adds() const { return 2 * attention.sizes.multiply_adds(); }
  std::optional<ProblemKey> key() const {
    const bool bits[] = {grad_weights != nullptr,  output != nullptr,
                         log_sums != nullptr,      gradients.query.defined(),
                         gradients.key.defined(),  gradients.value.defined(),
                         gradients.mask.defined(), attention.probabilities != nullptr};
    int results = 0;
    for (const bool bit : bits) results = 2 * results + (bit ? 1 : 0);
    return attention.key_of(results);
  }
};

/** The strides of [outer, inner, queries, keys]. */
MaskStrides attention_mask_strides(const Tensor* mask);

/** By products of matrices: of the whole one or of parts (attention_parts.cpp). */
std::array<Implementation<AttentionForward>, 2> attention_forward_by_products();
std::array<Implementation<AttentionBackward>, 2> attention_backward_by_products();

/** In one kernel, whose work groups keep their scores (attention_flash.cpp). */
std::array<Implementation<AttentionForward>, 4> attention_forward_flash();
std::array<Implementation<AttentionBackward>, 4> attention_backward_flash();
/** Whether one of them can, in both directions. */
bool has_attention_flash(const DeviceInfo& device, DType dtype, const AttentionSizes& sizes);

}  // namespace dlprim
