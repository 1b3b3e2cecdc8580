#include "nn/modules/attention.h"

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

/** What is added to the scores: -inf where a bool mask is true. */
Tensor added(const char* what, const Tensor& mask, DType dtype) {
  require<TypeError>(mask.dtype() == DType::boolean || is_floating(mask.dtype()),
                     "MultiheadAttention: expected ", what, " of dtype bool or floating, got ",
                     dlprim::name(mask.dtype()));
  return to(mask.dtype() == DType::boolean ? where(mask, -INFINITY, 0.0) : mask, dtype);
}

/** What is added to the scores, [items, heads or 1, queries or 1, keys]; undefined for nothing. */
Tensor joined_mask(const MultiheadAttention::Masks& masks, std::int64_t heads, std::int64_t items,
                   std::int64_t queries, std::int64_t keys, DType dtype) {
  Tensor result;
  if (masks.attn_mask.defined()) {
    const Tensor& mask = masks.attn_mask;
    const Dims per_head{items * heads, queries, keys}, shared{queries, keys};
    require(mask.shape() == shared || mask.shape() == per_head,
            "MultiheadAttention: expected attn_mask of shape ", shared, " or ", per_head, ", got ",
            mask.shape());
    result = added("attn_mask", mask, dtype);
    if (mask.dim() == 3) result = reshape(result, {items, heads, queries, keys});
  }
  if (masks.key_padding_mask.defined()) {
    const Tensor& mask = masks.key_padding_mask;
    const Dims expected{items, keys};
    require(mask.shape() == expected || (mask.shape() == Dims{keys} && items == 1),
            "MultiheadAttention: expected key_padding_mask of shape ", expected, ", got ", mask.shape());
    const Tensor padding = reshape(added("key_padding_mask", mask, dtype), {items, 1, 1, keys});
    result = result.defined() ? result + padding : padding;
  }
  return result;
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& o) : Layer(o) {
  const std::int64_t embed_dim = o.embed_dim(), num_heads = o.num_heads();
  require(!o.add_bias_kv() && !o.add_zero_attn(),
          "MultiheadAttention: add_bias_kv and add_zero_attn are not supported");
  require(embed_dim > 0 && num_heads > 0,
          "MultiheadAttention: embed_dim and num_heads must be greater than 0, got ", embed_dim, " and ",
          num_heads);
  require(embed_dim % num_heads == 0, "MultiheadAttention: embed_dim ", embed_dim,
          " must be divisible by num_heads ", num_heads);
  const std::int64_t kdim = o.kdim().value_or(embed_dim), vdim = o.vdim().value_or(embed_dim);
  change_options([&](auto& kept) { kept.kdim(kdim).vdim(vdim); });
  const bool packed = kdim == embed_dim && vdim == embed_dim;
  const auto weight = [&](const char* name, Tensor& member, bool wanted, std::int64_t rows,
                          std::int64_t columns) {
    register_parameter(name, member, wanted ? made({rows, columns}) : Tensor());
  };
  const std::int64_t all_projections = dlprim::product({3, embed_dim});
  weight("in_proj_weight", in_proj_weight, packed, all_projections, embed_dim);
  weight("q_proj_weight", q_proj_weight, !packed, embed_dim, embed_dim);
  weight("k_proj_weight", k_proj_weight, !packed, embed_dim, kdim);
  weight("v_proj_weight", v_proj_weight, !packed, embed_dim, vdim);
  register_parameter("in_proj_bias", in_proj_bias, o.bias() ? made({all_projections}) : Tensor());
  out_proj =
      add<NonDynamicallyQuantizableLinear>("out_proj", LinearOptions(embed_dim, embed_dim).bias(o.bias()));
  initialize();
}

void MultiheadAttention::reset_parameters() {
  for (Tensor* weight : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight})
    if (weight->defined()) init::xavier_uniform_(*weight);
  if (!in_proj_bias.defined()) return;
  init::zeros_(in_proj_bias);
  init::zeros_(out_proj->bias);
}

