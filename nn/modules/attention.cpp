#include "nn/modules/attention.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

/** The addend of the scores: -inf where a bool mask is true. */
Tensor added(const char* what, const Tensor& mask, DType dtype) {
  require<TypeError>(mask.dtype() == DType::boolean || is_floating(mask.dtype()),
                     "MultiheadAttention: expected ", what, " of dtype bool or floating, got ",
                     dlprim::name(mask.dtype()));
  return to(mask.dtype() == DType::boolean ? where(mask, -INFINITY, 0.0) : mask, dtype);
}

/** The addend of the scores, [items, heads or 1, queries or 1, keys]; undefined for nothing. */
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

/** Keys or values [items, heads, rows, width] with those that the options add behind them: `learned` [1, 1,
 * heads * width], where it is defined, and zeros. */
Tensor with_added(const Tensor& rows, const Tensor& learned, bool zero) {
  const std::vector<std::int64_t> one_row{rows.size(0), rows.size(1), 1, rows.size(3)};
  TensorList parts{rows};
  if (learned.defined()) parts.push_back(expand(reshape(learned, {1, one_row[1], 1, one_row[3]}), one_row));
  if (zero) parts.push_back(zeros(one_row, rows.dtype(), rows.device()));
  return parts.size() == 1 ? rows : cat(parts, 2);
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& o) : Layer(o) {
  const std::int64_t embed_dim = o.embed_dim(), num_heads = o.num_heads();
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
  for (const auto& [own_name, member] : {std::pair("bias_k", &bias_k), std::pair("bias_v", &bias_v)})
    register_parameter(own_name, *member, o.add_bias_kv() ? made({1, 1, embed_dim}) : Tensor());
  out_proj =
      add<NonDynamicallyQuantizableLinear>("out_proj", LinearOptions(embed_dim, embed_dim).bias(o.bias()));
  initialize();
}

void MultiheadAttention::reset_parameters() {
  for (Tensor* weight : {&in_proj_weight, &q_proj_weight, &k_proj_weight, &v_proj_weight})
    if (weight->defined()) init::xavier_uniform_(*weight);
  for (Tensor* bias : {&bias_k, &bias_v})
    if (bias->defined()) init::xavier_normal_(*bias);
  if (!in_proj_bias.defined()) return;
  init::zeros_(in_proj_bias);
  init::zeros_(out_proj->bias);
}

std::vector<Tensor> MultiheadAttention::projections(const MultiheadAttentionOptions& o,
                                                    const std::array<Tensor, 3>& inputs) const {
  const Tensor packed = held(in_proj_weight), all_biases = held(in_proj_bias);
  const std::array<Tensor, 3> own_weights{held(q_proj_weight), held(k_proj_weight), held(v_proj_weight)};
  std::vector<std::int64_t> rows;  // of the weight, by groups of neighbours that one product projects
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (packed.defined() && i > 0 && is_same(inputs[i], inputs[i - 1])) {
      rows.back() += o.embed_dim();
    } else {
      rows.push_back(o.embed_dim());
      firsts.push_back(i);
    }
  }
  // The gradient of a split is one tensor, where those of slices would each be the whole, mostly of zeros.
  const auto parts = [&](const Tensor& whole) {
    if (!whole.defined()) return TensorList(rows.size());
    return rows.size() == 1 ? TensorList{whole} : split(whole, rows, 0);
  };
  const TensorList weights =
      packed.defined() ? parts(packed) : TensorList(own_weights.begin(), own_weights.end());
  const TensorList biases = parts(all_biases);
  TensorList results;
  for (std::size_t group = 0; group < rows.size(); ++group) {
    const Tensor& x = inputs[firsts[group]];
    const Tensor projected = linear(x.dim() == 3 ? x : unsqueeze(x, 1), weights[group], biases[group]);
    for (const Tensor& part : split(projected, o.embed_dim(), 2))
      results.push_back(
          reshape(part, {part.size(0), part.size(1), o.num_heads(), o.embed_dim() / o.num_heads()}));
  }
  return results;
}

AttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const Masks& masks, Weights weights) {
  const bool batched = query.dim() == 3;
  require((batched || query.dim() == 2) && key.dim() == query.dim() && value.dim() == query.dim(),
          "MultiheadAttention: expected query, key and value of 3 dimensions, or 2 without a batch, got ",
          query.dim(), ", ", key.dim(), " and ", value.dim());
  const MultiheadAttentionOptions own = options();
  const int item_dim = own.batch_first() && batched ? 0 : 1, row_dim = 1 - item_dim;
  std::vector<Tensor> heads = projections(own, {query, key, value});
  for (Tensor& each : heads) each = permute(each, {item_dim, 2, row_dim, 3});
  const Tensor& q = heads[0];
  const std::int64_t items = q.size(0), queries = q.size(2), keys = heads[1].size(2);
  const Tensor k = with_added(heads[1], held(bias_k), own.add_zero_attn());
  const Tensor v = with_added(heads[2], held(bias_v), own.add_zero_attn());
  AttentionOptions how;
  how.attn_mask = joined_mask(masks, own.num_heads(), items, queries, keys, q.dtype());
  if (how.attn_mask.defined() && k.size(2) > keys) how.attn_mask = pad(how.attn_mask, {0, k.size(2) - keys});
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

AttentionResult MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value) {
  if (is_handle()) return (**this)(query, key, value);
  const Value::Sequence results = (*this)(Arguments{{query, key, value}, {}}).sequence();
  dlprim::require<TypeError>(results.size() == 2, "expected two results of ", name(), ", got ",
                             results.size());
  return {results[0].tensor("the output of " + name()),
          results[1].tensor_or_none("the weights of " + name())};
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
