#include <ATen/ATen.h>
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

/** \file What nn.MultiheadAttention and nn.TransformerEncoderLayer call where nothing is trained: whole
 * layers, made here of the operators that training uses. PyTorch's own would take them to the CPU. */

namespace torch_ocl {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

/** The kind of mask that is [batch, keys] (nn.MultiheadAttention.merge_masks); others have queries too. */
constexpr std::int64_t padding_mask = 1;

/** For scores [batch, heads, queries, keys], to be added; a boolean one hides what is true. */
MaybeTensor added_mask(const MaybeTensor& mask, std::optional<std::int64_t> kind, const at::Tensor& query) {
  if (!mask || !mask->defined()) return std::nullopt;
  at::Tensor added = *mask;
  if (added.scalar_type() == at::kBool)
    added = at::zeros({}, query.options()).masked_fill(added, -std::numeric_limits<double>::infinity());
  if (kind == padding_mask) return added.view({added.size(0), 1, 1, added.size(1)}).to(query.scalar_type());
  if (added.dim() == 2) added = added.view({1, 1, added.size(0), added.size(1)});
  return added.to(query.scalar_type());
}

at::Tensor heads_of(const at::Tensor& projected, std::int64_t heads) {
  return projected.unflatten(-1, {heads, projected.size(-1) / heads}).transpose(1, 2);
}

/** The output, and the weights if wanted: [batch, heads, queries, keys], or their mean over the heads. */
std::tuple<at::Tensor, at::Tensor> multi_head_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, std::int64_t embed_dim,
    std::int64_t heads, const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
    const at::Tensor& proj_weight, const at::Tensor& proj_bias, const MaybeTensor& mask, bool need_weights,
    bool average_attn_weights, std::optional<std::int64_t> mask_type) {
  TORCH_CHECK(query.dim() == 3 && !query.is_nested(),
              "_native_multi_head_attention: expected 3-D query, got ", query.dim(), "-D tensor");
  TORCH_CHECK(heads > 0 && embed_dim % heads == 0, "_native_multi_head_attention: ", embed_dim,
              " columns cannot be divided among ", heads, " heads");
  const auto projected = [&](const at::Tensor& from, std::int64_t part) {
    return heads_of(at::linear(from, qkv_weight.narrow(0, part * embed_dim, embed_dim),
                               qkv_bias.narrow(0, part * embed_dim, embed_dim)),
                    heads);
  };
  at::Tensor q, k, v;
  if (query.is_same(key) && key.is_same(value)) {
    const auto parts = at::linear(query, qkv_weight, qkv_bias).chunk(3, -1);
    q = heads_of(parts[0], heads), k = heads_of(parts[1], heads), v = heads_of(parts[2], heads);
  } else {
    q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  }
  const MaybeTensor added = added_mask(mask, mask_type, q);
  at::Tensor weights, attended;
  if (need_weights) {
    weights = at::matmul(q * (1 / std::sqrt(static_cast<double>(q.size(3)))), k.transpose(2, 3));
    if (added) weights = weights + *added;
    weights = weights.softmax(-1);
    attended = at::matmul(weights, v);
    if (average_attn_weights) weights = weights.mean(1);
  } else {
    attended = at::scaled_dot_product_attention(q, k, v, added);
  }
  return {at::linear(attended.transpose(1, 2).flatten(2), proj_weight, proj_bias), weights};
}

at::Tensor encoder_layer(const at::Tensor& source, std::int64_t embed_dim, std::int64_t heads,
                         const at::Tensor& qkv_weight, const at::Tensor& qkv_bias,
                         const at::Tensor& proj_weight, const at::Tensor& proj_bias, bool use_gelu,
                         bool norm_first, double eps, const at::Tensor& norm_weight_1,
                         const at::Tensor& norm_bias_1, const at::Tensor& norm_weight_2,
                         const at::Tensor& norm_bias_2, const at::Tensor& ffn_weight_1,
                         const at::Tensor& ffn_bias_1, const at::Tensor& ffn_weight_2,
                         const at::Tensor& ffn_bias_2, const MaybeTensor& mask,
                         std::optional<std::int64_t> mask_type) {
  const auto attended = [&](const at::Tensor& x) {
    return std::get<0>(multi_head_attention(x, x, x, embed_dim, heads, qkv_weight, qkv_bias, proj_weight,
                                            proj_bias, mask, false, true, mask_type));
  };
  const auto fed_forward = [&](const at::Tensor& x) {
    const at::Tensor hidden = at::linear(x, ffn_weight_1, ffn_bias_1);
    return at::linear(use_gelu ? at::gelu(hidden) : at::relu(hidden), ffn_weight_2, ffn_bias_2);
  };
  const auto normed = [&](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return at::layer_norm(x, {embed_dim}, weight, bias, eps);
  };
  if (norm_first) {
    const at::Tensor x = source + attended(normed(source, norm_weight_1, norm_bias_1));
    return x + fed_forward(normed(x, norm_weight_2, norm_bias_2));
  }
  const at::Tensor x = normed(source + attended(source), norm_weight_1, norm_bias_1);
  return normed(x + fed_forward(x), norm_weight_2, norm_bias_2);
}

/** Never: there are no nested tensors on these devices, and nn.TransformerEncoder goes on with padded ones.
 */
bool can_be_nested(const at::Tensor& /*padded*/, const at::Tensor& /*mask*/) {
  return false;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_native_multi_head_attention", &multi_head_attention);
  m.impl("_transformer_encoder_layer_fwd", &encoder_layer);
  m.impl("_nested_tensor_from_mask_left_aligned", &can_be_nested);
}

}  // namespace
}  // namespace torch_ocl