/** Query (part 0), key (1) or value (2), [A, B, features] -> [A, B, heads, E / heads]. */
Tensor MultiheadAttention::projected(const MultiheadAttentionOptions& o, const Tensor& x, int part,
                                     const Tensor& own_weight) const {
  const std::int64_t embed_dim = o.embed_dim(), first = part * embed_dim;
  const Tensor weight = own_weight.defined() ? own_weight : narrow(held(in_proj_weight), 0, first, embed_dim);
  const Tensor all_biases = held(in_proj_bias);
  const Tensor bias = all_biases.defined() ? narrow(all_biases, 0, first, embed_dim) : Tensor();
  return reshape(linear(x, weight, bias), {x.size(0), x.size(1), o.num_heads(), embed_dim / o.num_heads()});
}

AttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const Masks& masks, Weights weights) {
  const bool batched = query.dim() == 3;
  require((batched || query.dim() == 2) && key.dim() == query.dim() && value.dim() == query.dim(),
          "MultiheadAttention: expected query, key and value of 3 dimensions, or 2 without a batch, got ",
          query.dim(), ", ", key.dim(), " and ", value.dim());
  const MultiheadAttentionOptions own = options();
  const int item_dim = own.batch_first() && batched ? 0 : 1, row_dim = 1 - item_dim;
  const auto heads = [&](const Tensor& x, int part, const Tensor& own_weight) {
    return permute(projected(own, batched ? x : unsqueeze(x, 1), part, own_weight),
                   {item_dim, 2, row_dim, 3});
  };
  const Tensor q = heads(query, 0, held(q_proj_weight)), k = heads(key, 1, held(k_proj_weight)),
               v = heads(value, 2, held(v_proj_weight));
  const std::int64_t items = q.size(0), queries = q.size(2), keys = k.size(2);
  AttentionOptions how;
  how.attn_mask = joined_mask(masks, own.num_heads(), items, queries, keys, q.dtype());
  how.dropout_p = is_training() ? own.dropout() : 0;
  AttentionResult result;
  if (weights == Weights::none)
    result.output = scaled_dot_product_attention(q, k, v, how);
  else
    result = attention_with_weights(q, k, v, how);
  if (weights == Weights::averaged) result.weights = mean(result.weights, {1});
  const Tensor rows = permute(result.output, item_dim == 0 ? std::vector<std::int64_t>{0, 2, 1, 3}
                                                           : std::vector<std::int64_t>{2, 0, 1, 3});
  result.output = out_proj(reshape(rows, {rows.size(0), rows.size(1), own.embed_dim()}));
  if (!batched) {
    result.output = squeeze(result.output, 1);
    if (result.weights.defined()) result.weights = squeeze(result.weights, 0);
  }
  return result;
}

Value MultiheadAttention::call(const Arguments& arguments) {
  const Value::Sequence given =
      arguments.matched(name(), {"query", "key", "value", "key_padding_mask", "need_weights", "attn_mask",
                                 "average_attn_weights", "is_causal"});
  const std::string of = " of " + name();
  const Masks masks{given[3].tensor_or_none("the key_padding_mask" + of),
                    given[5].tensor_or_none("the attn_mask" + of)};
  require(!given[7].flag_or(false, "is_causal" + of) || masks.attn_mask.defined(), name(),
          ": need attn_mask if specifying the is_causal hint");
  const bool is_wanted = given[4].flag_or(true, "need_weights" + of);
  const bool is_averaged = given[6].flag_or(true, "average_attn_weights" + of);
  const AttentionResult result = forward(given[0].tensor("the query" + of), given[1].tensor("the key" + of),
                                         given[2].tensor("the value" + of), masks,
                                         !is_wanted    ? Weights::none
                                         : is_averaged ? Weights::averaged
                                                       : Weights::per_head);
  return Value::Sequence{result.output, result.weights};
}

}  // namespace ocl::nn
