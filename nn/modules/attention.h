#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "autograd/ops/attention.h"
#include "nn/modules/linear.h"

namespace ocl::nn {

/** A Linear under the name that PyTorch prints for the output of MultiheadAttention. */
class NonDynamicallyQuantizableLinear : public Linear {
 public:
  using Linear::Linear;
  std::shared_ptr<Module> alike() const override {
    return std::make_shared<NonDynamicallyQuantizableLinear>(options());
  }
};

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions() = default;
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads) {}
  OPTION(std::int64_t, embed_dim) = 0;
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(double, dropout) = 0;
  OPTION(bool, bias) = true;
  OPTION(bool, add_bias_kv) = false;                         // one more key and value, which are learned
  OPTION(bool, add_zero_attn) = false;                       // one more key and value, which are zeros
  OPTION(std::optional<std::int64_t>, kdim) = std::nullopt;  // embed_dim by default
  OPTION(std::optional<std::int64_t>, vdim) = std::nullopt;
  OPTION(bool, batch_first) = false;
  OPTION_LIST(2, embed_dim_, num_heads_, dropout_, bias_, add_bias_kv_, add_zero_attn_, kdim_, vdim_,
              batch_first_)
};

/**
 * torch.nn.MultiheadAttention (Vaswani et al. 2017), with PyTorch's parameter names: in_proj_weight (or
 * q_proj_weight, k_proj_weight and v_proj_weight where kdim or vdim differ from embed_dim), in_proj_bias,
 * bias_k and bias_v, out_proj.
 */
class MultiheadAttention : public Layer<MultiheadAttention, MultiheadAttentionOptions> {
 public:
  HOLDER(MultiheadAttention, Layer)
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads)
      : MultiheadAttention(MultiheadAttentionOptions(embed_dim, num_heads)) {}

  struct Masks {
    Tensor key_padding_mask;  // [N, S] or [S]; bool (true: ignored) or added to the scores
    Tensor attn_mask;         // [L, S] or [N * num_heads, L, S], likewise
  };
  enum class Weights { none, per_head, averaged };

  /**
   * query [L, N, E], key [S, N, kdim], value [S, N, vdim] -> output [L, N, E]; N first with batch_first, or
   * no N at all. weights: [N, L, S], or [N, num_heads, L, S] per head; undefined for Weights::none. S counts
   * the keys that the options add, too, which no mask hides. Throws ValueError, TypeError.
   */
  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value, const Masks& masks,
                          Weights weights = Weights::averaged);
  /** Takes libtorch's arguments. Without `need_weights` the second tensor of the result is undefined. */
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true) {
    const Weights weights = !need_weights          ? Weights::none
                            : average_attn_weights ? Weights::averaged
                                                   : Weights::per_head;
    const AttentionResult result = forward(query, key, value, Masks{key_padding_mask, attn_mask}, weights);
    return {result.output, result.weights};
  }
  using Module::forward;
  using Module::operator();
  /** Calls the module without masks, its hooks included. */
  AttentionResult operator()(const Tensor& query, const Tensor& key, const Tensor& value);
  /** (query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal), as
   * torch's forward, -> (output, weights or nothing). */
  Value call(const Arguments& arguments) override;
  /** Glorot's for the projections and the learned key and value, zeros for the biases. */
  void reset_parameters();
  std::string extra_repr() const override { return ""; }

  Tensor in_proj_weight;                               // [3 E, E], or undefined
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // [E, E], [E, kdim], [E, vdim], or undefined
  Tensor in_proj_bias;                                 // [3 E], or undefined
  Tensor bias_k, bias_v;                               // [1, 1, E], or undefined
  Child<Linear> out_proj;

 private:
  /** The heads of query, key and value, [A, B, features], or [A, features] as B = 1: each [A, B, heads, E /
   * heads]. Neighbours that are the same tensor are projected by one product. */
  std::vector<Tensor> projections(const MultiheadAttentionOptions& options,
                                  const std::array<Tensor, 3>& inputs) const;
};

}  // namespace ocl::nn
