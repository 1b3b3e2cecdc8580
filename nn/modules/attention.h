#pragma once

#include <optional>

#include "autograd/ops/attention.h"
#include "nn/modules/linear.h"

namespace ocl::nn {

/** A Linear under the name that PyTorch prints for the output of MultiheadAttention. */
class NonDynamicallyQuantizableLinear : public Linear {
 public:
  using Linear::Linear;
  std::string name() const override { return "NonDynamicallyQuantizableLinear"; }
};

/**
 * torch.nn.MultiheadAttention (Vaswani et al. 2017), with PyTorch's parameter names: in_proj_weight (or
 * q_proj_weight, k_proj_weight and v_proj_weight where kdim or vdim differ from embed_dim), in_proj_bias,
 * out_proj. Not supported: add_bias_kv, add_zero_attn.
 */
class MultiheadAttention : public Module {
 public:
  struct Options {
    double dropout = 0;
    bool bias = true;
    std::optional<std::int64_t> kdim = std::nullopt, vdim = std::nullopt;  // embed_dim by default
    bool batch_first = false;
  };
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const Options& options);
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads)
      : MultiheadAttention(embed_dim, num_heads, Options()) {}

  struct Masks {
    Tensor key_padding_mask;  // [N, S] or [S]; bool (true: ignored) or added to the scores
    Tensor attn_mask;         // [L, S] or [N * num_heads, L, S], likewise
  };
  enum class Weights { none, per_head, averaged };

  /**
   * query [L, N, E], key [S, N, kdim], value [S, N, vdim] -> output [L, N, E]; N first with batch_first, or
   * no N at all. weights: [N, L, S], or [N, num_heads, L, S] per head; undefined for Weights::none. Throws
   * ValueError, TypeError.
   */
  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value, const Masks& masks,
                          Weights weights = Weights::averaged);
  using Module::forward;
  std::string name() const override { return "MultiheadAttention"; }

  Tensor in_proj_weight;                               // [3 E, E], or undefined
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // [E, E], [E, kdim], [E, vdim], or undefined
  Tensor in_proj_bias;                                 // [3 E], or undefined
  Child<Linear> out_proj;

 private:
  Tensor projected(const Tensor& x, int part, const Tensor& own_weight) const;
  Tensor mask_for(const Masks& masks, std::int64_t items, std::int64_t queries, std::int64_t keys,
                  DType dtype) const;

  std::int64_t embed_dim_, num_heads_;
  double dropout_;
  bool batch_first_;
};

}  // namespace ocl::nn
